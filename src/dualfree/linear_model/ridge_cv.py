"""Ridge regression with alpha chosen by cross-validation, along a path of warm starts."""

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import linear_model
from sklearn.base import MultiOutputMixin
from sklearn.utils.validation import check_is_fitted

from dualfree.arrays import Floats
from dualfree.linear_model.base import POSITIVE, Part
from dualfree.linear_model.conclusion import conclude
from dualfree.linear_model.data import example_weights, training_data
from dualfree.linear_model.drop_in import check_parameters, constraints
from dualfree.linear_model.path import CrossValidated, Data, strengths
from dualfree.linear_model.ridge import LinearRegressor, squared_parts
from dualfree.linear_model.tasks import with_callbacks


class RidgeCV(MultiOutputMixin, LinearRegressor, CrossValidated):
    """Ridge regression with the best alpha of a grid, by cross-validation: certified, in folds.

    Each fold is fitted from the largest alpha to the smallest, each fit starting from the dual variables of the one
    before. A fold is the whole of X with weight zero for the examples held out, so no part of X is copied to train.

    Parameters
    ----------
    alphas : array
        Strengths of the penalty, above 0.
    cv : int, splitter, iterable or None
        As in scikit-learn's `cross_val_score`; 5 folds by default. (None is leave-one-out in scikit-learn's `RidgeCV`.)
    scoring : str, callable or None
        As in scikit-learn; R² by default, as in scikit-learn's where it has folds.
    n_jobs : int, optional
        Folds at a time, in threads.
    verbose : int
        1 shows a bar with one step for each fold and alpha.
    fit_intercept, tol, max_iter, random_state, solver, sampling, step, n_threads
        As in `Ridge`.
    gcv_mode, store_cv_results, alpha_per_target
        Of scikit-learn's leave-one-out. `gcv_mode` is accepted and has no effect; the others are refused if True.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn, of a fit on all data with the best alpha.
    alpha_ : float
        The best alpha; of equal ones the largest.
    best_score_, best_index_ : float, int
        Its mean score over the folds, and its place in `alphas_`.
    alphas_ : array
        The grid, decreasing.
    scores_ : array of shape (folds, grid)
        The score of each fold on what it held out.
    coefs_paths_ : array of shape (folds, grid, targets, d + 1)
        The coefficients of each, with the intercept last.
    n_iter_, certificate_, history_
        Of the fit on all data, as in `Ridge`.

    Notes
    -----
    Ctrl-C leaves the mean of the folds fitted so far with the alpha that was best among them, and raises.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RidgeCV(alphas=[0.01, 0.1, 1.0]).fit(X, y)
    >>> model.alpha_, model.scores_.shape
    (0.01, (5, 3))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearRegressor._parameter_constraints,
        "alphas": [POSITIVE, "array-like"],
        "cv": ["cv_object"],
        **constraints("n_jobs", "gcv_mode", "store_cv_results", "alpha_per_target"),
    }
    refit = True
    _default_scoring = "r2"
    _classifies = False

    _from_disk = False

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        tol: float = 1e-6,
        max_iter: int | None = 1000,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
        solver: str = "auto",
        sampling: Any = None,
        step: Any = None,
        n_threads: int | None = 1,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.solver = solver
        self.sampling = sampling
        self.step = step
        self.n_threads = n_threads

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose alpha and fit the model; see `Ridge.fit`."""
        check_parameters(self)
        self.alphas_ = strengths("alphas", self.alphas)[::-1]
        X, y = training_data(self, X, y, multi_output=True, y_numeric=True)
        weight = example_weights(sample_weight, X)
        single = y.ndim == 1
        data = Data(X, y, weight, weight, partial(self._fitted, dtype=X.dtype, single=single))
        results, interrupted = self._cross_validate(data, self.alphas_ / len(y), single)
        self.alpha_ = float(self.alphas_[self.best_index_])
        conclude(self, results, interrupted)
        return self

    def _parts(self, y: Any, weight: Floats | None) -> list[Part]:
        return squared_parts(y, weight, np.ones(y.size // len(y)))

    def to_sklearn(self) -> Any:
        """A fitted scikit-learn Ridge with alpha = `alpha_`."""
        check_is_fitted(self)
        return self._hand_over(linear_model.Ridge(self.alpha_, fit_intercept=self.fit_intercept))
