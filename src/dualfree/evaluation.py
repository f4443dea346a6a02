"""What a pass tells of a point: its value, its gradient, its duality gap."""

from typing import NamedTuple

import numpy as np

from dualfree import memory
from dualfree.arrays import Floats
from dualfree.inner import inner


class Squares(NamedTuple):
    """``‖w‖²``, ``‖∇P(w)‖²`` and ``‖w − ᾱ‖²``."""

    w: float
    gradient: float
    apart: float


_NEAR = 0.05  # of a step: the square of that, of what the step wins, is left
_NO_SQUARES = Squares(np.nan, np.inf, np.nan)


class Settled(NamedTuple):
    """``Σ φ_i``, the Fenchel terms, ``∇P(w)``, ``ᾱ = (1/λn) Σ A_i a_i``, and their squares."""

    total: float
    fenchel: float
    gradient: Floats
    combination: Floats
    squares: Squares


class Evaluation(NamedTuple):
    """One look at ``(w, α)``: the value, its gradient, and the duality gap where a conjugate is known.

    `duality_gap` is infinite where it is not known. `combination` is ``(1/λn) Σ A_i a_i`` with a the α moved into
    the domain of the conjugates, or None. With μ > 0 there is no gradient, and `gradient` is `L2L1.residual`.
    `squares` are there where the pass has made them.
    """

    value: float
    gradient: Floats
    duality_gap: float
    combination: Floats | None
    squares: Squares | None = None

    @classmethod
    def without_gradient(cls, value: float, duality_gap: float, d: int) -> "Evaluation":
        """Where nobody has made a gradient; infinity stands in for it."""
        return cls(value, memory.repeated(np.inf, d), duality_gap, None, _NO_SQUARES)

    @property
    def gradient_square(self) -> float:
        """``‖∇P(w)‖²``."""
        return inner(self.gradient, self.gradient) if self.squares is None else self.squares.gradient


class Look(NamedTuple):
    """What one pass tells of a point: ``w``, its evaluation, ``A_iᵀw`` and ``φ_i'(A_iᵀw)``.

    What is known without a pass is off by so many times what a pass is off by rounding: `blur`.
    """

    w: Floats
    evaluation: Evaluation
    margins: Floats
    derivatives: Floats
    blur: float = 1.0

    def least_on_line(self, there: "Look") -> tuple[float, float]:
        """T and P at ``w + t (v − w)``, v that of another look, where P is least if its curvature is the same all over.

        P is a parabola on that line then, of which the slopes at both points tell the least. Where that is not far from
        v, or nowhere, t is 1.
        """
        way = there.w - self.w
        slope, slope_there = inner(self.evaluation.gradient, way), inner(there.evaluation.gradient, way)
        bend = slope_there - slope
        if not bend > 0 or abs(slope_there) <= _NEAR * bend:
            return 1.0, there.evaluation.value
        t = -slope / bend
        return t, self.evaluation.value + 0.5 * t * slope

    def blur_at(self, t: float, there: "Look") -> float:
        """That of what both tell of the point ``w + t (v − w)``."""
        return abs(1 - t) * self.blur + abs(t) * there.blur
