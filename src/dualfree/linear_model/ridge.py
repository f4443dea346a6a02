"""Ridge regression, for one target or several."""

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import linear_model
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from dualfree.arrays import Floats
from dualfree.linear_model.base import POSITIVE, LinearEstimator, Part, split_intercept
from dualfree.linear_model.data import example_weights, training_data
from dualfree.losses import Squared
from dualfree.result import Result


class LinearRegressor(RegressorMixin, LinearEstimator):
    """A regressor that predicts ``Xw + b``."""

    def predict(self, X: Any) -> NDArray[Any]:
        """``Xw + b``."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        predicted: NDArray[Any] = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return predicted

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
    fit_intercept, random_state, max_iter, warm_start, verbose, solver, sampling, step, callbacks
        As in `LogisticRegression`.

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
        "alpha": [POSITIVE, "array-like"],
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        random_state: Any = None,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int = 0,
        solver: str = "auto",
        sampling: Any = None,
        step: Any = None,
        callbacks: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose
        self.solver = solver
        self.sampling = sampling
        self.step = step
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, CSR matrix or frame of shape (n, d)
            Examples: float32 or float64 are not copied.
        y : array of shape (n,) or (n, targets)
            Targets.
        sample_weight : array of length n, optional
            A weight of k is k copies and 0 is absence. Negative weights need ``fit_intercept=False`` and an average
            loss that stays convex.

        Returns
        -------
        self
            Also after Ctrl-C, which leaves the best model up to then and raises KeyboardInterrupt.
        """
        self._validate_params()
        X, y = training_data(self, X, y, multi_output=True, y_numeric=True)
        weight = example_weights(sample_weight, X)
        columns = y.reshape(len(y), -1)
        alphas = self._alphas(columns.shape[1])
        parts = [
            Part(Squared(columns[:, k], weight), alpha / len(y), partial(column, k)) for k, alpha in enumerate(alphas)
        ]
        results = self._solve(X, parts)
        self._set(results, X.dtype, single=y.ndim == 1)
        self._conclude(results)
        return self

    def _alphas(self, targets: int) -> Floats:
        alphas = np.asarray(self.alpha, dtype=np.float64).ravel()
        if len(alphas) not in (1, targets):
            raise ValueError(f"alpha has {len(alphas)} entries and y has {targets} targets; they must be equal.")
        if not (np.isfinite(alphas) & (alphas > 0)).all():
            raise ValueError(f"alpha is {self.alpha!r}; every alpha must be a finite number above 0.")
        return np.broadcast_to(alphas, (targets,))

    def _set(self, results: list[Result], dtype: Any, single: bool) -> None:
        coefficients, intercepts = split_intercept(results, self.n_features_in_, dtype)
        self.coef_ = coefficients[0] if single else coefficients
        self.intercept_ = (intercepts[0] if single else intercepts) if self.fit_intercept else 0.0
        self._keep(results, single)

    def to_sklearn(self) -> Any:
        """The equivalent fitted scikit-learn Ridge."""
        check_is_fitted(self)
        return self._hand_over(linear_model.Ridge(self.alpha, fit_intercept=self.fit_intercept))


def column(k: int, y: Any) -> Floats:
    """Column k of a target of two dimensions, or all of a vector."""
    return np.asarray(y, dtype=np.float64).reshape(len(y), -1)[:, k]
