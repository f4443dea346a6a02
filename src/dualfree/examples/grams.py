"""Sums of products of rows, ``Σ c_k A_i A_iᵀ`` over listed examples: of rows taken as dense ones, and what all cost."""

from typing import Any

import numpy as np
from scipy import sparse

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices

CROWDED = 0.25  # share of stored entries from which sums of products are made sooner with zeros and all,
_WIDE = 64  # and features from which on: to write short rows out costs more than their products
# What a row's sums of products take, in entries of a pass, which are cheaper where X is dense. Taken as dense: for each
# of d columns, and for each of d². Else products lie here and there in the result: for each entry, for each product,
# and how that grows where d² numbers do not fit into a cache.
_DENSE, _AS_DENSE = (2.7, 0.024), (0.5, 0.0055)
_SCATTERED_ENTRY, _SCATTERED, _IN_CACHE, _OUT_OF_CACHE = 1.0, 0.31, 1000, 1.6
_SAMPLE, _LISTED = 4096, 512  # rows whose lengths tell: of all, and of a list
_IN_A_CALL = 2 * 10**10  # products of two columns: some tenths of a second, in which nobody hears Ctrl-C


def scattered(X: Any, stored: int) -> bool:
    """Whether sums are made product by product, here and there in the result, and not of rows taken as dense ones."""
    n, d = X.shape
    return bool(sparse.issparse(X) and (stored < CROWDED * n * d or d < _WIDE))


def entries_a_row(X: Any, d: int, stored: int, rows: Indices | None = None) -> float:
    """What the products of one row, or of one of the listed, take in entries of a pass; d counts the constant too.

    Examples
    --------
    >>> dense = np.ones((100, 50))
    >>> entries_a_row(dense, 50, dense.size) > entries_a_row(sparse.csr_matrix(np.eye(100, 50)), 50, 50)
    True
    """
    if not scattered(X, stored):
        column, square = _AS_DENSE if sparse.issparse(X) else _DENSE
        return column * d + square * d**2
    listed = None if rows is None or len(rows) == 0 else rows
    every = X.shape[0] // _SAMPLE if listed is None else len(listed) // _LISTED
    mean, square = kernels.row_lengths(np.asarray(X.indptr), max(1, every), listed)
    product = _SCATTERED * max(1.0, float(d / _IN_CACHE) ** _OUT_OF_CACHE)
    return float(_SCATTERED_ENTRY * mean + product * 0.5 * square)


def dense_grams(
    rows: Any, d: int, weights: Floats, indices: Indices, dtype: Any = np.float64, n_threads: int = 1
) -> Floats:
    """The upper triangles of such sums, one for each row of `weights`, of d native features each.

    Examples
    --------
    >>> import dualfree as df
    >>> problem = df.Problem(np.array([[1.0, 2.0], [3.0, 4.0]]), df.losses.Squared([0, 1]), lam=1.0)
    >>> dense_grams(problem.examples.native, 2, np.array([[1.0, 2.0]]), np.array([0, 1]))[0]
    array([[19., 26.],
           [ 0., 36.]])
    """
    out = memory.zeros(len(weights) * d**2, dtype).reshape(-1, d**2)
    many = max(1, _IN_A_CALL // d**2)
    for factors, gram in zip(np.ascontiguousarray(weights), out, strict=True):
        for first in range(0, len(indices), many):
            part = slice(first, first + many)
            kernels.dense_gram(rows, indices[part], factors[part], gram, threads=n_threads)
    return out.reshape(-1, d, d).astype(np.float64, copy=False)
