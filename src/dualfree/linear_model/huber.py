"""Huber regression with its scale estimated along."""

from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import linear_model
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from dualfree.linear_model.base import POSITIVE
from dualfree.linear_model.conclusion import conclude
from dualfree.linear_model.data import example_weights, training_data
from dualfree.linear_model.drop_in import check_parameters
from dualfree.linear_model.ridge import LinearRegressor
from dualfree.linear_model.scale import ScaleProfile
from dualfree.linear_model.tasks import fit_task, with_callbacks


class HuberRegressor(LinearRegressor):
    """Linear regression that is robust to outliers in y: scikit-learn's, certified.

    Minimises ``Σ s_i (σ + H((x_iᵀw + b − y_i)/σ) σ) + alpha ‖w‖²`` over w, b and the scale σ, with ``H(u) = u²`` for
    ``|u| < epsilon`` and ``2 epsilon |u| − epsilon²`` beyond.

    Parameters
    ----------
    epsilon : float
        Residuals beyond ``epsilon · σ`` count as outliers; at least 1.
    alpha : float
        Strength of the penalty, above 0. The default is scikit-learn's, and so small that more than 500 features need
        many epochs.
    tol : float
        The certified relative gap, in the objective over w and b at the scale found; the scale itself is found to a
        relative ``sqrt(tol)/10``, which changes the objective by less than `tol`.
    max_iter : int
        Epochs for each scale that is tried, about ten.
    fit_intercept, random_state, warm_start, verbose, solver, sampling, step, n_threads, callbacks
        As in `LogisticRegression`.

    Attributes
    ----------
    coef_, intercept_, scale_, outliers_, n_features_in_, feature_names_in_
        As in scikit-learn.
    n_iter_ : int
        Epochs over all scales tried.
    certificate_, history_
        Of the problem in w and b at the last scale.

    Notes
    -----
    The objective is convex in (w, b, σ). For one σ it is ``2/σ`` times a Huber loss of width ``epsilon · σ``; the
    derivative of the minimum with respect to σ is ``Σ s_i (1 − min(u_i², epsilon²))``, which increases, and its root is
    bracketed and found by Brent's method with warm starts. The scale is kept above 1e-6 of the spread of y.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=200)
    >>> y[:10] += 100
    >>> HuberRegressor().fit(X, y).coef_.round(1).tolist()
    [1.0, 2.0, 3.0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearRegressor._parameter_constraints,
        "epsilon": [Interval(Real, 1, None, closed="left")],
        "alpha": [POSITIVE],
    }

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int | None = 1000,
        alpha: float = 0.0001,
        warm_start: bool = False,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        random_state: Any = None,
        verbose: int = 0,
        solver: str = "auto",
        sampling: Any = None,
        step: Any = None,
        n_threads: int | None = 1,
        callbacks: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.warm_start = warm_start
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.solver = solver
        self.sampling = sampling
        self.step = step
        self.n_threads = n_threads
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, CSR matrix or frame of shape (n, d), or Store
            Examples: float32 or float64 are not copied. A store larger than its memory limit stays on the disk.
        y : array of length n
            Targets.
        sample_weight : array of length n, optional
            At least 0. A weight of k is k copies and 0 is absence.

        Returns
        -------
        self
            Also after Ctrl-C, which leaves the best model up to then and raises KeyboardInterrupt.
        """
        check_parameters(self)
        X, y = training_data(self, X, y, y_numeric=True)
        weight = example_weights(sample_weight, X)
        if weight is not None and (weight < 0).any():
            raise ValueError("sample_weight has negative entries; the scale of HuberRegressor needs them at least 0.")
        fitted = partial(self._fitted, dtype=X.dtype, single=True)
        task = fit_task(self, X, y, weight, None)
        profile = ScaleProfile(self, X, y.astype(np.float64), weight, fitted, task)
        interrupted = False
        try:
            profile.minimise()
        except KeyboardInterrupt:
            interrupted = True
            if profile.result is None:
                raise
        assert profile.result is not None
        self._keep([profile.result], fitted, single=True)
        self.scale_, self.n_iter_ = profile.sigma, max(1, round(profile.epochs))
        self.outliers_ = np.abs(profile.residuals()) > self.epsilon * profile.sigma
        task.end({})
        conclude(self, [profile.result], interrupted)
        return self

    def to_sklearn(self) -> Any:
        """The equivalent fitted scikit-learn HuberRegressor."""
        check_is_fitted(self)
        fitted = linear_model.HuberRegressor(epsilon=self.epsilon, alpha=self.alpha, fit_intercept=self.fit_intercept)
        fitted.outliers_ = self.outliers_
        return self._hand_over(fitted)
