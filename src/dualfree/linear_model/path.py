"""Many penalties in one go: each fit starts from the α of the one before, alone or within cross-validation."""

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from threading import Event
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from dualfree.arrays import Floats, Indices
from dualfree.linear_model.base import Fitted, LinearEstimator, Part
from dualfree.linear_model.folds import FoldPath, progress_of, run_folds
from dualfree.linear_model.tasks import Task, fit_task, weights_as_metadata
from dualfree.result import Result, Status

_MOST_GROWTH = 3.0  # of w from one λ to the next, before a step is made


def strengths(name: str, values: Any) -> Floats:
    """The values in increasing order; all must be above 0."""
    grid: Floats = np.sort(np.asarray(values, dtype=np.float64).ravel())
    if not (len(grid) and np.isfinite(grid).all() and grid[0] > 0):
        raise ValueError(f"{name} is {values!r:.60}; it must hold finite numbers above 0.")
    return grid


def along(
    estimator: LinearEstimator,
    X: Any,
    parts: Sequence[Part],
    lams: Floats,
    fitted: Fitted,
    task: Task,
    halt: Event,
) -> Iterator[list[Result]]:
    """Solve the parts for each λ in turn, from the largest, each from the α of the last; Ctrl-C ends it."""
    results: list[Result] = []
    previous = lams[0]
    for lam in lams:
        if halt.is_set():
            return
        # w = (1/λn) Σ A_i α_i grows as λ falls, and a w that is far too large is a worse start than none.
        kept = min(1.0, _MOST_GROWTH * lam / previous)
        starts = [replace(result, alpha=result.alpha * kept) for result in results] or None
        with task.begin("penalty", len(parts)) as one:
            results = estimator._solve(X, [part._replace(lam=lam) for part in parts], fitted, one, starts, halt)
        previous = lam
        if results[-1].status == Status.INTERRUPTED:
            halt.set()
        yield results


class Data(NamedTuple):
    """What the folds share: the data, their weights with and without those of classes, and the maker of attributes."""

    X: Any
    y: Any
    weight: Floats | None
    own: Floats | None
    fitted: Fitted


class CrossValidated(LinearEstimator):
    """An estimator that chooses its penalty: a fold is all of X with weight zero for the examples held out."""

    warm_start = False
    callbacks = None
    _shows_epochs = False
    _default_scoring: ClassVar[str]
    _classifies: ClassVar[bool]

    @abstractmethod
    def _parts(self, y: Any, weight: Floats | None) -> list[Part]:
        """The problems of a fit, with any λ."""

    def _cross_validate(self, data: Data, lams: Floats, single: bool) -> tuple[list[Result], bool]:
        """Score every λ and fit with the best; the results of all solves, and whether there was a Ctrl-C."""
        folds = list(check_cv(self.cv, data.y, classifier=self._classifies).split(data.X, data.y))
        task = fit_task(self, data.X, data.y, data.own, len(folds) + 1, numbered=True)
        halt = Event()
        with progress_of(bool(self.verbose), "folds × penalties", len(folds) * len(lams)) as advance:
            paths = run_folds(
                lambda k: self._path(data, lams, k, folds[k], task, advance, halt), len(folds), self.n_jobs, halt
            )
        self.scores_ = np.array([path.scores for path in paths])
        self.coefs_paths_ = np.array([path.coefficients for path in paths])
        results = [result for path in paths for result in path.results]
        if not results:
            raise KeyboardInterrupt
        self._choose()
        if self.refit and not halt.is_set():
            parts = [part._replace(lam=lams[self.best_index_]) for part in self._parts(data.y, data.weight)]
            with task.begin("refit", len(parts), len(folds)) as refit:
                final = self._solve(data.X, parts, data.fitted, refit)
            self._keep(final, data.fitted, single)
            results += final
        else:
            self._keep_mean(data.fitted, results)
        task.end({})
        return results, halt.is_set()

    def _path(
        self,
        data: Data,
        lams: Floats,
        k: int,
        fold: tuple[Indices, Indices],
        task: Task,
        advance: Callable[[], None],
        halt: Event,
    ) -> FoldPath:
        """Fit one fold for all λ, and score each, with the examples' own weights, on what it holds out."""
        train, test = fold
        weight = np.zeros(len(data.y))
        weight[train] = 1.0 if data.weight is None else data.weight[train]
        parts = self._parts(data.y, weight)
        path = FoldPath(len(lams), sum(part.loss.outputs or 1 for part in parts), data.X.shape[1])
        held_out = (data.X[test], data.y[test], None if data.own is None else data.own[test])
        try:
            with task.begin("fold", len(lams), k, metadata=weights_as_metadata(weight)) as one:
                for i, results in enumerate(along(self, data.X, parts, lams, data.fitted, one, halt)):
                    path.add(i, results, self._score(data.fitted, results, *held_out))
                    advance()
        except KeyboardInterrupt:
            halt.set()
        return path

    def _score(self, fitted: Fitted, results: list[Result], X: Any, y: Any, weight: Floats | None) -> float:
        model = copy.copy(self)
        model.__dict__.pop("feature_names_in_", None)  # X has lost its names when it was checked
        for name, value in fitted([result.w for result in results]).items():
            setattr(model, name, value)
        return self._scored(model, X, y, weight)

    def _scored(self, model: Any, X: Any, y: Any, weight: Any) -> float:
        wanted = None if self.scoring == "warn" else self.scoring
        scorer = check_scoring(model, scoring=wanted or self._default_scoring)
        return float(scorer(model, X, y) if weight is None else scorer(model, X, y, sample_weight=weight))

    def _choose(self) -> None:
        """The best λ by the mean of the folds that have it; of equal ones the strongest."""
        done = ~np.isnan(self.scores_)
        counted = np.where(done, self.scores_, 0.0).sum(axis=0) / np.maximum(done.sum(axis=0), 1)
        means = np.where(done.any(axis=0), counted, -np.inf)
        self.best_index_ = int(np.argmax(means))
        self.best_score_ = float(means[self.best_index_])

    def _keep_mean(self, fitted: Fitted, results: list[Result]) -> None:
        """The mean of the folds' models with the best λ, in place of a fit on all data."""
        mean = np.nanmean(self.coefs_paths_[:, self.best_index_], axis=0)
        for name, value in fitted(mean).items():
            setattr(self, name, value)
        self.n_iter_ = np.array([max(1, round(np.mean([result.epochs for result in results])))], dtype=np.int32)
