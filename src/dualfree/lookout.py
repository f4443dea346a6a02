"""When to evaluate: an evaluation costs about an epoch, so that one after each epoch would double the time of a fit."""

import math
from typing import TYPE_CHECKING, NamedTuple

from dualfree.arrays import largest_of
from dualfree.limits import Limits
from dualfree.result import Certificate

if TYPE_CHECKING:
    from dualfree.methods.base import Glance, Method
    from dualfree.problem import Problem

_SHARED = 2.5  # what examples that are not orthogonal may add to a gradient, squared
_STALE = 16.0, 0.15  # epochs after which a ratio is asked for again: so many, or this share of those before
# How far above the goal the gap may be, and for how many epochs, to wait until it is there, where the bound by the
# gradient is: there it falls about 2.5 times in a quarter of an epoch, and a gradient costs three quarters of one.
_PATIENCE, _WAIT = 15.0, 1.0
_AHEAD = 4.0  # epochs for which a kernel may ask by itself
_FIRST_LOOK = 8.0  # epochs after which to look in any case; then at twice as many, and so on


class Watch(NamedTuple):
    """Questions that the moves of α alone answer, so that a kernel can ask them by itself.

    After each `every` epochs, and not beyond `until`: while ``factor`` times what α moved since the last one is above
    ``goal``, the run goes on. Else a kernel may look at all examples by itself, and go on by the `terms` of
    `Lookout.promising` (share, margin, tol, absolute_tol, patience, wait), see ``cpp/kernels/outlook.hpp``.
    """

    every: float
    until: float
    factor: float
    goal: float
    terms: tuple[float, ...] = ()


def gradient_share(problem: "Problem") -> float:
    """How much of the Fenchel gap the bound by the gradient may be, where that is the smaller; a guess.

    A residual ``r_i = φ_i' + α_i`` leaves a Fenchel gap of at least ``r_i²/(2 l_i n)``, and of ``‖∇P‖²/(2λ)``, if all
    A_i were orthogonal, ``‖A_i‖² r_i²/(2 λ n²)``: where ``h = l ‖A‖²/(λn)`` is small, the bound will be h times the
    gap, or somewhat more.
    """
    return min(1.0, _SHARED * problem.hardness)


class Lookout:
    """Predicts the gap from what α moved in an epoch.

    φ_i* is 1/l_i-strongly convex, so an example whose α_i wants to move by δ_i has a Fenchel gap of at least
    ``δ_i²/(2 l_i)``: while ``(1/n) Σ δ_i²/(2 l_i)`` is far above the tolerance, the gap is too. After an evaluation the
    ratio of the gap to that sum is known, and changes slowly; before, `Sampling.looks` has a guess.
    """

    def __init__(self, method: "Method", limits: Limits, from_zero: bool) -> None:
        largest = largest_of(method.problem.common_l)
        problem = method.problem
        looks = method.sampling.sampling.looks
        self._margin = looks.margin
        self._share = gradient_share(problem)
        ratio = (
            looks.ratio * (1 + problem.hardness) ** looks.power * self._share * looks.every / method.sampling.look_every
        )
        self._ratio = ratio / (2 * largest * problem.n) if largest > 0 else 0.0
        self._limits, self._value, self._next, self._learnt = limits, math.inf, _FIRST_LOOK, 0.0
        # Epochs between questions; nobody who begins at zero is done within one.
        self._every = method.sampling.look_every
        self._first = max(1.0, self._every) if from_zero else self._every
        self._waits = math.inf  # since this epoch, for a gap that is small enough by itself
        self._missed = 1.0  # times that the gap was what a sample of the examples had said

    def stride(self, epoch: float) -> float:
        """Epochs from here to the next question."""
        return self._every if epoch > 0 else self._first

    def late(self, epoch: float) -> bool:
        """Whether it is time to see how things stand."""
        return epoch >= self._next

    def due(self, moved: float, epoch: float) -> bool:
        """Whether the tolerance may have been reached, by what α `moved` since the last question."""
        return not self._margin * self._ratio * self._usual(moved, epoch) > self._limits.goal(self._value)

    def watch(self, epoch: float) -> Watch | None:
        """`due`, at `epoch` and after it, up to the first question that may take more than that."""
        if epoch == self._first != self._every:
            return None
        until = min(self._next, self._stale_at, epoch + _AHEAD)
        until = epoch + self._every * max(0, math.ceil((until - epoch) / self._every))
        limits, waiting = self._limits, math.isfinite(self._waits)  # since when, no kernel knows
        terms = () if waiting else (self._share, self._margin, limits.tol, limits.absolute_tol, _PATIENCE, _WAIT)
        return Watch(self._every, until, self._margin * self._ratio, limits.goal(self._value), terms)

    def _usual(self, moved: float, epoch: float) -> float:
        """Of a first stretch, which may be longer, the part that is usual later."""
        return moved * self._every / self._first if epoch == self._first else moved

    def stale(self, epoch: float) -> bool:
        """Whether the ratio is so old that a glance, if it is cheap, is worth while."""
        return epoch >= self._stale_at

    @property
    def _stale_at(self) -> float:
        return self._learnt + max(_STALE[0], _STALE[1] * self._learnt)

    def far(self, peek: "Glance", moved: float, epoch: float) -> bool:
        """Whether a sample of the examples says that it is not time yet; if so, learn from it."""
        seen = peek._replace(gap=self._missed * peek.gap, proven=self._missed * peek.proven)
        return seen.proven > self._limits.goal(seen.value) and not self.promising(seen, moved, epoch)

    def compare(self, peek: "Glance", glance: "Glance") -> None:
        """Take in that a sample had promised too much: most of a gap may be that of few examples."""
        if peek.gap > 0 and math.isfinite(glance.gap):
            self._missed = max(1.0, glance.gap / peek.gap)

    def promising(self, glance: "Glance", moved: float, epoch: float) -> bool:
        """Whether a proof would show that the tolerance has been reached; if not, learn from the glance."""
        gap, goal = glance.gap, self._limits.goal(glance.value)
        if self._share * gap > goal:
            self._learn(glance.value, self._share * gap, moved, epoch)
            return False
        # The gradient would be a proof; but to go on until a glance is one may take less than to make a gradient.
        self._waits = min(self._waits, epoch)
        if gap > _PATIENCE * goal or epoch >= self._waits + _WAIT or not math.isfinite(glance.proven):
            return True
        self._learn(glance.value, gap, moved, epoch)
        return False

    def learn(self, proof: Certificate, moved: float, epoch: float) -> None:
        """Take in an evaluation."""
        self._next = max(_FIRST_LOOK, 2 * epoch)
        if proof.duality_gap > 0 and math.isfinite(proof.duality_gap) and math.isfinite(proof.gradient_bound):
            self._share = min(1.0, proof.gradient_bound / proof.duality_gap)
        self._learn(proof.value, proof.gap, moved, epoch)

    def _learn(self, value: float, gap: float, moved: float, epoch: float) -> None:
        self._value, self._learnt = value, epoch
        if moved > 0 and math.isfinite(gap):
            self._ratio = gap / self._usual(moved, epoch)

    def state(self) -> list[float]:
        """What a checkpoint keeps of it."""
        return [self._ratio, self._value, self._next, self._learnt, self._share, self._waits, self._missed]

    def restore(self, state: list[float]) -> None:
        """Go on from there."""
        self._ratio, self._value, self._next, self._learnt, self._share, self._waits, self._missed = state
