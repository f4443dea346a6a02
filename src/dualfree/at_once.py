"""Runs that are one call of a kernel: of few data Newton's method is done before a loop would have begun."""

import math
import time
from functools import lru_cache
from typing import Any

import numpy as np

from dualfree import memory
from dualfree._native import kernels
from dualfree.bounds import unpromised
from dualfree.checkpoint import requested
from dualfree.examples import Rows
from dualfree.limits import Limits
from dualfree.losses.builtin import BuiltIn
from dualfree.problem import Problem
from dualfree.result import History, Result, Row, Status, because, certificate, ending
from dualfree.samplings import Nice

# What a step costs for each example: once, for each feature and for each pair of them, in entries of a dfSDCA step.
# Above so much a step, samples and BLAS are quicker.
_ROW, _MOST = (7.4, 0.6, 0.0102), 150_000
# Steps where the curvature changes: the fewest, and those to three digits, so many more for each factor e of so many
# times the hardness, and one more for each doubling of the digits.
_STEPS, _HARDER, _THREE = (1.5, 1.5), (0.65, 330.0), math.log(1e3)
# Times as many where the loss is straight nearly everywhere: steps are halved, and the first often. Where it has one
# curvature but for a kink, they are fewer, and cheaper without an exponential.
_STRAIGHT, _KINKED = 2.0, 0.7
_INTERCEPT = 60_000  # what the best one for the last point costs, by NumPy
_FEW = 210_000  # less than what Python costs in any run of another method, so that there is nothing to compare
_MOST_STEPS = 100
_REASON = "Newton's method was chosen: the data are so few that all of its steps are one call"


def entries_at_once(problem: Problem, tol: float) -> float:
    """What all steps would cost in one call, in entries of a dfSDCA step; infinite where there is no such call.

    Examples
    --------
    >>> import dualfree as df
    >>> sizes = (100, 100_000)
    >>> [entries_at_once(df.Problem(np.ones((n, 10)), df.losses.Squared(np.ones(n)), 1.0), 1e-6) for n in sizes]
    [2884.0, inf]
    """
    loss, n, d = problem.loss, problem.n, problem.d
    plain = type(problem.examples) is Rows and problem.mu == 0 and d <= kernels.most_newton_features
    if not plain or not isinstance(loss, BuiltIn) or not (loss.all_convex and loss.has_conjugate):
        return math.inf
    step = n * (_ROW[0] + d * (_ROW[1] + _ROW[2] * d))
    if step > _MOST or not math.isfinite(problem.hardness):
        return math.inf
    steps = 2.0
    if not loss.quadratic:
        digits = math.log2(math.log(1 / min(max(tol, 1e-14), 0.1)) / _THREE)
        steps = max(_STEPS[0], _STEPS[1] + digits + _HARDER[0] * math.log1p(_HARDER[1] * problem.hardness))
    times = _STRAIGHT if loss.straight else _KINKED if loss.kinked else 1.0
    return step * steps * times + _INTERCEPT * problem.intercept


def few(entries: float) -> bool:
    """Whether nothing else could be quicker than a call that costs so much."""
    return entries <= _FEW


def solve_at_once(problem: Problem, options: dict[str, Any]) -> Result | None:
    """Newton's method from zero; None where it does not end in one call, so that somebody has to look.

    The options are those of `solve`. As many steps as it takes, each with the Hessian of all examples and halved until
    P falls enough. The history has the start and the end. Memory beyond X: O(n + d²).
    """
    limits: Limits = options["limits"]
    requested(None, options["checkpoint_every"], options["resume"])
    w, begun = memory.zeros(problem.d), time.perf_counter()
    most = int(min(limits.max_epochs, _MOST_STEPS))
    look, steps, _ = problem.newton_steps(w, limits.tol, most, limits.absolute_tol)
    seconds = time.perf_counter() - begun
    proof = None if look is None else certificate(problem, look.evaluation)
    if look is None or proof is None or not limits.reached(proof):
        return None
    rows = [Row(float(steps), steps, seconds, proof.value, proof.gap, proof.gradient_norm)]
    if steps > 0:
        value, conjugate = problem.loss.at_zero(problem.n)
        rows.insert(0, Row(0.0, 0, 0.0, value, value + conjugate, math.inf))
    goal = limits.goal(proof.value)
    return Result(
        look.w,
        np.negative(look.derivatives, out=look.derivatives),
        Status.CONVERGED,
        because(Status.CONVERGED, ending(Status.CONVERGED, proof, goal, steps, seconds), _REASON),
        proof,
        History(rows),
        unpromised(goal),
        "auto: newton",
        _all_of(problem.n),
        "newton",
        1.0,
        options["seed"],
        float(steps),
        steps,
        seconds,
        time.perf_counter() - options["begun"],
    )


@lru_cache(maxsize=64)
def _all_of(n: int) -> str:
    """How a sampling of all examples is written: 2 µs of the 50 that a call may take."""
    return repr(Nice(n))
