"""What examples of every kind can say of themselves."""

from functools import cached_property
from typing import Any

import numpy as np

from dualfree import memory
from dualfree.arrays import Floats


class Flat:
    """Sizes, shapes and norms, where each example has one number in α, and w one for each feature."""

    n: int
    d: int
    stored: int
    nonzeros: Any
    weighted_square_norms: Any

    @property
    def size(self) -> int:
        """Length of w."""
        return self.d

    @property
    def total(self) -> int:
        """Length of α: the outputs of all examples."""
        return self.n

    @property
    def w_shape(self) -> tuple[int, ...]:
        """The shape in which w is shown."""
        return (self.size,)

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        """The shape in which α is shown."""
        return (self.total,)

    @property
    def dense(self) -> bool:
        """Whether X has no columns to look up: an entry then costs a seventh, or less."""
        return False

    @property
    def work(self) -> Any:
        """Products that one visit of each example costs."""
        return self.nonzeros

    @property
    def products(self) -> int:
        """Products that visits of all examples cost."""
        return self.stored

    @cached_property
    def norms(self) -> Floats:
        """Spectral norms ``‖A_i‖``, for rows the Euclidean ones, for a group its largest singular value."""
        return np.sqrt(self.square_norms)

    @cached_property
    def square_norms(self) -> Floats:
        """``‖A_i‖²``; read-only, for samplings hand them out as their v."""
        return memory.read_only(self.weighted_square_norms(None))

    @property
    def knows_norms(self) -> bool:
        """Whether the ‖A_i‖ are at hand, and need no look at X."""
        return "square_norms" in vars(self)

    @cached_property
    def largest_square_norm(self) -> float:
        """``max_i ‖A_i‖²``."""
        return float(self.square_norms.max())
