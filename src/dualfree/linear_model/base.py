"""What all estimators share: their parameters, how they solve, and what a fit leaves behind."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from dualfree.arrays import Floats
from dualfree.linear_model.callbacks import Fit, WatchedProblem, joined
from dualfree.linear_model.data import require_convex_average, require_penalised
from dualfree.losses.base import Loss
from dualfree.result import Result, Status
from dualfree.samplings import Sampling
from dualfree.solve import solve

_EVALUATION_NONZEROS = 200_000  # work below which an evaluation costs more than the epochs before it

POSITIVE = Interval(Real, 0, None, closed="neither")


class Part(NamedTuple):
    """One of the problems of a fit: a class against the rest, or one target."""

    loss: Loss
    lam: float
    encode: Callable[[Any], Floats]


class LinearEstimator(BaseEstimator):
    """Base of the estimators: a fit is one or several problems, each solved to `tol`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "tol": [POSITIVE],
        "fit_intercept": ["boolean"],
        "random_state": ["random_state"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "sampling": [str, Sampling, None],
        "step": [str, Interval(Real, 0, 1, closed="right"), None],
        "callbacks": [list, tuple, None],
        "solver": [StrOptions({"auto", "dfsdca", "newton"})],
    }

    _shows_epochs = True  # whether `verbose` means a bar of epochs for each problem

    def _solve(self, X: Any, parts: Sequence[Part], starts: Sequence[Result | None] | None = None) -> list[Result]:
        """Solve all parts in turn. After Ctrl-C the rest stay where they start, so that a usable model remains."""
        starts = self._warm_starts(X.shape[0], len(parts)) if starts is None else starts
        results: list[Result] = []
        for part, start in zip(parts, starts, strict=True):
            stop = bool(results) and results[-1].status == Status.INTERRUPTED
            result = self._solve_part(X, part, start, stop)
            results.append(_interrupted(result) if stop else result)
        return results

    def _solve_part(self, X: Any, part: Part, start: Result | None, stop: bool = False) -> Result:
        require_penalised(part.loss, self.fit_intercept)
        problem = WatchedProblem(X, part.loss, part.lam, intercept=self.fit_intercept)
        require_convex_average(problem)
        fit = Fit(problem, part.encode, is_classifier(self), self.fit_intercept)
        callback = (lambda row: True) if stop else joined(self.callbacks, fit)
        work = float(problem.examples.nonzeros.sum()) + problem.n
        every = max(1.0, math.floor(_EVALUATION_NONZEROS / work))
        return solve(
            problem,
            method=self.solver,
            sampling=self.sampling,
            step=self.step,
            tol=self.tol,
            max_epochs=self.max_iter,
            evaluate_every=1.0 if self.callbacks or self.solver == "newton" else every,
            warm_start=start,
            callback=callback,
            progress=self._shows_epochs and bool(self.verbose),
            seed=self._seed(),
        )

    def _seed(self) -> int:
        """None is a fixed seed: without a wish for randomness, the same data give the same answer."""
        if self.random_state is None or isinstance(self.random_state, Integral):
            return int(self.random_state or 0)
        return int(check_random_state(self.random_state).randint(2**31))

    def _warm_starts(self, n: int, parts: int) -> list[Result | None]:
        """The results of the last fit where they fit these data: α has one entry for each example."""
        results: list[Result] = getattr(self, "_results", []) if self.warm_start else []
        if len(results) == parts and all(len(result.alpha) == n for result in results):
            return list(results)
        return [None] * parts

    def _keep(self, results: list[Result], single: bool) -> None:
        """The attributes of every fitted estimator; `_results` only where the next fit starts from it."""
        self.certificate_ = results[0].certificate if single else [result.certificate for result in results]
        self.history_ = results[0].history if single else [result.history for result in results]
        # The evaluation of the start is a pass over the data too, so a fit that needs no step counts as one epoch.
        self.n_iter_: Any = np.array([max(1, math.ceil(result.epochs)) for result in results], dtype=np.int32)
        if self.warm_start:
            self._results = results

    def _conclude(self, results: list[Result]) -> None:
        """Say how it ended: a warning where `tol` was not reached, and KeyboardInterrupt after Ctrl-C."""
        if any(result.status == Status.INTERRUPTED for result in results):
            raise KeyboardInterrupt
        worst = max(results, key=lambda result: (_unfinished(result), result.certificate.relative_gap))
        if _unfinished(worst):
            warnings.warn(self._advice(worst), ConvergenceWarning, stacklevel=3)

    def _advice(self, result: Result) -> str:
        name, gap = type(self).__name__, result.certificate.relative_gap
        if result.status == Status.DIVERGED:
            return f"{name} diverged after {result.epochs:.0f} epochs; take a smaller step, such as step='theorem-2'."
        return (
            f"{name} reached a certified relative gap of {gap:.2g} in {result.epochs:.0f} epochs, but tol={self.tol:g} "
            "was asked: raise max_iter, scale the features to comparable sizes, regularise more, or raise tol."
        )


def split_intercept(results: list[Result], d: int, dtype: Any) -> tuple[Any, Any]:
    """Coefficients, one row for each result, and intercepts (zero where there is none), in the type of X."""
    W = np.array([result.w for result in results])
    intercept = W[:, d] if W.shape[1] > d else np.zeros(len(W))
    return W[:, :d].astype(dtype), intercept.astype(dtype)


def _unfinished(result: Result) -> bool:
    return result.status not in (Status.CONVERGED, Status.STOPPED)


def _interrupted(result: Result) -> Result:
    return replace(result, status=Status.INTERRUPTED)
