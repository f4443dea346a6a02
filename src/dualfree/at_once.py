"""Runs that are one call of a kernel: of few data Newton's method is done before a loop would have begun."""

import math
import time
from functools import lru_cache
from typing import Any

import numpy as np

from dualfree._native import kernels
from dualfree.bounds import unpromised
from dualfree.checkpoint import requested
from dualfree.examples import Rows
from dualfree.examples.grams import scattered
from dualfree.limits import Limits
from dualfree.losses.builtin import BuiltIn
from dualfree.methods.newton_plan import rough_start, rough_visits
from dualfree.problem import Problem
from dualfree.result import History, Result, Row, Status, certificate
from dualfree.samplings import Nice

# In entries of a dfSDCA step: what a row takes of a look and of a Hessian, once, for each feature and for each pair of
# them; and of sparse rows, once and for each entry, and for what `hessian_entries` says of a Hessian.
_LOOK, _HESSIAN = (6.2, 0.2), (0.16, 0.016)
_SPARSE_LOOK, _SPARSE_HESSIAN = (3.0, 0.65), 1.1
_VISIT = (24.0, 0.2, 1.0)  # and a visit of the rough start: once, and for each entry, a dense and a sparse one
_MOST = 480_000  # of a step: above, what Python costs is little, and the memory of L-BFGS in `Newton` saves more
# A Hessian is from so many draws for each feature (of sparse and of dense rows: the former may lack some features), or
# one for so many examples, and begins at a rough start, where there are so many examples for each feature and numbers
# in X. Else all are taken, and zero is as good a start.
_DRAWS, _ONE_OF, _CROWDED, _MANY = (16, 8), 50, 16, 100_000
# Steps where the curvature changes, from zero and from a rough start: the fewest, and those to three digits, so many
# more for each factor e of so many times the hardness, and some more for each doubling of the digits.
_STEPS, _HARDER, _DIGITS, _THREE = (0.7, 2.5), ((0.5, 330.0), (0.95, 1.0)), (0.7, 1.2), math.log(1e3)
# Times as many where the loss is straight nearly everywhere: steps are halved, and the first often. Where it has one
# curvature but for a kink, they are fewer, and cheaper without an exponential.
_STRAIGHT, _KINKED = 2.0, 0.7
_INTERCEPT = 60_000  # what the best one for the last point costs, by NumPy
_FEW = 210_000  # less than what Python costs in any run of another method, so that there is nothing to compare
# In a call; and about the most that it takes, for where they cost so little that there is nothing to compare.
_MOST_STEPS, _ENOUGH = 100, 10.0
_CALLS = 3  # what the kernel knows of the best intercept is by its last Hessian, and may be too good
_REASON = "Newton's method was chosen: the data are so few that all of its steps are one call"


