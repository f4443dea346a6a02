"""How Newton's method begins: the examples behind its first Hessian, what that costs, and a rough point to start at."""

import math
from typing import Any, NamedTuple

import numpy as np

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices, largest_of
from dualfree.examples.grams import CROWDED, scattered
from dualfree.inner import inner
from dualfree.problem import Problem
from dualfree.samplings.base import Draws
from dualfree.steps import NEARLY

MOST_FEATURES = 5000  # a 200 MB Hessian; beyond, the stochastic methods are the better choice by far
_ROWS_A_FEATURE = (12, 40)  # of the first sample behind a Hessian
_MORE = (1.0, 2.0)  # passes that more of them may cost: where steps are easy, and where they are hard
_FACTOR = (0.01, 0.05)  # what a Cholesky factor costs for each of d³, in entries of a pass: sparse, and dense ones
# Examples that tell whether curvatures differ, or all where there are few; they do not where the square of the mean is
# so much of the mean of their squares.
_PROBE, _FEW, _EVEN = 512, 8192, 0.7
GOLDEN = (math.sqrt(5) - 1) / 2  # its multiples, modulo 1, leave no wide gaps
# Visits of the rough start, but not more than this part of an epoch: where λn is at least the curvature of an example,
# and where it is less.
_VISITS_A_FEATURE, _PART = 200, (3, 2)
# Its λn is no smaller than so many times the curvature of an example: with fewer visits, and with as many as that.
_CAUTION = (4.0, 16.0)
_FEWEST, _PASSES = 2.0, 0.3  # beside the Hessian: once, and for each factor e of the tolerance
_CROWDED_PASSES = 0.6  # the most of the latter where all is quadratic and no feature rare: a sample misses none
# Power of the condition number that it feels, where the curvature changes: with few and with many examples a feature.
_ROOT = (0.45, 0.13)
_CROWD = (4.0, 16.0)  # examples for each feature that are few, and many


class NewtonPlan(NamedTuple):
    """Examples behind the first Hessian, and passes beside it."""

    sample: int
    passes: float


def plan_newton(problem: Problem, tol: float) -> NewtonPlan:
    """How to begin, by what it will cost: where the curvature never changes, all examples may be best, and one step."""
    sample, digits = sample_size(problem), math.log(1 / min(max(tol, 1e-14), 0.1))
    root = _ROOT[0] if problem.loss.quadratic else between(_ROOT, crowd(problem))
    each = _PASSES * float((1 + problem.hardness) ** root)
    if problem.loss.quadratic:
        if problem.examples.products >= CROWDED * problem.n * problem.d:
            each = min(each, _CROWDED_PASSES)
        if hessian_passes(problem, problem.n) <= each * digits + hessian_passes(problem, sample):
            return NewtonPlan(problem.n, _FEWEST)
    return NewtonPlan(sample, _FEWEST + each * digits)


def crowd(problem: Problem) -> float:
    """From 0 to 1: where examples are many for each feature, their own curvature is the least there is, and not λ.

    Examples
    --------
    >>> import dualfree as df
    >>> [crowd(df.Problem(np.ones((n, 10)), df.losses.Squared(np.ones(n)), 1.0)) for n in (40, 80, 160)]
    [0.0, 0.5, 1.0]
    """
    few, many = _CROWD
    return min(1.0, max(0.0, math.log(problem.n / (few * problem.examples.d)) / math.log(many / few)))


def between(ends: tuple[float, float], part: float) -> float:
    """What lies so far on the way from the first to the second."""
    return ends[0] + part * (ends[1] - ends[0])


