"""The shapes in which people see w and α."""

from functools import cached_property
from typing import Any


class Flat:
    """The shapes in which people see w and α where both are vectors, of length `size` and `total`."""

    size: Any
    total: Any
    square_norms: Any

    @cached_property
    def largest_square_norm(self) -> float:
        """``max_i ‖A_i‖²``."""
        return float(self.square_norms.max())

    @property
    def dense(self) -> bool:
        """Whether X has no columns to look up: an entry then costs a seventh, or less."""
        return False

    @property
    def w_shape(self) -> tuple[int, ...]:
        """The shape in which w is shown."""
        return (self.size,)

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        """The shape in which α is shown."""
        return (self.total,)
