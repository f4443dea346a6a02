"""Algorithm 2 of the paper, "Naive Chunks": runs of examples with about equal numbers of nonzeros."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Indices


def chunks(nnz: ArrayLike, *, literal: bool = False, limit: int | None = None) -> Indices:
    """Sizes of contiguous chunks, none with more nonzeros than the largest example (or than `limit`).

    One pass: open a chunk with the next example, add examples while the sum of nonzeros stays at most
    ``max(nnz)``, else start the next chunk.

    Parameters
    ----------
    nnz : array of length n
        Nonzeros of each example.
    literal : bool
        Compare as the paper prints it, ``g[i] + u[t] ≤ m``: the *number of examples* in the chunk plus nonzeros. Such
        chunks outgrow m without limit (erratum 1); only of use to show that.
    limit : int, optional
        Nonzeros that a chunk may have, in place of ``max(nnz)``. A single example with more is a chunk of its own.

    Returns
    -------
    array of int64
        Chunk sizes g; they add up to n.

    Examples
    --------
    >>> chunks([4, 1, 2, 3, 1]).tolist()
    [1, 2, 2]
    >>> chunks([4, 1, 1, 1, 1], literal=True).tolist()
    [4, 1]
    >>> chunks([4, 1, 2, 3, 1], limit=6).tolist()
    [2, 3]
    """
    u = _counts(nnz)
    limit = int(u.max()) if limit is None else limit
    sizes: list[int] = []
    size, total = 1, int(u[0])
    for count in u[1:].tolist():
        if (size if literal else total) + count <= limit:
            size, total = size + 1, total + count
        else:
            sizes.append(size)
            size, total = 1, count
    return np.array([*sizes, size], dtype=np.int64)


def _counts(nnz: ArrayLike) -> Any:
    u = np.asarray(nnz)
    if u.ndim != 1 or u.size == 0 or u.dtype.kind not in "iu" or u.min() < 0:
        raise ValueError(f"nnz must be a non-empty vector of whole numbers of at least 0; got {nnz!r:.60}.")
    return u
