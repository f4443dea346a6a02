"""Which method on a cluster, and how long a round: by estimated seconds, from the shape of the problem alone.

Neither the number of workers nor any clock goes into it, so that one partitioning and one seed give one answer.
"""

import math

import numpy as np

from dualfree.costs import Costs
from dualfree.distributed.problem import ClusterProblem
from dualfree.methods.newton_plan import MOST_FEATURES, hessian_passes, sample_size

ROUND = 0.1  # seconds that a round of a fit costs beside its steps, where workers, scheduler and client share two cores
NONZERO = 5e-9  # seconds for a nonzero of a dfSDCA step on data larger than the caches
BYTE = 2e-9  # seconds for each byte of a vector that goes to the workers and comes back
_STEP, _PASS_NONZERO, _PASS_ROW = (
    20.0,
    0.85,
    10.0,
)  # in nonzeros: a step beside its row, a pass for each nonzero and row
_STRETCH = 1.5  # see `stretch`
_SHORTEST, _LONGEST = 1 / 32, 4.0  # passes a round
_EPOCHS, _FEWEST = (
    0.3,
    6.0,
)  # with one partition, for each factor e of the tolerance and each unit of the condition number
_NEWTON_PASSES, _NEWTON_HESSIANS = 9.0, 2.0
_LBFGS_PASSES, _LBFGS_POWER, _LBFGS_FEWEST = 1.3, 0.43, 30.0
_INTERCEPT_ROUNDS = 4.0  # that each pass takes for the intercept


def round_overhead(problem: ClusterProblem) -> float:
    """Seconds of a round beside the work."""
    return ROUND + 8 * problem.d * BYTE


def local_epoch(problem: ClusterProblem) -> float:
    """Seconds of a pass of dfSDCA steps over one of the partitions."""
    return NONZERO * (problem.facts.stored + _STEP * problem.n) / problem.crew.count


def stretch(partitions: int) -> float:
    """By how much the epochs grow for each pass that a round is long: ``1 + stretch · passes`` times those of one part.

    Read off the counts in ``docs/cluster.md`` for 2 and 8 partitions.
    """
    return _STRETCH * partitions**0.75 if partitions > 1 else 0.0


def unlike(problem: ClusterProblem) -> float:
    """How much the partitions differ, up to 1: hardly, where each has many examples for each feature."""
    return min(1.0, problem.d * problem.crew.count / problem.n)


def best_length(overhead: float, epoch: float, partitions: int, unlike: float = 1.0) -> float:
    """Passes h a round that make ``(1 + stretch · h)(epoch + overhead/h)`` least, as a power of two.

    Examples
    --------
    >>> best_length(overhead=0.01, epoch=0.1, partitions=2), best_length(0.01, 0.1, 1)
    (0.25, 1.0)
    """
    if partitions == 1:
        return 1.0
    wished = math.sqrt(overhead / (unlike * stretch(partitions) * epoch))
    return float(np.clip(2.0 ** round(math.log2(wished)), _SHORTEST, _LONGEST))


def passes_a_round(problem: ClusterProblem) -> float:
    """Passes over its block that a worker makes between two reductions."""
    return best_length(round_overhead(problem), local_epoch(problem), problem.crew.count, unlike(problem))


def estimate(problem: ClusterProblem, tol: float) -> Costs:
    """What each method would cost, in passes of dfSDCA with their rounds."""
    n, d, K = problem.n, problem.d, problem.crew.count
    nonzeros = float(problem.facts.stored)
    digits = math.log(1 / min(max(tol, 1e-14), 0.1))
    hardness = problem.hardness
    overhead, length = round_overhead(problem), passes_a_round(problem)
    epoch = local_epoch(problem) + overhead / length
    one_pass = NONZERO * (_PASS_NONZERO * nonzeros + _PASS_ROW * n) / K + overhead
    seconds = {}
    if not problem.intercept:
        epochs = max(_FEWEST, _EPOCHS * digits * (1 + hardness)) * (1 + unlike(problem) * stretch(K) * length)
        seconds["dfsdca"] = epochs * epoch + one_pass
    else:
        one_pass += _INTERCEPT_ROUNDS * ROUND
    if d <= MOST_FEATURES:
        hessian = hessian_passes(problem, sample_size(problem)) * NONZERO * nonzeros / K + 8 * d * d * BYTE
        seconds["newton"] = _NEWTON_PASSES * one_pass + _NEWTON_HESSIANS * hessian
    else:
        passes = max(_LBFGS_FEWEST, _LBFGS_PASSES * digits * (1 + hardness) ** _LBFGS_POWER)
        seconds["lbfgs"] = passes * one_pass
    return Costs({name: value / epoch for name, value in seconds.items()}, one_pass / epoch)
