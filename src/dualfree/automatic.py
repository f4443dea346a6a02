"""``method="auto"``: the method that will end soonest, by the problem's shape, and another where that proves wrong."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dualfree.at_once import entries_at_once, few, solve_at_once
from dualfree.costs import TITLES, Costs, estimate
from dualfree.limits import Limits
from dualfree.methods.copies import CopiesPlan, plan_copies, rounds_of
from dualfree.methods.rescaling import can_rescale
from dualfree.problem import Problem
from dualfree.result import History, Result, Row
from dualfree.samplings import Restless
from dualfree.store.examples import Stored

AUTOMATIC = ("auto", "auto-copies")
# Epochs, or passes, before a rate can be read off the history. dfSDCA has no momentum before it has gone some epochs.
_LOOK_AFTER = {"dfsdca": 20.0, "lbfgs": 10.0}
_PATIENCE = {"dfsdca": 1.0, "lbfgs": 0.6}  # what may be left in the time of another: L-BFGS is slower than it begins
_SPENT = {"dfsdca": math.inf, "lbfgs": 1.5}  # times as long as the other would take: then the rest may take for ever
_SURELY = 1.2  # times as much as one call of Newton's method must another method cost; his loop always does
_NO_TIME = 0.25  # seconds, within which a call that nobody can stop may not be done
_COPIES_PAY = 1.3  # times as fast, by estimate: below, it is not worth an answer that depends on the number of threads


@dataclass
class Switch:
    """A callback that asks to stop a method when what is still to come would cost more than another one.

    Examples
    --------
    >>> switch = Switch("dfsdca", "newton", 40.0, Limits.checked(1e-6, 0.0, 200, None, None))
    >>> [switch(Row(float(k), k, 0.0, 1.0, 0.99**k, 1.0)) for k in (0, 12, 24)]
    [False, False, True]
    >>> print(switch.reason)
    dfSDCA would need about 1351 more epochs, Newton's method the time of 40
    """

    first: str
    other: str
    other_epochs: float
    limits: Limits
    reason: str = ""
    _begun: Row | None = None
    _value: float = math.inf  # the least so far, and the largest lower bound: gaps go up and down
    _bound: float = -math.inf

    def __call__(self, row: Row) -> bool:
        """Whether to stop here."""
        if self._begun is None and row.epoch >= 1:
            self._begun = row
        self._value, self._bound = min(self._value, row.value), max(self._bound, row.value - row.gap)
        least = max(self._value - self._bound, 1e-300)
        if self._begun is None or row.epoch < _LOOK_AFTER[self.first] or not math.isfinite(least):
            return False
        goal = self.limits.goal(row.value)
        passed, fallen = row.epoch - self._begun.epoch, math.log(max(self._begun.gap, 1e-300) / least)
        if passed == 0 or least <= goal:
            return False
        needed = math.log(least / goal) if goal > 0 else math.inf
        stuck = fallen <= 0 or row.epoch > _SPENT[self.first] * self.other_epochs
        left = math.inf if stuck else needed * passed / fallen
        if left <= _PATIENCE[self.first] * self.other_epochs:
            return False
        more = f"about {left:.0f} more epochs" if math.isfinite(left) else "too long"
        self.reason = (
            f"{TITLES[self.first]} would need {more}, {TITLES[self.other]} the time of {self.other_epochs:.2g}"
        )
        return True


def solve_automatically(
    solve_by: Callable[..., Result],
    problem: Problem,
    callback: Callable[[Row], Any] | None,
    options: dict[str, Any],
    costs: Costs | None = None,
    copies: bool = False,
) -> Result:
    """Run the method with the least estimated cost; turn to another if `Switch` says so.

    The options are those of `solve`, checked, with its limits as one.

    With `copies`, dfSDCA has copies of w for several threads where these pay.
    """
    limits: Limits = options["limits"]
    watched = costs is not None or _watched(callback, options)
    at_once = math.inf if watched else entries_at_once(problem, limits.tol)
    if not few(at_once):
        costs = costs or estimate(problem, limits.tol)
        if limits.time_limit < _NO_TIME:
            at_once = math.inf
    if costs is None or at_once < (math.inf if costs.best == "newton" else costs.entries / _SURELY):
        done = solve_at_once(problem, options)
        if done is not None:
            return done
    costs = costs or estimate(problem, limits.tol)
    if options["progress"]:  # a bar that stands still for many epochs would be worse than the time it costs
        options["limits"] = limits.regular()
    wished = options["sampling"] is not None or options["step"] is not None  # by the user, and dfSDCA is what takes it
    first = "dfsdca" if wished else costs.best
    switch = _switch(first, costs, options)
    name, reason = first, costs.reason
    if first == "dfsdca" and copies and not wished:
        planned = _copies(problem, options["n_threads"])
        if planned is not None:
            name = "dfsdca-copies"
            reason += f"; with {planned.threads} copies of w, one for each thread, {planned.gain:.2g} times as fast"

    def watch(row: Row) -> bool:
        return (bool(callback(row)) if callback is not None else False) or (switch is not None and switch(row))

    begun = time.perf_counter()
    chosen = _options_of(first, problem, options)
    if name == "dfsdca-copies":
        chosen["sampling"] = None  # it has rounds of its own
    found = solve_by(name, problem, watch, **chosen, chosen=reason)
    if switch is None or not switch.reason:
        return found
    kept = {key: options[key] for key in ("limits", "progress", "seed", "n_threads")}
    later = _options_of(switch.other, problem, kept | {"sampling": None, "step": None})
    later["limits"] = later["limits"].less(found.epochs, time.perf_counter() - begun)
    second = solve_by(switch.other, problem, callback, warm_start=found, begun=time.perf_counter(), **later)
    return _joined(found, second, f"auto: {name}, then {switch.other}", switch.reason)


def _watched(callback: Callable[[Row], Any] | None, options: dict[str, Any]) -> bool:
    """Whether somebody wants to see a run on its way, or something else than Newton's method from zero."""
    seen = options["progress"] or callback is not None or options["limits"].evaluate_every is not None
    return seen or options["sampling"] is not None or options["step"] is not None or options["warm_start"] is not None


