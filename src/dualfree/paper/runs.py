"""Runs that are watched: suboptimality against epochs, seconds and the paper's proxy for time; and tuning by a grid."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dualfree.arrays import Floats
from dualfree.paper.data import raise_if_interrupted
from dualfree.paper.report import Watch
from dualfree.problem import Problem
from dualfree.result import Row
from dualfree.samplings import BoundSampling
from dualfree.solve import solve

FLOOR = 1e-10  # suboptimality at which a run ends: well above what rounding leaves of P(w) − P*
MOST_TRIALS = 24


@dataclass(frozen=True)
class Curve:
    """One run: its step, where it stood at each evaluation, and the θ that a theorem promises it, if one covers it."""

    name: str
    step: float
    epoch: list[float]
    iteration: list[float]
    seconds: list[float]
    suboptimality: list[float]
    promised: float | None = None

    def raw(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def run(
    problem: Problem,
    best: float,
    name: str,
    *,
    epochs: float,
    floor: float = FLOOR,
    every: float = 1.0,
    seed: int = 0,
    watch: Watch | None = None,
    **choice: Any,
) -> Curve:
    """One run of `solve` until ``P(w) − best ≤ floor`` or so many epochs; `choice` is its method, sampling, step."""

    def look(row: Row) -> bool:
        if watch is not None:
            watch(min(1.0, row.epoch / epochs), name)
        return row.value - best <= floor

    result = solve(problem, tol=0.0, max_epochs=epochs, evaluate_every=every, callback=look, seed=seed, **choice)
    raise_if_interrupted(result)
    history = result.history
    with np.errstate(invalid="ignore"):
        above = np.maximum(history.value - best, 1e-16)
    return Curve(
        name,
        result.theta,
        history.epoch.tolist(),
        history.iteration.tolist(),
        history.seconds.tolist(),
        np.where(np.isfinite(above), above, np.inf).tolist(),
        result.bound.theta if result.bound.covered else None,
    )


def reached(across: Sequence[float], suboptimality: Sequence[float], target: float) -> float:
    """Where a curve falls to `target`, between two evaluations by a straight line in log suboptimality; inf if never.

    Examples
    --------
    >>> reached([0, 1, 2], [1.0, 1e-2, 1e-4], 1e-3)
    1.5
    >>> reached([0, 1], [1.0, 0.5], 1e-3)
    inf
    """
    for k, value in enumerate(suboptimality):
        if value <= target:
            if k == 0:
                return float(across[0])
            high, low = math.log(suboptimality[k - 1]), math.log(value)
            share = (high - math.log(target)) / (high - low)
            return float(across[k - 1] + share * (across[k] - across[k - 1]))
    return math.inf


def linear_fit(across: Sequence[float], suboptimality: Sequence[float]) -> tuple[float, float]:
    """Rate r and R² of ``log suboptimality ≈ a − r · across``, without the start, which no asymptotic rate covers.

    Examples
    --------
    >>> rate, fit = linear_fit([0, 1, 2, 3], [3.0, 1.0, 0.1, 0.01])
    >>> round(rate, 3), round(fit, 6)
    (2.303, 1.0)
    """
    x, y = np.asarray(across[1:], dtype=np.float64), np.log(np.asarray(suboptimality[1:], dtype=np.float64))
    slope, level = np.polyfit(x, y, 1)
    left = y - (slope * x + level)
    return -float(slope), 1 - float(left @ left) / float(((y - y.mean()) ** 2).sum())


def tune(
    trial: Callable[[float, float], Curve],
    epochs: float,
    start: float,
    target: float = 0.0,
    largest: float = math.inf,
    factor: float = 2.0,
) -> tuple[float, list[dict[str, float]]]:
    """The best step of a geometric grid, which grows on either side until its best point is not at its edge.

    `trial` runs a step for at most so many epochs. It is given `epochs`, or twice what the best step so far needed.

    A step is better if it reaches `target` in fewer epochs or, where none does, ends lower; by at least 5 %, for the
    search is not to follow noise, nor a method whose steps may grow without end.

    Returns
    -------
    The best step, and for each step tried, in order, the epochs to the target and the suboptimality at the end.

    Examples
    --------
    >>> slow = lambda step, epochs: Curve("", step, [0, abs(math.log2(step / 8)) + 1], [0, 1], [0, 1], [1.0, 0.1])
    >>> tune(slow, 20, 1.0, target=0.1)[0]
    8.0
    """
    best = min(start, largest)
    curves = {best: trial(best, epochs)}
    while len(curves) < MOST_TRIALS:
        wanted = [step for step in (min(best * factor, largest), best / factor) if step not in curves]
        if not wanted:
            break
        needed = reached(curves[best].epoch, curves[best].suboptimality, target)
        curves[wanted[0]] = trial(wanted[0], min(epochs, 2 * needed))
        if _better(curves[wanted[0]], curves[best], target):
            best = wanted[0]
    trials = [
        {
            "step": step,
            "epochs": reached(curves[step].epoch, curves[step].suboptimality, target),
            "end": curves[step].suboptimality[-1],
        }
        for step in sorted(curves)
    ]
    return best, trials


def _better(one: Curve, other: Curve, target: float) -> bool:
    ones, others = (reached(curve.epoch, curve.suboptimality, target) for curve in (one, other))
    if math.isinf(others):
        return math.isfinite(ones) or one.suboptimality[-1] < 0.95 * other.suboptimality[-1]
    return ones < 0.95 * others


def mean_curve(curves: Sequence[Curve]) -> Curve:
    """The mean suboptimality of runs with different seeds, as long as all of them run: what theory speaks of.

    Examples
    --------
    >>> one, other = (Curve("a", 1.0, [0, 1], [0, 5], [0, 1], [1.0, end]) for end in (0.1, 0.3))
    >>> mean_curve([one, other]).suboptimality
    [1.0, 0.2]
    """
    length = min(len(curve.epoch) for curve in curves)
    seconds = np.mean([curve.seconds[:length] for curve in curves], axis=0).tolist()
    mean = np.mean([curve.suboptimality[:length] for curve in curves], axis=0).tolist()
    first = curves[0]
    return Curve(first.name, first.step, first.epoch[:length], first.iteration[:length], seconds, mean, first.promised)


def proxy_times(bound: BoundSampling, iterations: Sequence[float], seed: int = 0) -> Floats:
    """The paper's proxy for time after so many iterations.

    ``Σ_t max_i nnz(A_i)`` over the examples drawn at t or, where the sampling draws chunks, ``Σ_t max_i nnz(G_(i))``:
    the nonzeros of the core that ends last.
    """
    total = np.cumsum([0.0, *work_of_cores(bound, int(iterations[-1]), seed).max(axis=1)])
    return np.asarray(total[np.asarray(iterations, dtype=np.int64)])


def work_of_cores(bound: BoundSampling, count: int, seed: int = 0) -> Floats:
    """Nonzeros of each core in each of so many iterations, for a sampling of τ examples or τ chunks: (count, τ)."""
    pieces = [np.empty((0, 1))]
    for first in range(0, count, 20_000):
        some = min(20_000, count - first)
        draws = bound.draw(first, some, seed)
        nonzeros = bound.problem.examples.nonzeros[draws.indices].astype(np.float64)
        if draws.part_start is not None:
            nonzeros = np.add.reduceat(nonzeros, draws.part_start[:-1])
        pieces.append(nonzeros.reshape(some, -1))
    return np.concatenate(pieces[1:]) if len(pieces) > 1 else pieces[0]
