"""Erratum 1: what the misprint in Algorithm 2 does to the chunks, on simulated numbers of nonzeros."""

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Indices


def simulated_nonzeros(n: int = 20_000, seed: int = 0) -> Indices:
    """Nonzeros of rows as text data have them: log-normal, a few rows very long. Simulated, not a real file."""
    rng = np.random.default_rng(seed)
    return np.clip(rng.lognormal(mean=4.0, sigma=0.6, size=n), 1, 600).astype(np.int64)


def nonzeros_of_chunks(nnz: ArrayLike, sizes: Indices) -> Indices:
    """Nonzeros in each of the contiguous chunks of the given sizes.

    Examples
    --------
    >>> nonzeros_of_chunks([4, 1, 2, 3], np.array([1, 3])).tolist()
    [4, 6]
    """
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.add.reduceat(np.asarray(nnz, dtype=np.int64), start)
