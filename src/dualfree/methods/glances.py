"""Glances at a run of dfSDCA: value and gap of a w that is ``(1/λn) Σ A_i α_i``, without a sum over features."""

import math
from functools import cached_property
from typing import NamedTuple

from dualfree import memory
from dualfree.arrays import Floats
from dualfree.inner import inner
from dualfree.methods.base import Glance, State
from dualfree.methods.newton_plan import GOLDEN
from dualfree.problem import Problem

_RUN = 8  # examples side by side in a sample
_FEWEST, _SHARE = 128, 1 / 16  # examples of a sample
_WORTH_WHILE = 200_000  # products of a glance: below, to ask a sample first costs as much


class _Sums(NamedTuple):
    """``Σ φ_i``, the Fenchel terms, the examples that these are of, and ``Σ |a_i − α_i|``."""

    total: float
    fenchel: float
    examples: int
    outside: float


class Glances:
    """Glances at the states of one run; the margins of the last one are kept for an evaluation at the same point."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._margins: Floats | None = None
        self._at = -1  # the iteration of these

    def at_all(self, state: State, n_threads: int) -> Glance | None:
        """By all examples: with what rounding may have done to w (see `Drift`), a proof."""
        problem = self._problem
        if not problem.settles:
            return None
        if self._margins is None:
            self._margins = memory.empty(problem.n)
        loss, self._at = problem.loss.native, state.iteration
        seen = problem.examples.fenchel(loss, state.w, state.alpha, self._margins, n_threads=n_threads)
        return self._glance(state, _Sums(*seen[:2], problem.n, seen[2]))

    def at_some(self, state: State) -> Glance | None:
        """By a sixteenth of the examples, others each time: an estimate, and no proof; None where it would not pay.

        The gap falls by half in a fraction of an epoch, and the estimate is off by less than that for most.
        """
        problem, n = self._problem, self._problem.n
        runs = math.ceil(max(_FEWEST, _SHARE * n) / _RUN)
        if not problem.settles or problem.examples.products < _WORTH_WHILE or 2 * runs * _RUN > n:
            return None
        stride = n // runs
        first = int(state.iteration * GOLDEN % 1.0 * stride)
        seen = problem.examples.fenchel_of_runs(problem.loss.native, state.w, state.alpha, first, stride, _RUN)
        return self._glance(state, _Sums(*seen, 0.0))

    def margins(self, state: State) -> Floats | None:
        """``A_iᵀw`` of all examples, if there was a glance at all of them here."""
        return self._margins if self._at == state.iteration else None

    def _glance(self, state: State, sums: _Sums) -> Glance:
        lam = self._problem.lam
        value, gap = sums.total / sums.examples + 0.5 * lam * inner(state.w, state.w), sums.fenchel / sums.examples
        off = state.drift.bound(state.iteration, self._reach) + self._reach * sums.outside
        return Glance(value, gap, gap + 0.5 * lam * off * off)

    @cached_property
    def _reach(self) -> float:
        """How far w moves at most where an α_i moves by one."""
        return math.sqrt(self._problem.examples.largest_square_norm) / (self._problem.lam * self._problem.n)