def sample_size(problem: Problem) -> int:
    """Examples that tell the curvature: some for each feature, more where they cost little beside a pass.

    All of them where some are concave, for of a sample these may be too many.
    """
    if not problem.loss.all_convex:
        return problem.n
    examples = problem.examples
    spent = min(_MORE[1], _MORE[0] + problem.hardness)
    affordable = int(spent * examples.products / max(1.0, examples.hessian_entries))
    least, most = _ROWS_A_FEATURE
    return min(problem.n, max(least * examples.d, min(most * examples.d, affordable), problem.n // 50))


def spread_sample(n: int, size: int, seed: int, mixed: bool = False) -> Indices:
    """One example of each of `size` runs of about n/size, at random, none twice: in order, or far ones in turn.

    Examples
    --------
    >>> spread_sample(10, 5, seed=0) // 2
    array([0, 1, 2, 3, 4])
    >>> spread_sample(10, 5, seed=0, mixed=True) // 2
    array([0, 3, 1, 4, 2])
    """
    stride = max(1, round(GOLDEN * size)) if mixed else 1
    while math.gcd(stride, size) > 1:
        stride += 1
    out = memory.empty(size, np.int64)
    kernels.draw_spread(seed, n, stride, out)
    return out


class Sample(NamedTuple):
    """Examples i with weights c_i, so that ``Σ c_i A_i A_iᵀ`` stands for ``(1/n) Σ φ_i'' A_i A_iᵀ`` over all."""

    indices: Indices
    weights: Floats


def all_curved(problem: Problem, margins: Floats) -> Sample:
    """All examples but those on the flat of their loss, which add nothing to the Hessian.

    Examples
    --------
    >>> import dualfree as df
    >>> problem = df.Problem(np.eye(4), df.losses.SquaredHinge([1, 1, 1, -1]), lam=0.1)
    >>> all_curved(problem, np.array([2.0, 0.5, -1.0, -2.0]))
    Sample(indices=array([1, 2]), weights=array([0.5, 0.5]))
    """
    curvatures = problem.curvatures(margins)
    indices = np.flatnonzero(curvatures)
    return Sample(indices, curvatures[indices] / problem.n)


def curved_sample(problem: Problem, margins: Floats, size: int, seed: int) -> Sample:
    """`size` draws of examples, with probabilities in the proportion of their ``φ_i''(z_i)``, each example listed once.

    Where a loss is all but flat an example adds next to nothing to the Hessian, however long its row is. Where long
    rows cost no more than short ones, and norms are at hand, the proportion is that of ``φ_i'' ‖A_i‖²``: a few examples
    may have all the curvature of some features. Where none has much more than others, which some examples tell, it is
    not worth a look at all of them.

    Examples
    --------
    >>> import dualfree as df
    >>> problem = df.Problem(np.eye(4), df.losses.SquaredHinge([1, 1, 1, -1]), lam=0.1)
    >>> curved_sample(problem, np.array([2.0, 2.0, 0.5, -2.0]), size=2, seed=0)
    Sample(indices=array([2]), weights=array([0.5]))
    """
    n, examples = problem.n, problem.examples
    by_length = examples.knows_norms and not scattered(examples.X, examples.stored)
    some = spread_sample(n, _PROBE, seed) if n > _FEW else None
    sizes = problem.curvatures(margins, some)
    if by_length:
        sizes *= examples.square_norms if some is None else examples.square_norms[some]
    if size <= n and _EVEN * inner(sizes, sizes) * len(sizes) <= float(sizes.sum()) ** 2:
        indices = spread_sample(n, size, seed)
        return Sample(indices, problem.curvatures(margins, indices) / size)
    if n > _FEW:
        sizes = problem.curvatures(margins)
        if by_length:
            sizes *= examples.square_norms
    most = min(size + 1, n)
    indices, weights = memory.empty(most, np.int64), memory.empty(most)
    listed = kernels.draw_by_weight(seed, sizes, size, 1 / n, indices, weights)
    indices, weights = indices[:listed], weights[:listed]
    return Sample(indices, weights / examples.square_norms[indices] if by_length else weights)


def hessian_passes(problem: Problem, rows: int, entries: float | None = None) -> float:
    """What a Hessian of so many examples costs, in passes over the data; by default, of so many at random."""
    each = problem.examples.hessian_entries if entries is None else entries
    return (rows * each + _FACTOR[problem.examples.dense] * problem.d**3) / max(1, problem.examples.products)


def rough_visits(problem: Any) -> int:
    """Visits of the rough start."""
    hard = problem.examples.typical_square_norm * largest_of(problem.common_l) > problem.lam * problem.n
    return int(min(max(1, problem.n // _PART[hard]), _VISITS_A_FEATURE * problem.d))


def rough_start(problem: Any, gently: bool = False) -> Floats:
    """A point to begin at: a fraction of an epoch of dfSDCA, with a λ that is large enough for its first steps.

    The more so where a few rows are much longer than others: what they move, no other visit undoes, and where it has
    gone too far losses are flat, so that Newton's steps are too long. `gently` is for steps that no memory of earlier
    ones mends.
    """
    n, examples, largest = problem.n, problem.examples, largest_of(problem.common_l)
    typical = examples.typical_square_norm
    count = rough_visits(problem)
    w, alpha = memory.zeros(problem.d), memory.zeros(examples.total)
    draws = Draws(spread_sample(n, count, 0, mixed=True))
    # One curvature for all: at least that of any row that is not four times as long as others.
    squares, felt = np.array([4 * typical]), typical
    if examples.knows_norms:
        known = examples.square_norms
        squares = np.maximum(squares, known)
        felt = math.sqrt(inner(known, known) / n)  # the root of the typical one and of that by length
    caution = _CAUTION[gently or count == _VISITS_A_FEATURE * problem.d]
    inverse = 1 / max(problem.lam * n, caution * felt * largest)
    problem.examples.dfsdca(problem.loss.native, NEARLY, squares * inverse, inverse, draws, 0.0, alpha, w)
    if problem.intercept:
        w[problem.free] *= examples.constant_value
    return w
