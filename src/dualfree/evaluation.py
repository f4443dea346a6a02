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
    """What one pass tells of a point: ``w``, its evaluation, ``A_iᵀw`` and ``φ_i'(A_iᵀw)``."""

    w: Floats
    evaluation: Evaluation
    margins: Floats
    derivatives: Floats
