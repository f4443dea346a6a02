"""Arrays and numbers that come from outside: checked once, with one sentence when they are wrong."""

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def vector(name: str, values: Any, length: int | None = None) -> Floats:
    """`values` as a contiguous float64 vector without NaN or infinity; copied only if it is not one already."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; fill or drop its masked entries first.")
    try:
        found = np.asarray(values)
        if found.dtype.kind == "c":
            raise TypeError
        array = np.ascontiguousarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a vector of numbers, but it is {_kind(values)}.") from None
    if np.ndim(found) == 0:
        raise TypeError(f"{name} is {values!r:.60}; it must be a vector.")
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; it must be a vector.")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} has {len(array)} entries; it must have {length}.")
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}] is {array[bad[0]]}; every entry must be finite.")
    return array


def shape_of(values: Any) -> tuple[int, ...]:
    """The shape of what NumPy would make of `values`; that of a number where it cannot make an array."""
    try:
        return tuple(np.shape(values))
    except ValueError:  # rows of unequal length
        return ()


def positive(name: str, value: Any) -> float:
    """`value` as a finite float above zero."""
    number = _number(name, value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} is {value!r}; it must be a finite number above 0.")
    return number


def not_negative(name: str, value: Any) -> float:
    """`value` as a finite float of at least zero."""
    number = _number(name, value)
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{name} is {value!r}; it must be a finite number of at least 0.")
    return number


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """`value` as an int between `low` and `high`, both included."""
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, (int, np.integer))):
        raise TypeError(f"{name} is {value!r:.60}; it must be a whole number.")
    if value < low or (high is not None and value > high):
        limits = f"at least {low}" if high is None else f"between {low} and {high}"
        raise ValueError(f"{name} is {value}; it must be {limits}.")
    return int(value)


def threads(n_threads: Any) -> int:
    """The number of threads that `n_threads` asks for."""
    if n_threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole("n_threads", n_threads, 1, 1024)


def probabilities(name: str, values: Any, length: int, *, total: float | None = None) -> Floats:
    """`values` as probabilities in (0, 1]; with `total`, they must add up to it."""
    p = vector(name, values, length)
    bad = np.flatnonzero((p <= 0) | (p > 1 + 1e-12))
    if len(bad):
        raise ValueError(
            f"{name}[{bad[0]}] is {p[bad[0]]:g}; every probability must be above 0 and at most 1, "
            "because an example that is never drawn is never learnt from."
        )
    if total is not None and abs(p.sum() - total) > 1e-9 * max(1.0, total):
        raise ValueError(f"{name} adds up to {p.sum():.12g}; it must add up to {total:g}.")
    return p


def _number(name: str, value: Any) -> float:
    if type(value) is float:  # nearly always
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} is {value!r:.60}; it must be a number.")
    return float(value)


def _kind(values: Any) -> str:
    """What `values` is, in words; also where NumPy cannot make an array of it."""
    if isinstance(values, np.ndarray):
        return f"an array of {values.dtype}"
    return f"a {type(values).__name__} of other things" if isinstance(values, (list, tuple)) else f"{values!r:.60}"


def mean_of(numbers: float | Floats) -> float:
    """Their mean, or the one number that all of them are."""
    return numbers if isinstance(numbers, float) else float(np.mean(numbers))


def largest_of(numbers: float | Floats) -> float:
    """The largest of them, or the one number that all of them are."""
    return numbers if isinstance(numbers, float) else float(np.max(numbers))
