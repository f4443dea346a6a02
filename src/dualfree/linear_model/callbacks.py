"""Callbacks of a fit: any function of a history row, and early stopping on a validation score."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation, Look
from dualfree.problem import Problem
from dualfree.result import Row


class WatchedProblem(Problem):
    """A problem that remembers the last point it was evaluated at, so that a callback can score it."""

    seen: Floats

    def evaluate(self, w: ArrayLike, *arguments: Any, **options: Any) -> Evaluation:
        self.seen = np.asarray(w)
        return super().evaluate(w, *arguments, **options)

    def look(self, w: Floats, **options: Any) -> Look:
        found = super().look(w, **options)
        self.seen = found.w
        return found


class Fit:
    """The problem under way, handed to ``begin`` of callbacks that have it.

    Attributes
    ----------
    encode : callable
        Turns labels or targets into those of this problem: ±1 for a classifier, or the number of the class where all
        classes are one problem.
    classifier : bool
        Whether the targets are classes.
    """

    def __init__(
        self, problem: WatchedProblem, encode: Callable[[Any], Floats], classifier: bool, fit_intercept: bool
    ) -> None:
        self.encode, self.classifier = encode, classifier
        self._problem, self._fit_intercept = problem, fit_intercept

    @property
    def point(self) -> Floats:
        """w, with the intercept last if there is one, of the row that the callback was called with."""
        return self._problem.seen

    def margins(self, X: Any) -> Floats:
        """``Xw + b`` at that point, one column for each class where all classes are one problem."""
        w = self.point.reshape(self._problem.examples.w_shape)
        product = X @ w[: X.shape[1]]
        return np.asarray(product + w[-1] if self._fit_intercept else product)


class EarlyStopping:
    """Stops a fit when the score on a validation set has not improved for a while.

    One of an estimator's `callbacks`. With several classes or targets, each of the problems is stopped for itself. The
    fit keeps the point with the smallest gap up to the stop.

    Parameters
    ----------
    X, y : arrays
        The validation set, with labels or targets as for ``fit``.
    patience : int
        Evaluations without a better score before the stop.
    min_improvement : float
        What counts as better.
    score : callable, optional
        ``score(target, margins)``, larger is better; targets of a classifier are ±1, or class numbers for a softmax of
        several classes, whose margins have a column for each. By default the accuracy for
        classifiers and R² for regressors.

    Attributes
    ----------
    scores_ : list of list of float
        The scores of each problem, one for each evaluation.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from dualfree.linear_model import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> stop = EarlyStopping(X[400:], y[400:], patience=3)
    >>> model = LogisticRegression(C=100, tol=1e-12, callbacks=[stop]).fit(X[:400], y[:400])
    >>> len(stop.scores_[0]) < 50
    True
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        patience: int = 5,
        min_improvement: float = 1e-4,
        score: Callable[[Floats, Floats], float] | None = None,
    ) -> None:
        self.X = X if sparse.issparse(X) else np.asarray(X)
        self.y, self.patience, self.min_improvement, self.score = y, patience, min_improvement, score
        self.scores_: list[list[float]] = []

    def begin(self, fit: Fit) -> None:
        """Start to watch one problem of a fit."""
        self._fit, self._target = fit, fit.encode(self.y)
        self._score = self.score or (_accuracy if fit.classifier else _r2)
        self._best, self._since = -np.inf, 0
        self.scores_.append([])

    def __getstate__(self) -> dict[str, Any]:
        # A clone or a pickle of an estimator must not drag along the data of its last fit.
        return {name: value for name, value in self.__dict__.items() if name not in ("_fit", "_target")}

    def __call__(self, row: Row) -> bool:
        score = float(self._score(self._target, self._fit.margins(self.X)))
        self.scores_[-1].append(score)
        if score > self._best + self.min_improvement:
            self._best, self._since = score, 0
        else:
            self._since += 1
        return self._since >= self.patience


def joined(callbacks: Sequence[Callable[[Row], Any]] | None, fit: Fit) -> Callable[[Row], bool] | None:
    """All callbacks as one; each is called with each row, and one that says stop is enough."""
    if not callbacks:
        return None
    for callback in callbacks:
        if hasattr(callback, "begin"):
            callback.begin(fit)

    def call_each(row: Row) -> bool:
        answers = [bool(callback(row)) for callback in callbacks]
        return any(answers)

    return call_each


def _accuracy(target: Floats, margins: Floats) -> float:
    if margins.ndim == 2:
        return float(np.mean(margins.argmax(axis=1) == target))
    return float(np.mean((margins > 0) == (target > 0)))


def _r2(target: Floats, margins: Floats) -> float:
    spread = float(((target - target.mean()) ** 2).sum())
    return 1 - float(((target - margins) ** 2).sum()) / spread if spread else 0.0
