"""Visits to the examples that move: the further α_i went at its last visit, the sooner the next one."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices, whole
from dualfree.samplings.adaptive import gain_sizes
from dualfree.samplings.base import BoundSampling, Drawer, Draws, Looks
from dualfree.samplings.serial import Shuffled, _Even

if TYPE_CHECKING:
    from dualfree.lookout import Watch
    from dualfree.problem import Problem

_GROWTH = 16.0  # of an example's unrest in an epoch that passes without a visit
_LEAST = 1e-6  # unrest after a visit, beside that which is sure of a visit: nobody is forgotten
_SMALLEST_UNIT = 1e-100
_MANY = 1 << 18  # examples, of which each visit would have to wait for memory if neighbours came at random times
# Work of an epoch below which it is asked after whole ones alone whether a run is done: less is not worth it.
_WORTH_ASKING = 250_000
_A_VISIT = 20  # work of a visit beside its products


class Restless(_Even):
    """Rounds of n/8 visits, without a pass over the data to choose them.

    After one visit to each example, the next rounds visit i with probability ``min(1, u_i/t)``, t so that as many are
    expected. u_i is how far the last visit moved α_i, times ``√(‖A_i‖² + nλ/l_i)``, and √2 times as much for each
    round since: what hardly moves is left in peace for a while, and looked at again later. Steps that rest on p (θ/p_i)
    are refused; ``implicit`` and ``per-example`` steps do not rest on it.

    The visits of a round are in random order. Where there are many examples (2¹⁸ and more) runs of 32 neighbours are,
    and within 16,384 visits the visits: neighbours come within a short time, so that what they have in a line or a page
    of memory comes once for all of them.

    Parameters
    ----------
    rounds : int
        In an epoch, 8 by default; u_i grows 16 times in an epoch in any case. With fewer there is less to choose, and
        choices are older: 4 cost next to no epochs where λn is near 1, and a third more where it is 0.01 (rcv1).

    Notes
    -----
    No theorem here covers it. With implicit steps every visit raises the dual, and every example is visited again and
    again, at the latest when its u_i has grown to t; the certificate does not depend on the order.
    Memory: 3n numbers, and those of a round.

    Examples
    --------
    >>> import dualfree as df
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 5))
    >>> problem = df.Problem(X, df.losses.Logistic(X @ np.ones(5) > 0), lam=1 / 4000)  # most examples are easy
    >>> epochs = {}
    >>> for sampling in ("shuffled", "restless"):
    ...     epochs[sampling] = df.solve(problem, method="dfsdca", sampling=sampling).epochs
    >>> epochs["restless"] < epochs["shuffled"]
    True
    """

    covered = False
    adapts = True
    looks = Looks(every=0.25, ratio=1.0, power=2.0, margin=1.0)

    def __init__(self, rounds: int = 8) -> None:
        self.rounds = whole("rounds", rounds, 1)

    def bind(self, problem: "Problem") -> "RestlessBound":
        problem.require_convex("sampling='restless'")
        return RestlessBound(self, problem, self.probabilities(problem), self.eso(problem))


@dataclass
class _Memory:
    """What a run has taught: u_i in units of the first round, so that growth costs nothing, and the round under way."""

    unrest: Floats
    unit: float = 1.0
    sure: float = 0.0  # the unrest that was sure of a visit in the last round
    begin: int = 0
    end: int = 0
    order: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    before: Floats = field(default_factory=lambda: np.empty(0))  # α of those examples when the round began


@dataclass(frozen=True)
class Rounds:
    """Whole rounds to come, for a kernel that visits and learns by itself."""

    bound: "RestlessBound"
    first: int  # the number of the first one,
    count: int  # and how many these are
    seed: int
    order: Indices | None  # of the visits that do not depend on what was learnt, which are the first ones
    every: int  # rounds from one question to the next, of which the last ends them if no other does
    factor: float  # a question asks whether this, times what α moved since the last one,
    goal: float  # is above this
    terms: tuple[float, ...]  # what a kernel makes of a look of its own, see `Watch`

    @property
    def native(self) -> tuple[Any, ...]:
        """What the kernel takes, see ``cpp/kernels/rounds.hpp``."""
        bound, now = self.bound, self.bound._now
        course = (self.seed, self.first, bound.round_length, self.count, self.order)
        learning = (bound._sizes, bound._growth, _LEAST, _SMALLEST_UNIT)
        question = (self.every, self.factor, self.goal)
        return (*course, *learning, now.unrest, now.unit, now.sure, bound._room, *question, bound._near)

    def end(self, unit: float, sure: float, questions: int) -> list[int]:
        """Take in what the kernel says when it has come to the last of so many questions; the iteration of each."""
        passed = [min(k * self.every, self.count) for k in range(1, questions + 1)]
        asked = [self.bound._begin(self.first + rounds) for rounds in passed]
        now = self.bound._now
        now.unit, now.sure = unit, sure
        now.begin = now.end = asked[-1]
        return asked


class RestlessBound(BoundSampling):
    """`Restless` on one problem, and what it remembers of a run."""

    def __init__(self, sampling: Restless, problem: "Problem", p: Floats, v: Floats) -> None:
        super().__init__(sampling, problem, p, v, None)
        set_once = object.__setattr__  # the class is frozen for its users
        set_once(self, "_sizes", gain_sizes(problem, v))
        rounds = sampling.rounds if problem.n >= 2 * sampling.rounds else 1
        set_once(self, "round_length", problem.n / rounds)
        set_once(self, "_growth", _GROWTH ** (1 / sampling.rounds))
        set_once(self, "_shuffled", Shuffled().drawer(problem, p))
        set_once(self, "_near", problem.n >= _MANY)
        set_once(self, "_by_windows", (-1, np.empty(0, dtype=np.int64)))
        set_once(self, "_now", _Memory(memory.zeros(problem.n)))
        set_once(self, "_alpha", np.zeros(0))
        set_once(self, "_room", memory.empty(problem.n + 1, np.int64))

    _sizes: Floats
    round_length: float  # of a round; the ends are the nearest whole numbers
    _growth: float  # of unrest in a round
    _shuffled: Drawer
    _by_windows: tuple[int, Indices]  # a seed, and the first visits
    _near: bool  # whether neighbours are visited within a short time
    _now: _Memory
    _alpha: Floats  # of the run, as it changes
    _room: Indices

    @cached_property
    def look_every(self) -> float:
        work = self.problem.examples.products + _A_VISIT * self.problem.n
        return self.sampling.looks.every if work >= _WORTH_ASKING else 1.0

    @property
    def fresh_until(self) -> int:
        return self._now.end

    @property
    def memory(self) -> dict[str, NDArray[Any]]:
        now = self._now
        numbers = np.array([now.unit, now.sure, now.begin, now.end])
        return {"unrest": now.unrest, "order": now.order, "before": now.before, "numbers": numbers}

    def recall(self, memory: dict[str, NDArray[Any]]) -> None:
        unit, sure, begin, end = memory["numbers"].tolist()
        recalled = _Memory(memory["unrest"], unit, sure, int(begin), int(end), memory["order"], memory["before"])
        object.__setattr__(self, "_now", recalled)

    def refresh(self, w: Floats, alpha: Floats, offset: float = 0.0, iteration: int = 0) -> None:
        """Learn how far α moved in the round that has ended."""
        now = self._now
        if iteration == 0:
            now = _Memory(now.unrest)
            object.__setattr__(self, "_now", now)
        elif len(now.order):
            self._learn(now, alpha)
        now.begin, now.end = iteration, self._begin(self._number(iteration) + 1)
        now.order = now.order[:0]
        object.__setattr__(self, "_alpha", alpha)

    def _number(self, iteration: int) -> int:
        """That of the round which begins with this iteration."""
        return round(iteration / self.round_length)

    def _begin(self, number: int) -> int:
        """The first iteration of a round."""
        return round(number * self.round_length)

    def rounds(self, first: int, until: int, seed: int, watch: "Watch | None" = None) -> Rounds | None:
        now, n = self._now, self.problem.n
        if now.begin != first or len(now.order) or until < now.end:
            return None  # within a round, or not a whole one
        number = self._number(first)
        count = int((until - first) / self.round_length) + 1
        while self._begin(number + count) > until:
            count -= 1
        every = count
        question: tuple[float, float, tuple[float, ...]] = (math.inf, 0.0, ())
        if watch is not None and (often := max(1, round(watch.every * n / self.round_length))) <= every:
            count = every // often * often
            every, question = often, watch[2:]
        ordered = min(self._begin(number + count), n) - first
        order = self._first_visits(seed, first, ordered) if ordered > 0 else None
        return Rounds(self, number, count, seed, order, every, *question)

    def _first_visits(self, seed: int, first: int, count: int) -> Indices:
        """Those of the first epoch, in which each example has one."""
        if not self._near:
            return self._shuffled(seed, first, count).indices
        if self._by_windows[0] != seed:
            object.__setattr__(self, "_by_windows", (seed, kernels.draw_by_windows(seed, self.problem.n)))
        return self._by_windows[1][first : first + count]

    def _learn(self, now: _Memory, alpha: Floats) -> None:
        places, least = self.problem.examples.places, _LEAST * now.sure
        kernels.learn_unrest(places, now.order, now.before, alpha, self._sizes, now.unit, least, now.unrest)
        now.unit /= self._growth
        if now.unit < _SMALLEST_UNIT:
            now.unrest /= now.unit
            now.sure, now.unit = now.sure / now.unit, 1.0

    def _draw(self, seed: int, first: int, count: int) -> Draws:
        now, n = self._now, self.problem.n
        if not now.begin <= first < now.end:  # nobody is telling how the run goes
            return self._shuffled(seed, first, count)
        if not len(now.order):
            visits = now.end - now.begin
            if first < n:
                now.order = self._first_visits(seed, now.begin, visits)
            else:
                if now.sure == 0:  # the first round of the kind, or nothing moved in the last one
                    np.maximum(now.unrest, _LEAST * float(now.unrest.max()), out=now.unrest)
                drawn = (now.unrest, visits, self._near, now.sure, self._room)
                now.sure = kernels.draw_restless(seed, now.begin, *drawn)
                now.order = self._room[:visits]
            now.before = self._alpha[self.problem.examples.positions(now.order)]
        return Draws(now.order[first - now.begin : first - now.begin + count])