def draws_of(problem: Problem) -> int:
    """Draws of examples behind the first Hessian; n where it is of all, and the start is zero.

    Examples
    --------
    >>> import dualfree as df
    >>> [draws_of(df.Problem(np.ones((n, 10)), df.losses.Logistic([1, -1] * (n // 2)), 1.0)) for n in (100, 10_000)]
    [100, 200]
    """
    n, d = problem.n, problem.d
    if n * d < _MANY or n < _CROWDED * d or problem.loss.quadratic:
        return n  # where the curvature is the same everywhere, to know it is to be done
    return min(n, max(_DRAWS[problem.examples.dense] * d, n // _ONE_OF))


def entries_at_once(problem: Problem, tol: float) -> float:
    """What all steps would cost in one call, in entries of a dfSDCA step; infinite where there is no such call.

    About the most that it can be, where that is so little that nothing else is quicker (`few`).

    Examples
    --------
    >>> import dualfree as df
    >>> sizes = (100, 100_000)
    >>> [entries_at_once(df.Problem(np.ones((n, 10)), df.losses.Squared(np.ones(n)), 1.0), 1e-6) for n in sizes]
    [11400.0, inf]
    """
    loss, examples, n, d = problem.loss, problem.examples, problem.n, problem.d
    plain = type(examples) is Rows and problem.mu == 0 and d <= kernels.most_newton_features
    if not plain or not isinstance(loss, BuiltIn) or not loss.all_convex:
        return math.inf
    draws, (look, square) = draws_of(problem), _of_a_dense_row(d)
    most = (n * look + draws * square) * _ENOUGH
    if draws == n and few(most):
        return most
    if not examples.dense and scattered(examples.X, examples.stored):
        look, square = _of_a_sparse_row(examples)
    first = n * look + draws * square
    if first > _MOST or not math.isfinite(problem.hardness):
        return math.inf
    steps, rough = 1.0, draws < n
    if not loss.quadratic:
        digits = math.log2(math.log(1 / min(max(tol, 1e-14), 0.1)) / _THREE)
        each, times = _HARDER[rough]
        steps = max(1.0, _STEPS[rough] + _DIGITS[rough] * digits + each * math.log1p(times * problem.hardness))
        steps *= _STRAIGHT if loss.straight else _KINKED if loss.kinked else 1.0
    entries = n * look * (1 + steps) + _INTERCEPT * problem.intercept
    if not rough:
        return entries + steps * n * square
    hessians = sum(min(draws * 2**k, n) for k in range(round(steps)))  # growing fourfold in every second step or so
    return float(entries + hessians * square + _rough_start_entries(problem))


def _of_a_dense_row(d: int) -> tuple[float, float]:
    """What a row takes of a look, and of a Hessian, where it is written out with its zeros."""
    return _LOOK[0] + _LOOK[1] * d, d * (_HESSIAN[0] + _HESSIAN[1] * d)


def _of_a_sparse_row(examples: Rows) -> tuple[float, float]:
    """The same where its entries are added as they are, of which there are few."""
    once, entry = _SPARSE_LOOK
    return once + entry * examples.stored / examples.n, _SPARSE_HESSIAN * examples.hessian_entries


def _rough_start_entries(problem: Problem) -> float:
    once, dense, sparse = _VISIT
    row = problem.examples.stored / problem.n
    return rough_visits(problem) * (once + row * (dense if problem.examples.dense else sparse))


def few(entries: float) -> bool:
    """Whether nothing else could be quicker than a call that costs so much."""
    return entries <= _FEW


def solve_at_once(problem: Problem, options: dict[str, Any]) -> Result | None:
    """Newton's method in one call; None where it does not end in that, so that somebody has to look.

    The options are those of `solve`. As many steps as it takes, with the Hessian of all examples or of `draws_of` them,
    each halved until P falls enough. The history has zero and the end. Memory beyond X: O(n + d²).
    """
    limits: Limits = options["limits"]
    requested(None, options["checkpoint_every"], options["resume"])
    begun, draws = time.perf_counter(), draws_of(problem)
    w = rough_start(problem, gently=True) if draws < problem.n else np.zeros(problem.d)
    steps, most = 0, int(min(limits.max_epochs, _MOST_STEPS))
    for _ in range(_CALLS if problem.intercept else 1):
        look, more, _ = problem.newton_steps(w, limits.tol, most - steps, limits.absolute_tol, draws * 4**steps)
        if look is None:
            return None
        steps += more
        proof = certificate(problem, look.evaluation)
        if limits.reached(proof):
            break
    else:
        return None
    seconds = time.perf_counter() - begun
    rows = [Row(float(steps), steps, seconds, proof.value, proof.gap, proof.gradient_norm)]
    if steps > 0:
        value, conjugate = problem.loss.at_zero(problem.n)
        rows.insert(0, Row(0.0, 0, 0.0, value, value + conjugate, math.inf))
    return Result(
        look.w,
        np.negative(look.derivatives, out=look.derivatives),
        Status.CONVERGED,
        _REASON,
        proof,
        History(rows),
        unpromised(limits.goal(proof.value)),
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
