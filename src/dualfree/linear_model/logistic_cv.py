"""Logistic regression with C chosen by cross-validation, along a path of warm starts."""

from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfree.arrays import Floats
from dualfree.linear_model.conclusion import conclude
from dualfree.linear_model.data import example_weights
from dualfree.linear_model.drop_in import check_parameters, constraints
from dualfree.linear_model.logistic import LogisticClassifier
from dualfree.linear_model.path import CrossValidated, Data, strengths
from dualfree.linear_model.tasks import with_callbacks


class LogisticRegressionCV(LogisticClassifier, CrossValidated):
    """Logistic regression with the best C of a grid, by cross-validation: scikit-learn's, certified.

    Each fold is fitted from the smallest C to the largest, each fit starting from the α of the one before. A fold is
    the whole of X with weight zero for the examples held out, so no part of X is copied to train.

    Parameters
    ----------
    Cs : int or array
        The grid, or the number of values between 1e-4 and 1e4 on a logarithmic scale.
    fit_intercept, class_weight, tol, max_iter, random_state, solver, sampling, step, n_threads
        As in `LogisticRegression`.
    cv : int, splitter, iterable or None
        As in scikit-learn; 5 stratified folds by default.
    scoring : str, callable or None
        As in scikit-learn; the accuracy by default.
    n_jobs : int, optional
        Folds at a time, in threads.
    verbose : int
        1 shows a bar with one step for each fold and C.
    refit : bool
        Fit anew on all data with the best C; otherwise the coefficients are the mean of the folds'.
    l1_ratios, penalty, dual, intercept_scaling, multi_class, use_legacy_attributes
        scikit-learn's, accepted where they leave the minimiser as it is; see `LogisticRegression`.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    Cs_ : array
        The grid, increasing.
    C_ : float
        The best of it; of equal ones the smallest.
    best_score_, best_index_ : float, int
        Its mean score, and its place in `Cs_`.
    scores_ : array of shape (folds, grid)
        The score of each fold on what it held out.
    coefs_paths_ : array of shape (folds, grid, 1 or classes, d + 1)
        The coefficients of each, with the intercept last.
    n_iter_, certificate_, history_
        Of the last fit on all data, as in `LogisticRegression`; without `refit` only `n_iter_`, the mean of the folds'.

    Notes
    -----
    Ctrl-C leaves the mean of the folds fitted so far with the C that was best among them, and raises.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=[0.01, 0.1, 1], cv=3, tol=1e-4).fit(scale(X), y)
    >>> model.scores_.shape, model.C_ in model.Cs_
    ((3, 3), True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LogisticClassifier._parameter_constraints,
        "Cs": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "cv": ["cv_object"],
        "refit": ["boolean"],
        **constraints("l1_ratios", "penalty", "dual", "intercept_scaling", "n_jobs"),
        **constraints("use_legacy_attributes"),
    }
    _default_scoring = "accuracy"
    _classifies = True

    _from_disk = False

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = None,
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: str = "l2",
        scoring: Any = None,
        tol: float = 1e-6,
        max_iter: int | None = 1000,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        multi_class: str = "auto",
        random_state: Any = None,
        use_legacy_attributes: bool | str = False,
        solver: str = "auto",
        sampling: Any = None,
        step: Any = None,
        n_threads: int | None = 1,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.multi_class = multi_class
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes
        self.solver = solver
        self.sampling = sampling
        self.step = step
        self.n_threads = n_threads

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose C and fit the model; see `LogisticRegression.fit`."""
        check_parameters(self)
        self.Cs_ = np.logspace(-4, 4, int(self.Cs)) if isinstance(self.Cs, Integral) else strengths("Cs", self.Cs)
        X, y = self._training_data(X, y)
        own = example_weights(sample_weight, X)
        data = Data(X, y, self._weights(y, own), own, partial(self._fitted, dtype=X.dtype))
        results, interrupted = self._cross_validate(data, 1 / (self.Cs_ * len(y)), single=True)
        self.C_ = float(self.Cs_[self.best_index_])
        conclude(self, results, interrupted)
        return self

    def _lams(self, n: int, count: int) -> Floats:
        return np.ones(count)  # the path puts its own in their place

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score by `scoring` on X and y."""
        return self._scored(self, X, y, sample_weight)

    def to_sklearn(self) -> Any:
        """A fitted scikit-learn LogisticRegression with C = `C_`."""
        check_is_fitted(self)
        return self._fitted_sklearn(self.C_)
