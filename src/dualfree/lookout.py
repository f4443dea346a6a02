"""When to evaluate: an evaluation costs about an epoch, so that one after each epoch would double the time of a fit."""

import math
from typing import TYPE_CHECKING

import numpy as np

from dualfree.limits import Limits

if TYPE_CHECKING:
    from dualfree.methods.base import Glance, Method

_STALE = 1.15  # the share of further epochs after which a ratio is asked for again
_FIRST_LOOK = 8.0  # epochs after which to look in any case; then at twice as many, and so on


class Lookout:
    """Predicts the gap from what α moved in an epoch.

    φ_i* is 1/l_i-strongly convex, so an example whose α_i wants to move by δ_i has a Fenchel gap of at least
    ``δ_i²/(2 l_i)``: while ``(1/n) Σ δ_i²/(2 l_i)`` is far above the tolerance, the gap is too. After an evaluation the
    ratio of the gap to that sum is known, and changes slowly; before, `Sampling.looks` has a guess.
    """

    def __init__(self, method: "Method", limits: Limits) -> None:
        largest = float(method.problem.l.max())
        problem = method.problem
        condition = 1 + float(np.mean(problem.l)) * problem.examples.typical_square_norm / (problem.lam * problem.n)
        looks = method.sampling.sampling.looks
        self._margin = looks.margin
        ratio = looks.ratio * condition**looks.power
        self._ratio = ratio / (2 * largest * problem.n) if largest > 0 else 0.0
        self._limits, self._value, self._next, self._learnt = limits, math.inf, _FIRST_LOOK, 0.0

    def late(self, epoch: float) -> bool:
        """Whether it is time to see how things stand."""
        return epoch >= self._next

    def due(self, moved: float) -> bool:
        """Whether the tolerance may have been reached."""
        return not self._margin * self._ratio * moved > self._limits.goal(self._value)

    def stale(self, epoch: float) -> bool:
        """Whether the ratio is so old that a glance, if it is cheap, is worth while."""
        return epoch >= max(_FIRST_LOOK, _STALE * self._learnt)

    def looked(self, epoch: float) -> None:
        """Note that there was an evaluation."""
        self._next = max(_FIRST_LOOK, 2 * epoch)

    def learn(self, glance: "Glance", moved: float, epoch: float) -> None:
        """Take in a value and a gap."""
        self._value, self._learnt = glance.value, epoch
        if moved > 0 and math.isfinite(glance.gap):
            self._ratio = glance.gap / moved

    def state(self) -> list[float]:
        """What a checkpoint keeps of it."""
        return [self._ratio, self._value, self._next, self._learnt]

    def restore(self, state: list[float]) -> None:
        """Go on from there."""
        self._ratio, self._value, self._next, self._learnt = state
