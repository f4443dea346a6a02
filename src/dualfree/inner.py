"""Sums over vectors that no library's threads have a hand in."""

import math

from dualfree._native import kernels
from dualfree.arrays import Floats


def inner(first: Floats, second: Floats) -> float:
    """``Σ a_j b_j`` on one thread, with the same bits on any number of cores.

    BLAS takes all cores for long vectors, and its threads then keep them busy for some milliseconds, waiting for more:
    ours had to share with them. And the sum's last bits depended on the number of cores. For short ones the way to it
    takes longer than the sum.

    Examples
    --------
    >>> import numpy as np
    >>> inner(np.ones(3), np.arange(3.0))
    3.0
    """
    return float(kernels.inner(first, second))


def norm(values: Floats) -> float:
    """``‖v‖`` in the same way."""
    return math.sqrt(inner(values, values))


def go_between(first: Floats, t: float, last: Floats) -> None:
    """``v ← u + t (v − u)`` in place, in one go.

    Examples
    --------
    >>> import numpy as np
    >>> v = np.ones(2)
    >>> go_between(np.zeros(2), 0.25, v)
    >>> v.tolist()
    [0.25, 0.25]
    """
    kernels.go_between(first, t, last)
