"""What keeps dfSDCA from diverging where no theorem does: P must not rise for long."""

from dataclasses import replace

import numpy as np

from dualfree.methods.base import State
from dualfree.problem import Problem
from dualfree.steps import StepRule

_ROUNDING = 1e-14  # of P, which its sum may be off by
_EPOCHS = 10  # of which the highest value counts: with α far from −φ', noise alone makes P rise now and then
_GROWTH = 1.5  # of a shortened step after an epoch that went well
_LEAST = 2.0**-40  # of the first step: below, nothing moves any more


class Safeguard:
    """An epoch after which P is higher than after each of the last ten is taken back, and the step is halved.

    After one that counts, a shortened step grows again, up to the first one. The highest of ten values in a row never
    rises, and P is bounded below: there is no divergence. A step moves w by ``−(θ/λ)∇P(w)`` on average, whatever the
    losses, so that runs end where the gradient is small. That is all: nothing is known of other minima. It costs a
    pass an epoch, and a copy of w and α.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.factor = 1.0
        self._kept: State | None = None
        self._values: list[float] = []

    @property
    def exhausted(self) -> bool:
        """Whether the step has become too short to matter."""
        return self.factor < _LEAST

    def keep(self, state: State) -> None:
        """Take this for the point to come back to."""
        self._kept, self._values = state.copy(), [self.problem.value(self._point(state))]

    def check(self, state: State, rule: StepRule) -> StepRule:
        """Keep the state, or set it back; the rule with the step for the next epoch."""
        assert self._kept is not None
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(state.w).all() and np.isfinite(state.alpha).all()
            value = self.problem.value(self._point(state)) if finite else np.inf
        highest = max(self._values)
        if value <= highest + _ROUNDING * abs(highest):
            self._kept, self._values = state.copy(), [*self._values[1 - _EPOCHS :], value]
            change = min(_GROWTH, 1 / self.factor)
        else:
            state.w[:], state.alpha[:], state.centre = self._kept.w, self._kept.alpha, self._kept.centre
            change = 0.5
        self.factor *= change
        return replace(rule, scale=change * rule.scale, theta=change * rule.theta)

    def _point(self, state: State) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The w of the problem; with an intercept its last entry is not that of the state."""
        if not self.problem.intercept:
            return state.w
        point = state.w.copy()
        point[-1] = state.centre + self.problem.examples.constant_value * state.w[-1]
        return point
