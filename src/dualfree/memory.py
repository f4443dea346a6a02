"""Memory for long vectors, used again and again.

A page that is touched for the first time costs a fault, some microseconds on a virtual machine: fresh vectors for each
fit may take longer than the fit. What is no longer in use is kept for the next one, up to `_MOST` bytes in all.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualfree.arrays import Floats

_LEAST = 1 << 15  # bytes of an array that is worth the trouble
_MOST = 1 << 26

_kept: dict[int, list[tuple[NDArray[np.uint8], int]]] = {}  # what is not in use, and where it lies, by size
_bytes = 0


class _Lease:
    """A piece of memory as long as an array on it lives."""

    def __init__(self, size: int, count: int, typestr: str) -> None:
        global _bytes
        try:
            self._held = _kept[size].pop()
            _bytes -= size
        except (KeyError, IndexError):
            memory = np.empty(size, dtype=np.uint8)
            self._held = memory, memory.ctypes.data
        where = (self._held[1], False)
        self.__array_interface__ = {"data": where, "shape": (count,), "typestr": typestr, "version": 3}

    def __del__(self) -> None:
        global _bytes
        held = getattr(self, "_held", None)
        if held is not None and _bytes + len(held[0]) <= _MOST:
            _bytes += len(held[0])
            _kept.setdefault(len(held[0]), []).append(held)


def empty(count: int, dtype: Any = np.float64) -> NDArray[Any]:
    """A vector of `count` numbers of no particular value.

    Examples
    --------
    >>> vector = empty(100_000)
    >>> where = vector.ctypes.data
    >>> del vector
    >>> empty(99_999).ctypes.data == where
    True
    """
    kind = np.dtype(dtype)
    needed = kind.itemsize * count
    if needed < _LEAST:
        return np.empty(count, dtype=kind)
    step = 1 << (needed.bit_length() - 4)  # a few sizes an octave, so that vectors of about the same length share
    return np.asarray(_Lease(-(-needed // step) * step, count, kind.str))


def zeros(count: int, dtype: Any = np.float64) -> NDArray[Any]:
    """A vector of zeros."""
    vector = empty(count, dtype)
    vector.fill(0)
    return vector


@lru_cache(maxsize=64)
def repeated(number: float, count: int) -> Floats:
    """A vector that is one number `count` times and takes the memory of one; it cannot be written to.

    Examples
    --------
    >>> repeated(0.5, 3)
    array([0.5, 0.5, 0.5])
    """
    return read_only(np.ndarray(count, np.float64, buffer=np.array([number]), strides=(0,)))


def read_only(vector: Floats) -> Floats:
    """The same vector, on which nobody can write any more."""
    vector.setflags(write=False)
    return vector


def all_zero(vector: Floats) -> bool:
    """Whether a vector is zero; of one that is `repeated`, one number tells."""
    return not (vector[:1] if vector.strides == (0,) else vector).any()


def copy(vector: NDArray[Any]) -> Floats:
    """A copy of a vector of floats."""
    other = empty(len(vector))
    other[:] = vector
    return other
