"""Glances at a run of dfSDCA: value and gap of a w that is ``(1/λn) Σ A_i α_i``, without a sum over features."""

import math
from functools import cached_property
from typing import Any

from dualfree import memory
from dualfree.arrays import Floats
from dualfree.inner import inner
from dualfree.methods.base import Glance, Passed, State
from dualfree.methods.newton_plan import GOLDEN
from dualfree.problem import Problem

_RUN = 8  # examples side by side in a sample
_FEWEST, _SHARE = 128, 1 / 16  # examples of a sample
_WORTH_WHILE = 200_000  # products of a glance: below, to ask a sample first costs as much


class Glances:
    """Glances at the states of one run; the margins of the last one are kept for an evaluation at the same point."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._at = -1  # the iteration of these
        self._by_kernel: tuple[int, float, float, float] = (-1, math.nan, math.nan, math.nan)

    def by_kernel(self, terms: tuple[float, ...]) -> tuple[Any, ...] | None:
        """What a kernel takes to glance at all examples by itself; None where that costs more than a call of it."""
        problem = self._problem
        if not terms or not problem.settles or problem.examples.products >= _WORTH_WHILE:
            return None
        return (problem.lam, *terms, self._margins)

    def take_in(
        self, state: State, asked: list[int], moved: list[float], looks: list[tuple[int, float, float, float]]
    ) -> list[Passed]:
        """What a kernel has seen at some of its questions: the last one is kept if it is of this state."""
        passed = [Passed(asked[k], moved[k], Glance(value, gap, gap)) for k, value, gap, _ in looks]
        if passed and passed[-1].iteration == state.iteration:
            self._at, self._by_kernel = state.iteration, (state.iteration, *looks[-1][1:])
            passed.pop()
        return passed

    def at_all(self, state: State, n_threads: int) -> Glance | None:
        """By all examples: with what rounding may have done to w (see `Drift`), a proof."""
        problem = self._problem
        if not problem.settles:
            return None
        at, *seen = self._by_kernel
        if at == state.iteration:
            return self._glance(state, *seen)
        loss, self._at = problem.loss.native, state.iteration
        total, fenchel, outside = problem.examples.fenchel(
            loss, state.w, state.alpha, self._margins, n_threads=n_threads
        )
        return self._glance(state, *self._means(state, total, fenchel, problem.n), outside)

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
        return self._glance(state, *self._means(state, *seen), 0.0)

    def margins(self, state: State) -> Floats | None:
        """``A_iᵀw`` of all examples, if there was a glance at all of them here."""
        return self._margins if self._at == state.iteration else None

    def _means(self, state: State, total: float, fenchel: float, examples: int) -> tuple[float, float]:
        """``P(w)`` and the gap, from ``Σ φ_i`` and the Fenchel terms of so many examples."""
        return total / examples + 0.5 * self._problem.lam * inner(state.w, state.w), fenchel / examples

    def _glance(self, state: State, value: float, gap: float, outside: float) -> Glance:
        """With what w may be off; `outside` is ``Σ |a_i − α_i|``."""
        off = state.drift.bound(state.iteration, self._reach) + self._reach * outside
        return Glance(value, gap, gap + 0.5 * self._problem.lam * off * off)

    @cached_property
    def _margins(self) -> Floats:
        return memory.empty(self._problem.n)

    @cached_property
    def _reach(self) -> float:
        """How far w moves at most where an α_i moves by one."""
        return math.sqrt(self._problem.examples.largest_square_norm) / (self._problem.lam * self._problem.n)
