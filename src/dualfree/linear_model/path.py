"""Logistic regression with C chosen by cross-validation, along a path of warm starts."""

from collections.abc import Callable
from numbers import Integral
from threading import Event
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfree.arrays import Floats, Indices
from dualfree.linear_model.base import split_intercept
from dualfree.linear_model.data import classes_of, example_weights, training_data
from dualfree.linear_model.folds import FoldPath, grid_of, progress_of
from dualfree.linear_model.logistic import LogisticClassifier, LogisticRegression
from dualfree.result import Result, Status


class LogisticRegressionCV(LogisticClassifier):
    """Logistic regression with the best C of a grid, by cross-validation: scikit-learn's, certified.

    Each fold is fitted from the smallest C to the largest, each fit starting from the α of the one before. A fold is
    the whole of X with weight zero for the examples held out, so no part of X is copied to train.

    Parameters
    ----------
    Cs : int or array
        The grid, or the number of values between 1e-4 and 1e4 on a logarithmic scale.
    fit_intercept, class_weight, tol, max_iter, random_state, solver, sampling, step
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

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    Cs_ : array
        The grid, increasing.
    C_ : float
        The best of it; of equal ones the smallest.
    scores_ : array of shape (folds, grid)
        The score of each fold on what it held out.
    coefs_paths_ : array of shape (folds, grid, problems, d + 1)
        The coefficients of each, with the intercept last.
    n_iter_, certificate_, history_
        Of the last fit on all data, as in `LogisticRegression`; without `refit` only `n_iter_`, the mean of the folds'.

    Notes
    -----
    Ctrl-C leaves the mean of the folds fitted so far with the C that was best among them, and raises (when folds run
    in threads of their own, it raises and leaves nothing).

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
        "n_jobs": [Integral, None],
        "refit": ["boolean"],
    }
    warm_start = False
    callbacks = None
    _shows_epochs = False

    def __init__(
        self,
        *,
        Cs: Any = 10,
        fit_intercept: bool = True,
        cv: Any = None,
        scoring: Any = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        random_state: Any = None,
        solver: str = "auto",
        sampling: Any = None,
        step: Any = None,
    ) -> None:
        self.Cs = Cs
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.scoring = scoring
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.random_state = random_state
        self.solver = solver
        self.sampling = sampling
        self.step = step

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose C and fit the model; see `LogisticRegression.fit`."""
        self._validate_params()
        self.Cs_ = grid_of(self.Cs)
        X, y = training_data(self, X, y)
        self.classes_ = classes_of(y)
        own = example_weights(sample_weight, X)
        weight = self._weights(y, own)
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y))
        stop = Event()
        with progress_of(bool(self.verbose), len(folds) * len(self.Cs_)) as advance:
            paths = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(self._path)(X, y, weight, own, fold, advance, stop) for fold in folds
            )
        self.scores_ = np.array([path.scores for path in paths])
        self.coefs_paths_ = np.array([path.coefficients for path in paths])
        self._choose(X, y, weight, [result for path in paths for result in path.results])
        return self

    def _choose(self, X: Any, y: Any, weight: Floats | None, results: list[Result]) -> None:
        """The best C, and the model for it."""
        done = ~np.isnan(self.scores_).all(axis=0)
        best = int(np.argmax(np.where(done, np.nanmean(np.where(done, self.scores_, 0.0), axis=0), -np.inf)))
        self.C_ = float(self.Cs_[best])
        if self.refit and not any(result.status == Status.INTERRUPTED for result in results):
            final = self._solve(X, self._parts(y, weight, 1 / (self.C_ * len(y))))
            self._set(final, X.dtype)
            results = results + final
        else:
            mean = np.nanmean(self.coefs_paths_[:, best], axis=0).astype(X.dtype)
            self.coef_, self.intercept_ = mean[:, :-1], mean[:, -1]
            self.n_iter_ = np.array([max(1, round(np.mean([result.epochs for result in results])))], dtype=np.int32)
        self._conclude(results)

    def _path(
        self,
        X: Any,
        y: Any,
        weight: Floats | None,
        own: Floats | None,
        fold: tuple[Indices, Indices],
        advance: Callable[[], None],
        stop: Event,
    ) -> FoldPath:
        """Fit one fold for all C in turn, and score each, with the examples' own weights, on what it holds out."""
        train, test = fold
        train_weight = np.zeros(len(y))
        train_weight[train] = 1.0 if weight is None else weight[train]
        parts = self._parts(y, train_weight, 1.0)
        path = FoldPath(len(self.Cs_), len(parts), X.shape[1])
        held_out = (X[test], y[test], None if own is None else own[test])
        results: list[Result] | None = None
        for k, C in enumerate(self.Cs_):
            if stop.is_set():
                break
            results = self._solve(X, [part._replace(lam=1 / (C * len(y))) for part in parts], results)
            path.add(k, results, self._score(results, *held_out))
            advance()
            if results[-1].status == Status.INTERRUPTED:
                stop.set()
        return path

    def _score(self, results: list[Result], X: Any, y: Any, weight: Floats | None) -> float:
        model = LogisticRegression()
        model.classes_, model.n_features_in_ = self.classes_, self.n_features_in_
        model.coef_, model.intercept_ = split_intercept(results, X.shape[1], X.dtype)
        scorer = check_scoring(model, scoring=self.scoring or "accuracy")
        return float(scorer(model, X, y) if weight is None else scorer(model, X, y, sample_weight=weight))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score by `scoring` on X and y."""
        scorer = check_scoring(self, scoring=self.scoring or "accuracy")
        return float(scorer(self, X, y) if sample_weight is None else scorer(self, X, y, sample_weight=sample_weight))

    def to_sklearn(self) -> Any:
        """A fitted scikit-learn LogisticRegression with C = `C_`; for more than two classes a OneVsRestClassifier."""
        check_is_fitted(self)
        return self._fitted_sklearn(self.C_)
