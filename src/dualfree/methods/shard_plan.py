"""Features owned by threads: how many threads, and how many examples at a time, pay."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from dualfree.arrays import Floats, Indices
from dualfree.examples import Rows
from dualfree.problem import Problem

# In nonzeros of a dfSDCA step, measured (docs/performance.md): what a step costs beside its nonzeros, on one thread and
# on each of several, and what each thread adds to the wait of a batch.
_STEP, _SHARD_STEP, _WAIT = 20.0, 22.0, 50.0
_POWER = 1.5  # of how hard the problem is, in the epochs that batches cost
_TOGETHER = (4, 8, 16, 32)  # examples of a batch
_ALIGNED = 8  # features in a cache line of w
_LONG = 32  # calls until threads that were no help are tried again


@dataclass(frozen=True)
class Plan:
    """Threads, examples of a batch, and the time that plain dfSDCA takes in that of this, both by estimate."""

    threads: int
    together: int
    gain: float


def plan(problem: Problem, n_threads: int) -> Plan:
    """The cheapest of up to `n_threads` threads and of some sizes of batches.

    A step costs each of T threads its part of the row and something besides, and a τ-th of a wait. Batches of τ make
    v_i larger. By the theorem the epochs become ``1 + h/(1 + h) (v/‖A‖² − 1)`` times as many, ``h = l ‖A‖²/(λn)``;
    where h is small fewer were seen, about as many as with the power 1.5 of that fraction.

    Examples
    --------
    >>> import dualfree as df
    >>> X = sparse.csr_array((np.ones(2000), np.arange(2000), np.arange(0, 2001, 100)), shape=(20, 2000))
    >>> problem = df.Problem(X, df.losses.Squared(np.ones(20)), lam=1 / 20)  # 100 words of its own in each row
    >>> chosen = plan(problem, n_threads=2)
    >>> chosen.threads, chosen.together, round(chosen.gain, 1)
    (2, 32, 1.6)
    """
    examples = problem.examples
    z, sharing = examples.stored / problem.n, examples.typical_sharing
    powers = [2**k for k in range(1, 10) if 2**k < n_threads]
    plans = []
    for threads in {min(count, problem.d) for count in (*powers, n_threads)}:
        for together in _TOGETHER:
            stretch = 1 + (problem.hardness / (1 + problem.hardness)) ** _POWER * (together - 1) * sharing
            cost = (z / threads + _SHARD_STEP + _WAIT * threads / together) * stretch
            plans.append(Plan(threads, together, (z + _STEP) / cost))
    return max(plans, key=lambda each: (each.gain, -each.threads))


class Turns:
    """Whether the next visits are made by all threads or by one: whichever was faster, by the clock.

    One begins, to have something to compare with. Where all threads took longer, one goes on; they are tried again
    soon, for it may have been chance, and after that not for long: to wait for a thread that has no core costs
    milliseconds.

    Examples
    --------
    >>> turns, seen = Turns(), ""
    >>> for _ in range(40):  # on this machine all threads take twice as long as one
    ...     seen += "1" if turns.alone else "T"
    ...     turns.learn(1.0 if turns.alone else 2.0)
    >>> print(seen)
    1T1T11111111111111111111111111111111T111
    """

    def __init__(self) -> None:
        self.alone = True
        self._by_one = np.inf  # seconds for a visit
        self._failures, self._left = 0, 1

    def learn(self, seconds: float) -> None:
        """Take in how long a visit took."""
        if self.alone:
            self._by_one = seconds
            self._left -= 1
            self.alone = self._left > 0
        elif seconds > self._by_one:
            self._failures += 1
            self.alone, self._left = True, 1 if self._failures == 1 else _LONG
        else:
            self._failures = 0


def ordered(examples: Rows) -> bool:
    """Whether the columns of every row increase, as those of dense rows do."""
    return not sparse.issparse(examples.X) or bool(examples.native[-1])


def feature_cuts(counts: Floats, threads: int) -> Indices:
    """Where each thread's features begin and the last one's end: about as many nonzeros for each.

    Examples
    --------
    >>> feature_cuts(np.ones(100), 3).tolist()
    [0, 32, 64, 100]
    """
    before = np.cumsum(counts)
    shares = before[-1] * np.arange(1, threads) / threads
    inner = np.searchsorted(before, shares) + 1
    if len(counts) >= 2 * _ALIGNED * threads:
        inner = inner // _ALIGNED * _ALIGNED
    return np.concatenate([[0], np.minimum(inner, len(counts)), [len(counts)]]).astype(np.int64)
