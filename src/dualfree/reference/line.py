"""The step along the line through α and where it was, literally: each example's own end, Newton's t for all."""

import numpy as np

from dualfree.arrays import Floats
from dualfree.reference.problem import ReferenceProblem

_LEAST, _MOST = -0.5, 4.0  # of t
_FAR = 1e6  # from α_i: a domain without an end
_STEEP = 30.0  # at the last number before an end: there the slope becomes infinite


def along_line(
    problem: ReferenceProblem, alpha: Floats, before: Floats, offset: float = 0.0
) -> tuple[Floats, float, list[int]]:
    """``α + t (α − before)``, but for those i that are held; t; and which these are.

    t is Newton's step from zero for ``D(α + t (α − before))``, within [−1/2, 4]; `offset` is added to every
    ``A_iᵀw``. An α_i goes to the end of the domain of φ_i* at most, and nine tenths of the way to it where the slope of
    φ_i* is infinite there.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(2), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> after, t, held = along_line(problem, np.array([0.3, 0.3]), np.array([0.2, 0.2]))
    >>> after.round(6).tolist(), round(t, 6), held  # where the dual is largest
    ([0.5, 0.5], 2.0, [])
    """
    way = alpha - before
    move, z = problem.combination(way), problem.X @ problem.combination(alpha) + offset
    slope, curvature = 0.0, problem.lam * problem.n * float(move @ move)
    limits = [_limits(problem, i, alpha[i]) for i in range(problem.n)]
    for i in np.flatnonzero(way).tolist():
        slope += way[i] * (_slope(problem, i, alpha[i]) + z[i])
        curvature += way[i] ** 2 * _curvature(problem, i, alpha[i], *limits[i])
    t = float(np.clip(-slope / curvature, _LEAST, _MOST))
    wanted = alpha + t * way
    after = np.array([np.clip(wanted[i], *limits[i]) for i in range(problem.n)])
    return after, t, np.flatnonzero(after != wanted).tolist()


def _slope(problem: ReferenceProblem, i: int, a: float) -> float:
    """Of ``a → φ_i*(−a)``."""
    if problem.weight[i] == 0:
        return 0.0
    return float(problem.loss.conjugate_slope(np.asarray(a / problem.weight[i]), problem.y[i]))


def _curvature(problem: ReferenceProblem, i: int, a: float, low: float, high: float) -> float:
    """The same of its slope, by a difference towards the middle of the domain."""
    if problem.weight[i] == 0:
        return 0.0
    nearest = min(a - low, high - a)
    inwards = min(1.0, 1e-6 * nearest if nearest > 0 else 1e-6) * (1 if a - low < high - a else -1)
    return (_slope(problem, i, a + inwards) - _slope(problem, i, a)) / inwards


def _limits(problem: ReferenceProblem, i: int, a: float) -> tuple[float, float]:
    """How far α_i may go, downwards and upwards."""
    low, high = (_end(problem, i, a, direction) for direction in (-1.0, 1.0))
    return low, high


def _end(problem: ReferenceProblem, i: int, a: float, direction: float) -> float:
    """How far in one direction, by bisection of where φ_i* is finite."""
    inside, outside = a, a + direction * _FAR
    if np.isfinite(problem.conjugate(i, outside)):
        return outside
    while inside != (middle := (inside + outside) / 2) != outside:
        if np.isfinite(problem.conjugate(i, middle)):
            inside = middle
        else:
            outside = middle
    return a + 0.9 * (inside - a) if abs(_slope(problem, i, inside)) > _STEEP else inside
