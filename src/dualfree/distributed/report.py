"""What workers send back: some numbers and a vector that add up over the partitions, as few bytes as they can be."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualfree.arrays import Floats

_NUMBER, _PLACE = 8, 4  # bytes of a value and of its index


class Packed(NamedTuple):
    """A vector: all of its values, or its nonzeros and where they stand, whichever is smaller.

    Examples
    --------
    >>> pack(np.array([0.0, 0.0, 0.0, 5.0])).nbytes, pack(np.ones(4)).nbytes
    (12, 32)
    """

    length: int
    values: Floats
    places: NDArray[np.uint32] | None

    @property
    def nbytes(self) -> int:
        """Bytes on the wire."""
        return self.values.nbytes + (0 if self.places is None else self.places.nbytes)

    def add_to(self, out: Floats) -> None:
        """``out += self``."""
        if self.places is None:
            out += self.values
        else:
            out[self.places] += self.values


def pack(vector: Floats) -> Packed:
    """The smaller form of a vector."""
    places = np.flatnonzero(vector)
    if (_NUMBER + _PLACE) * len(places) < _NUMBER * len(vector) and len(vector) < 2**32:
        return Packed(len(vector), vector[places], places.astype(np.uint32))
    return Packed(len(vector), vector, None)


class Report(NamedTuple):
    """What one partition has to say, or the sum of what several have."""

    numbers: Floats
    vector: Packed

    @property
    def total(self) -> Floats:
        """The vector as an array."""
        out = np.zeros(self.vector.length)
        self.vector.add_to(out)
        return out


def report(numbers: Sequence[float] | Floats, vector: Floats | None = None) -> Report:
    """A report of some numbers and, perhaps, a vector."""
    return Report(np.asarray(numbers, dtype=np.float64), pack(np.empty(0) if vector is None else vector))


def add(reports: Sequence[Any]) -> Report:
    """The sum, in the order given: the same bits whoever adds.

    Examples
    --------
    >>> both = add([report([1.0], np.array([0.0, 2.0])), report([3.0], np.array([0.0, 5.0]))])
    >>> both.numbers.tolist(), both.total.tolist()
    ([4.0], [0.0, 7.0])
    """
    numbers = np.zeros_like(reports[0].numbers)
    out = np.zeros(reports[0].vector.length)
    for one in reports:
        numbers += one.numbers
        one.vector.add_to(out)
    return Report(numbers, pack(out))
