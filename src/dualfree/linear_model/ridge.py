"""Ridge regression, for one target or several."""

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn import linear_model
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from dualfree.arrays import Floats
from dualfree.linear_model.base import CHECKPOINTS, POSITIVE, LinearEstimator, Part, split_intercept
from dualfree.linear_model.conclusion import conclude
from dualfree.linear_model.data import example_weights, training_data
from dualfree.linear_model.drop_in import check_parameters, constraints
from dualfree.linear_model.on_cluster import by_chunks, fit_ridge, is_dask
from dualfree.linear_model.on_store import scores
from dualfree.linear_model.tasks import fit_task, with_callbacks
from dualfree.losses import Squared
from dualfree.store import Store


class LinearRegressor(RegressorMixin, LinearEstimator):
    """A regressor that predicts ``Xw + b``."""

    def predict(self, X: Any) -> NDArray[Any]:
        """``Xw + b``; for Dask's data a Dask array, for a store in the order of its targets ``store.y``."""
        check_is_fitted(self)
        if isinstance(X, Store):
            return scores(self, X)
        if is_dask(X):
            return cast(NDArray[Any], by_chunks(self, "predict", X, np.float64))
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        predicted: NDArray[Any] = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return predicted

    def _fitted(self, points: Sequence[Floats], dtype: Any, single: bool) -> dict[str, Any]:
        coefficients, intercepts = split_intercept(points, self.n_features_in_, dtype)
        if single:
            coefficients, intercepts = coefficients[0], intercepts[0]
        return {"coef_": coefficients, "intercept_": intercepts if self.fit_intercept else 0.0}

    def _hand_over(self, target: Any) -> Any:
        """`target`, a scikit-learn regressor, with this one's fitted attributes."""
        for name in ("coef_", "intercept_", "scale_", "n_features_in_", "feature_names_in_", "n_iter_"):
            if hasattr(self, name):
                setattr(target, name, getattr(self, name))
        return target

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Ridge(MultiOutputMixin, LinearRegressor):
    """Least squares with an L2 penalty: scikit-learn's, certified.

    Minimises ``Σ s_i (x_iᵀw + b − y_i)² + alpha ‖w‖²`` over w and b, for each target.

    Parameters
    ----------
    alpha : float, or array with one for each target
        Strength of the penalty, above 0.
    tol : float
        The certified relative gap: the fit ends when the objective is proven to be within ``tol`` times its value of
        the smallest possible.
    fit_intercept, random_state, max_iter, warm_start, verbose, solver, sampling, step, n_threads, callbacks
        As in `LogisticRegression`.
    checkpoint, checkpoint_every, resume
        As in `LogisticRegression`.
    copy_X, positive
        scikit-learn's: X is never changed, whatever `copy_X` says, and ``positive=True`` is refused.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    n_iter_ : array of int
        Epochs, for each target.
    certificate_ : Certificate, or list of them for a y of two dimensions
        What is proven of the fit: ``certificate_.gap`` bounds the distance of the objective, divided by 2n, from its
        minimum.
    history_ : History, or list of them
        The evaluations of the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = Ridge(alpha=0.5).fit(X, y)
    >>> model.coef_.shape, bool(model.certificate_.relative_gap <= 1e-6)
    ((10,), True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearRegressor._parameter_constraints,
        **CHECKPOINTS,
        "alpha": [POSITIVE, "array-like"],
        **constraints("copy_X", "positive"),
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        positive: bool = False,
        random_state: Any = None,
        max_iter: int | None = 1000,
        warm_start: bool = False,
        verbose: int = 0,
        solver: str = "auto",
        sampling: Any = None,
        step: Any = None,
        n_threads: int | None = 1,
        callbacks: Any = None,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.positive = positive
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose
        self.solver = solver
        self.sampling = sampling
        self.step = step
        self.n_threads = n_threads
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.resume = resume

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, CSR matrix or frame of shape (n, d), or Store
            Examples: float32 or float64 are not copied. A store larger than its memory limit stays on the disk. Chunks
            of a Dask array or dataframe stay where they are, and the fit runs on its cluster; y, one target, and
            sample_weight are then chunked alike.
        y : array of shape (n,) or (n, targets)
            Targets.
        sample_weight : array of length n, optional
            A weight of k is k copies and 0 is absence. Negative weights need an average loss that stays convex, and
            with an intercept a positive sum of all weights.

        Returns
        -------
        self
            Also after Ctrl-C, which leaves the best model up to then and raises KeyboardInterrupt.
        """
        check_parameters(self)
        if is_dask(X):
            return cast(Self, fit_ridge(self, X, y, sample_weight))
        X, y = training_data(self, X, y, multi_output=True, y_numeric=True)
        weight = example_weights(sample_weight, X)
        parts = squared_parts(y, weight, penalties(self.alpha, y.size // len(y), "targets"))
        fitted = partial(self._fitted, dtype=X.dtype, single=y.ndim == 1)
        task = fit_task(self, X, y, weight, len(parts))
        results = self._solve(X, parts, fitted, task)
        self._keep(results, fitted, single=y.ndim == 1)
        task.end({})
        conclude(self, results)
        return self

    def to_sklearn(self) -> Any:
        """The equivalent fitted scikit-learn Ridge."""
        check_is_fitted(self)
        return self._hand_over(linear_model.Ridge(self.alpha, fit_intercept=self.fit_intercept))


def squared_parts(y: Any, weight: Floats | None, alphas: Floats) -> list[Part]:
    """One problem for each target, with its alpha."""
    columns = y.reshape(len(y), -1)
    return [Part(Squared(columns[:, k], weight), alpha / len(y), partial(column, k)) for k, alpha in enumerate(alphas)]


def penalties(alpha: Any, count: int, of: str) -> Floats:
    """`alpha` for each of the problems: one for all, or as many as there are."""
    alphas = np.asarray(alpha, dtype=np.float64).ravel()
    if len(alphas) not in (1, count):
        raise ValueError(f"alpha has {len(alphas)} entries and y has {count} {of}; they must be equal.")
    if not (np.isfinite(alphas) & (alphas > 0)).all():
        raise ValueError(f"alpha is {alpha!r}; every alpha must be a finite number above 0.")
    return np.broadcast_to(alphas, (count,))


def column(k: int, y: Any) -> Floats:
    """Column k of a target of two dimensions, or all of a vector."""
    return np.asarray(y, dtype=np.float64).reshape(len(y), -1)[:, k]
