"""Least squares with an L1 and an L2 penalty."""

from functools import partial
from typing import Any, ClassVar, Self

from scipy import sparse
from sklearn import linear_model
from sklearn.base import MultiOutputMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfree.arrays import Floats
from dualfree.linear_model.base import CHECKPOINTS, POSITIVE
from dualfree.linear_model.conclusion import conclude
from dualfree.linear_model.data import example_weights, training_data
from dualfree.linear_model.drop_in import check_parameters, constraints
from dualfree.linear_model.mixing import REFUSALS
from dualfree.linear_model.ridge import LinearRegressor, penalties, squared_parts
from dualfree.linear_model.tasks import fit_task, with_callbacks


class ElasticNet(MultiOutputMixin, LinearRegressor):
    """Least squares with a penalty that makes coefficients exactly zero: scikit-learn's, certified.

    Minimises ``Σ s_i (x_iᵀw + b − y_i)²/(2 Σ s_i) + alpha · l1_ratio ‖w‖₁ + alpha (1 − l1_ratio) ‖w‖²/2`` over w and b,
    for each target; s are the weights of the examples.

    Parameters
    ----------
    alpha : float
        Strength of the penalty, above 0.
    l1_ratio : float
        Its L1 part, from 0 to below 1. 1, the lasso, is refused: without a squared norm there is no certified minimum.
        The closer to 1, the more epochs.
    tol : float
        The certified relative gap: the fit ends when the objective is proven to be within ``tol`` times its value of
        the smallest possible.
    fit_intercept, random_state, max_iter, warm_start, verbose, solver, sampling, step, n_threads, callbacks
        As in `LogisticRegression`; the method is dfSDCA in its proximal form.
    checkpoint, checkpoint_every, resume
        As in `LogisticRegression`.
    precompute, copy_X, selection, positive
        scikit-learn's: the first three have no effect, and ``positive=True`` is refused.

    Attributes
    ----------
    coef_, sparse_coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn.
    n_iter_ : array of int
        Epochs, for each target.
    certificate_ : Certificate, or list of them for a y of two dimensions
        What is proven of the fit: ``certificate_.gap`` bounds the distance of the objective from its minimum.
    history_ : History, or list of them
        The evaluations of the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNet(alpha=5.0, l1_ratio=0.9).fit(scale(X), y)
    >>> int((model.coef_ == 0).sum()), bool(model.certificate_.relative_gap <= 1e-6)
    (3, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearRegressor._parameter_constraints,
        "alpha": [POSITIVE],
        "precompute": ["boolean", "array-like"],
        "selection": [StrOptions({"cyclic", "random"})],
        **constraints("l1_ratio", "copy_X", "positive"),
        **CHECKPOINTS,
    }
    _own_refusals = REFUSALS

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int | None = 1000,
        copy_X: bool = True,
        tol: float = 1e-6,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
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
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
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
            Examples: float32 or float64 are not copied. A store larger than its memory limit stays on the disk.
        y : array of shape (n,) or (n, targets)
            Targets.
        sample_weight : array of length n, optional
            At least 0; only their ratios count, as in scikit-learn.

        Returns
        -------
        self
            Also after Ctrl-C, which leaves the best model up to then and raises KeyboardInterrupt.
        """
        check_parameters(self)
        X, y = training_data(self, X, y, multi_output=True, y_numeric=True)
        weight = _mean_one(example_weights(sample_weight, X))
        strength = penalties(self.alpha * len(y), y.size // len(y), "targets")
        parts = [
            part._replace(lam=(1 - self.l1_ratio) * part.lam, mu=self.l1_ratio * part.lam)
            for part in squared_parts(y, weight, strength)
        ]
        fitted = partial(self._fitted, dtype=X.dtype, single=y.ndim == 1)
        task = fit_task(self, X, y, weight, len(parts))
        results = self._solve(X, parts, fitted, task)
        self._keep(results, fitted, single=y.ndim == 1)
        task.end({})
        conclude(self, results)
        return self

    @property
    def sparse_coef_(self) -> Any:
        """`coef_` as a sparse array."""
        return sparse.csr_array(self.coef_.reshape(-1, self.coef_.shape[-1]))

    def to_sklearn(self) -> Any:
        """The equivalent fitted scikit-learn ElasticNet."""
        check_is_fitted(self)
        model = linear_model.ElasticNet(self.alpha, l1_ratio=self.l1_ratio, fit_intercept=self.fit_intercept)
        return self._hand_over(model)


def _mean_one(weight: Floats | None) -> Floats | None:
    if weight is None:
        return None
    if (weight < 0).any():
        raise ValueError(
            "sample_weight has negative entries; ElasticNet divides by their sum and needs them at least 0."
        )
    scaled: Floats = weight * (len(weight) / weight.sum())
    return scaled