def _switch(first: str, costs: Costs, options: dict[str, Any]) -> Switch | None:
    """What watches over the first method: not over Newton's, which does not go on for ever."""
    other = costs.cheapest_beside(first)
    if first == "newton" or other is None:
        return None
    unit = costs.lbfgs_pass if first == "lbfgs" else 1.0
    return Switch(first, other, costs.epochs[other] / unit, options["limits"])


def _options_of(method: str, problem: Problem, options: dict[str, Any]) -> dict[str, Any]:
    """The options that a method takes: dfSDCA has steps of its own, and evaluations cost the others nothing."""
    if method == "dfsdca":
        return options | steps(problem, options["sampling"], options["step"])
    left = {name: value for name, value in options.items() if name not in ("sampling", "step")}
    return left | {"limits": options["limits"].regular()}


def steps(problem: Problem, sampling: Any, step: Any, resumable: bool = False) -> dict[str, Any]:
    """The sampling and the step of dfSDCA: the user's, or where all is left to us what takes the least time.

    That is `Restless`, where X is not read by windows, and steps that are off the implicit ones by a hundredth: these
    win as much, and for losses whose implicit step has no formula they cost one exponential in place of two or three.
    Where they can be rescaled, and the run need not end at the same bits when it was stopped in between, they are.
    """
    if sampling is not None or step is not None or not problem.loss.all_convex:
        return {"sampling": sampling, "step": step}
    if isinstance(problem.examples, Stored):
        return {"sampling": None, "step": "nearly-implicit"}
    rescaled = not resumable and can_rescale(problem) and problem.examples.rounds
    return {"sampling": Restless(), "step": "rescaled" if rescaled else "nearly-implicit"}


def _copies(problem: Problem, n_threads: int) -> CopiesPlan | None:
    """The copies of w for several threads, where they can be had and pay."""
    able = problem.examples.rounds and problem.loss.native is not None and problem.loss.all_convex and problem.mu == 0
    planned = plan_copies(problem, n_threads, rounds_of(problem)) if able else None
    return planned if planned is not None and planned.gain >= _COPIES_PAY else None


def _joined(first: Result, second: Result, method: str, reason: str) -> Result:
    """One result of two runs: the second's answer, the history and the costs of both."""
    later = [
        row._replace(
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
        reason=reason,
        epochs=first.epochs + second.epochs,
        iterations=first.iterations + second.iterations,
        seconds=first.seconds + second.seconds,
        wall_seconds=first.wall_seconds + second.wall_seconds,
        sampling=first.sampling,
        step=first.step,
        theta=first.theta,
        bound=first.bound._replace(epsilon=better.bound.epsilon),  # what was asked at the better point
    )
