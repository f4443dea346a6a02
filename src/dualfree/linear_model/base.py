"""What all estimators share: their parameters, how they solve, and what a fit leaves behind."""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from threading import Event
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from dualfree.arrays import Floats
from dualfree.linear_model.callbacks import Fit, WatchedProblem, joined
from dualfree.linear_model.data import require_best_intercept, require_convex_average
from dualfree.linear_model.drop_in import constraints, method_of
from dualfree.linear_model.tasks import CallbackSupportMixin, Task
from dualfree.losses.base import Loss
from dualfree.regularisers import L2L1
from dualfree.result import Result, Row, Status
from dualfree.samplings import Sampling
from dualfree.solve import solve

_EVALUATION_NONZEROS = 200_000  # work below which an evaluation costs more than the epochs before it

_MAX_EPOCHS = 1000  # what max_iter=None means

POSITIVE = Interval(Real, 0, None, closed="neither")

CHECKPOINTS: dict[str, list[Any]] = {  # of the estimators that have them
    "checkpoint": [str, os.PathLike, None],
    "checkpoint_every": [POSITIVE],
    "resume": ["boolean"],
}

Fitted = Callable[[Sequence[Floats]], dict[str, Any]]  # from the w of each problem to attributes such as coef_


class Part(NamedTuple):
    """One of the problems of a fit: a class against the rest, or one target."""

    loss: Loss
    lam: float
    encode: Callable[[Any], Floats]
    mu: float = 0.0


class LinearEstimator(CallbackSupportMixin, BaseEstimator):
    """Base of the estimators: a fit is one or several problems, each solved to `tol`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "tol": [POSITIVE],
        "fit_intercept": ["boolean"],
        "random_state": ["random_state"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "sampling": [str, Sampling, None],
        "step": [str, Interval(Real, 0, 1, closed="right"), None],
        "n_threads": [Interval(Integral, 1, None, closed="left"), None],
        "callbacks": [list, tuple, None],
        **constraints("solver"),
    }

    _shows_epochs = True  # whether `verbose` means a bar of epochs for each problem
    _on_cluster = True  # whether a fit may run where Dask's data are
    _from_disk = True  # whether rows of a store larger than memory may stay on the disk
    _as_given = True  # whether its problems have the rows of X as they are: these then say which one is not finite

    def _solve(
        self,
        X: Any,
        parts: Sequence[Part],
        fitted: Fitted,
        task: Task,
        starts: Sequence[Result | None] | None = None,
        halt: Event | None = None,
    ) -> list[Result]:
        """Solve all parts in turn. After Ctrl-C the rest stay where they start, so that a usable model remains.

        `fitted` is for callbacks that look at the model under way; `halt` is Ctrl-C for a thread that cannot hear it.
        """
        starts = self._warm_starts(X.shape[0], len(parts)) if starts is None else starts
        width = X.shape[1] + self.fit_intercept
        points = [
            np.zeros(width * (part.loss.outputs or 1)) if start is None else start.w
            for part, start in zip(parts, starts, strict=True)
        ]
        results: list[Result] = []
        for k, (part, start) in enumerate(zip(parts, starts, strict=True)):
            stop = bool(results) and results[-1].status == Status.INTERRUPTED
            with task.begin("problem") as problem:
                watchers: list[Any] = problem.evaluations(_with_others(fitted, points, k))
                watchers += [] if halt is None else [_interrupt_on(halt)]
                result = self._solve_part(X, part, start, watchers, stop, k if len(parts) > 1 else None)
            points[k] = result.w
            results.append(_interrupted(result) if stop else result)
        return results

    def _solve_part(
        self,
        X: Any,
        part: Part,
        start: Result | None,
        watchers: Sequence[Any] = (),
        stop: bool = False,
        number: int | None = None,
    ) -> Result:
        require_best_intercept(part.loss, self.fit_intercept)
        penalty = L2L1(part.mu) if part.mu else None
        problem = WatchedProblem(
            X, part.loss, part.lam, intercept=self.fit_intercept, regulariser=penalty, n_threads=self.n_threads
        )
        require_convex_average(problem)
        fit = Fit(problem, part.encode, is_classifier(self), self.fit_intercept)
        method = method_of(self.solver)
        full_pass = method in ("newton", "lbfgs")  # to which an evaluation costs nothing
        work = float(problem.examples.stored) + problem.n
        watched = self.callbacks or getattr(self, "_skl_callbacks", None)
        seldom = max(1.0, math.floor(_EVALUATION_NONZEROS / work))
        return solve(
            problem,
            method=method,
            sampling=self.sampling,
            step=self.step,
            tol=self.tol,
            max_epochs=self.max_iter or _MAX_EPOCHS,
            evaluate_every=1.0 if watched or full_pass else None if method.startswith("auto") else seldom,
            n_threads=self.n_threads,
            warm_start=start,
            callback=(lambda row: True) if stop else joined([*(self.callbacks or ()), *watchers], fit),
            progress=self._shows_epochs and bool(self.verbose),
            **self._checkpoint(number),
            seed=self._seed(),
        )

    def _checkpoint(self, number: int | None) -> dict[str, Any]:
        """What `solve` takes for checkpoints; of several problems each has a file of its own, with its number."""
        path = getattr(self, "checkpoint", None)
        if path is not None:
            path = os.fspath(path) if number is None else f"{os.fspath(path)}.{number}"
        every, resume = getattr(self, "checkpoint_every", 60.0), getattr(self, "resume", False)
        return {"checkpoint": path, "checkpoint_every": every, "resume": resume}

    def _outputs(self, y: Any) -> int:
        """Outputs that each example has in the problems of a fit."""
        return 1

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

    def _keep(self, results: list[Result], fitted: Fitted, single: bool) -> None:
        """The attributes of every fitted estimator; `_results` only where the next fit starts from it."""
        for name, value in fitted([result.w for result in results]).items():
            setattr(self, name, value)
        self.certificate_ = results[0].certificate if single else [result.certificate for result in results]
        self.history_ = results[0].history if single else [result.history for result in results]
        # The evaluation of the start is a pass over the data too, so a fit that needs no step counts as one epoch.
        self.n_iter_: Any = np.array([max(1, math.ceil(result.epochs)) for result in results], dtype=np.int32)
        if self.warm_start:
            self._results = results


def split_intercept(points: Sequence[Floats], d: int, dtype: Any) -> tuple[Any, Any]:
    """Coefficients, one row for each w (or for each of its columns), and intercepts (zero where there is none)."""
    W = np.vstack([np.atleast_2d(np.asarray(point).T) for point in points])
    intercept = W[:, d] if W.shape[1] > d else np.zeros(len(W))
    return W[:, :d].astype(dtype), intercept.astype(dtype)


def _with_others(fitted: Fitted, points: Sequence[Floats], k: int) -> Callable[[Floats], dict[str, Any]]:
    """The attributes for a w of problem k, with the other problems where they are."""
    return lambda w: fitted([*points[:k], w, *points[k + 1 :]])


def _interrupt_on(halt: Event) -> Callable[[Row], None]:
    def look(row: Row) -> None:
        if halt.is_set():
            raise KeyboardInterrupt

    return look


def _interrupted(result: Result) -> Result:
    return replace(result, status=Status.INTERRUPTED)
