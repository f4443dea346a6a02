"""``method="auto"``: dfSDCA first, and Newton's method where what is seen says that it will end sooner."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dualfree.losses.builtin import BuiltIn
from dualfree.methods.newton import MOST_FEATURES
from dualfree.problem import Problem
from dualfree.result import History, Result, Row, Status

_NEWTON_ITERATIONS = 8  # typical from a point that dfSDCA has brought near
_PRODUCTS_A_VISIT = 6.0  # multiplications of a Hessian that take as long as one nonzero in dfSDCA
_LOOK_AFTER = 4.0  # epochs before a rate can be read off the history


@dataclass
class Switch:
    """A callback that asks to stop when the epochs still to come would cost more than Newton's method.

    Examples
    --------
    >>> switch = Switch(newton_epochs=40.0, tol=1e-6, absolute_tol=0.0)
    >>> [switch(Row(float(k), k, 0.0, 1.0, 0.99**k, 1.0)) for k in (0, 3, 6)]
    [False, False, True]
    >>> print(switch.reason)
    dfSDCA would need about 1369 more epochs, Newton's method the time of 40
    """

    newton_epochs: float
    tol: float
    absolute_tol: float
    reason: str = ""
    _first: Row | None = None

    def __call__(self, row: Row) -> bool:
        """Whether to stop dfSDCA here."""
        if self._first is None and row.epoch >= 1:
            self._first = row
        if self._first is None or row.epoch < _LOOK_AFTER or not math.isfinite(row.gap):
            return False
        goal = max(self.tol * abs(row.value), self.absolute_tol)
        passed, fallen = row.epoch - self._first.epoch, math.log(max(self._first.gap, 1e-300) / max(row.gap, 1e-300))
        needed = math.log(max(row.gap, 1e-300) / goal) if goal > 0 else math.inf
        left = needed * passed / fallen if fallen > 0 else math.inf
        if left <= self.newton_epochs:
            return False
        more = f"about {left:.0f} more epochs" if math.isfinite(left) else "for ever"
        self.reason = f"dfSDCA would need {more}, Newton's method the time of {self.newton_epochs:.0f}"
        return True


def newton_epochs(problem: Problem) -> float:
    """What Newton's method would cost, in epochs of dfSDCA; infinite where it cannot be used."""
    if problem.d > MOST_FEATURES or not isinstance(problem.loss, BuiltIn) or not problem.loss.all_convex:
        return math.inf
    visits = problem.examples.nonzeros + float(problem.intercept)
    products = float(visits @ visits) + problem.d**3 / 3
    return _NEWTON_ITERATIONS * (1 + products / (_PRODUCTS_A_VISIT * max(1.0, float(visits.sum()))))


def solve_automatically(
    solve: Callable[..., Result],
    problem: Problem,
    callback: Callable[[Row], Any] | None,
    limits: dict[str, Any],
    options: dict[str, Any],
) -> Result:
    """Run dfSDCA until it converges or `Switch` says that Newton's method is the better way, then that one."""
    begun = time.perf_counter()
    switch = Switch(newton_epochs(problem), limits["tol"], limits["absolute_tol"])

    def watch(row: Row) -> bool:
        return (bool(callback(row)) if callback is not None else False) or switch(row)

    first = solve(problem, method="dfsdca", callback=watch, **limits, **options)
    if not switch.reason:
        return replace(first, method="auto: dfsdca")
    if limits["time_limit"] is not None:
        limits = limits | {"time_limit": max(limits["time_limit"] - (time.perf_counter() - begun), 1e-3)}
    limits = limits | {"max_epochs": max(limits["max_epochs"] - first.epochs, 1.0), "evaluate_every": 1.0}
    kept = {name: options[name] for name in ("progress", "seed")}
    second = solve(problem, method="newton", warm_start=first, callback=callback, **limits, **kept)
    return _joined(first, second, switch.reason)


def _joined(first: Result, second: Result, reason: str) -> Result:
    """One result of two runs: the second's answer, the history and the costs of both."""
    later = [
        replace(
            row,
            epoch=row.epoch + first.epochs,
            iteration=row.iteration + first.iterations,
            seconds=row.seconds + first.seconds,
        )
        for row in second.history.rows[1:]
    ]
    better = second if second.certificate.gap <= first.certificate.gap else first
    return replace(
        second,
        w=better.w,
        alpha=better.alpha,
        certificate=better.certificate,
        history=History([*first.history.rows, *later]),
        method="auto: dfsdca, then newton",
        message=f"{second.message} ({reason}.)" if second.status is not Status.DIVERGED else second.message,
        epochs=first.epochs + second.epochs,
        iterations=first.iterations + second.iterations,
        seconds=first.seconds + second.seconds,
        wall_seconds=first.wall_seconds + second.wall_seconds,
        sampling=first.sampling,
        step=first.step,
        theta=first.theta,
        bound=first.bound,
    )
