"""``method="auto"``: the method that will end soonest, by the problem's shape, and another where that proves wrong."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dualfree.costs import TITLES, Costs, estimate
from dualfree.methods.copies import CopiesPlan, plan_copies
from dualfree.problem import Problem
from dualfree.result import History, Result, Row, because
from dualfree.samplings import Restless
from dualfree.store.examples import Stored

AUTOMATIC = ("auto", "auto-copies")
_LOOK_AFTER = 4.0  # epochs before a rate can be read off the history
_COPIES_PAY = 1.2  # times as fast, by estimate: below, it is not worth an answer that depends on the number of threads


@dataclass
class Switch:
    """A callback that asks to stop dfSDCA when the epochs still to come would cost more than another method.

    Examples
    --------
    >>> switch = Switch("newton", 40.0, tol=1e-6, absolute_tol=0.0)
    >>> [switch(Row(float(k), k, 0.0, 1.0, 0.99**k, 1.0)) for k in (0, 3, 6)]
    [False, False, True]
    >>> print(switch.reason)
    dfSDCA would need about 1369 more epochs, Newton's method the time of 40
    """

    other: str
    other_epochs: float
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
        if passed == 0:
            return False
        needed = math.log(max(row.gap, 1e-300) / goal) if goal > 0 else math.inf
        left = needed * passed / fallen if fallen > 0 else math.inf
        if left <= self.other_epochs:
            return False
        more = f"about {left:.0f} more epochs" if math.isfinite(left) else "for ever"
        self.reason = f"dfSDCA would need {more}, {TITLES[self.other]} the time of {self.other_epochs:.2g}"
        return True


def solve_automatically(
    solve_by: Callable[..., Result],
    problem: Problem,
    callback: Callable[[Row], Any] | None,
    options: dict[str, Any],
    costs: Costs | None = None,
    copies: bool = False,
) -> Result:
    """Run the method with the least estimated cost; from dfSDCA turn to another if `Switch` says so.

    With `copies`, dfSDCA has copies of w for several threads where these pay.
    """
    costs = costs or estimate(problem, options["tol"])
    if options["progress"] and options["evaluate_every"] is None:
        options["evaluate_every"] = 1.0  # a bar that stands still for many epochs would be worse than the time it costs
    wished = options["sampling"] is not None or options["step"] is not None  # by the user, and dfSDCA is what takes it
    if wished or costs.best == "dfsdca":
        planned = _copies(problem, options["n_threads"]) if copies and not wished else None
        return _dfsdca_first(solve_by, problem, callback, options, costs, planned)
    options = {name: value for name, value in options.items() if name not in ("sampling", "step")}
    if options["evaluate_every"] is None:
        options["evaluate_every"] = 1.0  # an evaluation costs nothing here
    return solve_by(costs.best, problem, callback, **options, chosen=costs.reason)


def _dfsdca_first(
    solve_by: Callable[..., Result],
    problem: Problem,
    callback: Callable[[Row], Any] | None,
    options: dict[str, Any],
    costs: Costs,
    copies: CopiesPlan | None,
) -> Result:
    begun, name, reason = time.perf_counter(), "dfsdca", costs.reason
    if copies is not None:
        name = "dfsdca-copies"
        reason += f"; with {copies.threads} copies of w, one for each thread, {copies.gain:.2g} times as fast"
    other = costs.cheapest_beside_dfsdca
    switch = None
    if other is not None:
        switch = Switch(other, costs.epochs[other], options["tol"], options["absolute_tol"])

    def watch(row: Row) -> bool:
        return (bool(callback(row)) if callback is not None else False) or (switch is not None and switch(row))

    options |= steps(problem, options["sampling"], options["step"])
    first = solve_by(name, problem, watch, **options, chosen=reason)
    if other is None or switch is None or not switch.reason:
        return first
    later = {key: options[key] for key in ("tol", "absolute_tol", "progress", "seed", "n_threads")}
    limit = options["time_limit"]
    later["time_limit"] = None if limit is None else max(limit - (time.perf_counter() - begun), 1e-3)
    later |= {"max_epochs": max(options["max_epochs"] - first.epochs, 1.0), "evaluate_every": 1.0}
    second = solve_by(other, problem, callback, warm_start=first, begun=time.perf_counter(), **later)
    return _joined(first, second, f"auto: {name}, then {other}", switch.reason)


def steps(problem: Problem, sampling: Any, step: Any) -> dict[str, Any]:
    """The sampling and the step of dfSDCA: the user's, or where all is left to us what takes the least time.

    That is `Restless`, where X is not read by windows, and steps that are off the implicit ones by a hundredth: these
    win as much, and for losses whose implicit step has no formula they cost one exponential in place of two or three.
    """
    if sampling is not None or step is not None or not problem.loss.all_convex:
        return {"sampling": sampling, "step": step}
    return {"sampling": None if isinstance(problem.examples, Stored) else Restless(), "step": "nearly-implicit"}


def _copies(problem: Problem, n_threads: int) -> CopiesPlan | None:
    """The copies of w for several threads, where they can be had and pay."""
    able = problem.examples.rounds and problem.loss.native is not None and problem.loss.all_convex and problem.mu == 0
    planned = plan_copies(problem, n_threads) if able else None
    return planned if planned is not None and planned.gain >= _COPIES_PAY else None


def _joined(first: Result, second: Result, method: str, reason: str) -> Result:
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
        method=method,
        message=because(second.status, second.message, reason),
        epochs=first.epochs + second.epochs,
        iterations=first.iterations + second.iterations,
        seconds=first.seconds + second.seconds,
        wall_seconds=first.wall_seconds + second.wall_seconds,
        sampling=first.sampling,
        step=first.step,
        theta=first.theta,
        bound=first.bound,
    )
