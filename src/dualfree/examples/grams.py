"""Sums of products of rows, ``Σ c_k A_i A_iᵀ`` over listed examples: those that BLAS makes, and what they cost."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices

_ROWS = 1024  # at a time, so that no copy of X is made
CROWDED = 0.25  # share of stored entries from which BLAS, zeros and all, makes sums of products sooner,
_WIDE = 64  # and features from which on: to take short rows out of a CSR matrix costs more than their products
# What a row's sums of products take, in entries of a pass, which are cheaper where X is dense. By BLAS: for each of d
# columns, and for each of d². Else products lie here and there in the result: for each entry, for each product, and how
# that grows where d² numbers do not fit into a cache.
_BY_BLAS_DENSE, _BY_BLAS_SPARSE = (2.7, 0.046), (0.6, 0.0113)
_SCATTERED_ENTRY, _SCATTERED, _IN_CACHE, _OUT_OF_CACHE = 1.0, 0.31, 1000, 1.6
_SAMPLE, _LISTED = 4096, 512  # rows whose lengths tell: of all, and of a list


def scattered(X: Any, stored: int) -> bool:
    """Whether sums are made product by product, here and there in the result, and not by BLAS."""
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
        column, square = _BY_BLAS_SPARSE if sparse.issparse(X) else _BY_BLAS_DENSE
        return column * d + square * d**2
    listed = None if rows is None or len(rows) == 0 else rows
    every = X.shape[0] // _SAMPLE if listed is None else len(listed) // _LISTED
    mean, square = kernels.row_lengths(np.asarray(X.indptr), max(1, every), listed)
    product = _SCATTERED * max(1.0, float(d / _IN_CACHE) ** _OUT_OF_CACHE)
    return float(_SCATTERED_ENTRY * mean + product * 0.5 * square)


def dense_grams(rows: Any, d: int, weights: Floats, indices: Indices, dtype: Any) -> Floats:
    """The upper triangles by BLAS, one for each row of `weights`, of d native features each.

    Examples
    --------
    >>> import dualfree as df
    >>> problem = df.Problem(np.array([[1.0, 2.0], [3.0, 4.0]]), df.losses.Squared([0, 1]), lam=1.0)
    >>> np.triu(dense_grams(problem.examples.native, 2, np.array([[1.0, 2.0]]), np.array([0, 1]), np.float64)[0])
    array([[19., 26.],
           [ 0., 36.]])
    """
    out = memory.zeros(len(weights) * d**2, dtype).reshape(-1, d, d)
    room = memory.empty(_ROWS * d, dtype)
    add_products = blas.dsyrk if dtype == np.float64 else blas.ssyrk
    for first in range(0, len(indices), _ROWS):
        part = slice(first, first + _ROWS)
        for factors, gram in zip(weights[:, part], out, strict=True):
            for sign in (1.0, -1.0):
                chosen = np.flatnonzero(sign * factors > 0)
                if len(chosen) == 0:
                    continue
                listed = room[: len(chosen) * d]
                kernels.write_rows(rows, indices[part][chosen], np.sqrt(np.abs(factors[chosen])), listed)
                # BLAS counts by columns: to it, this is the lower triangle.
                add_products(sign, listed.reshape(-1, d).T, beta=1.0, c=gram.T, overwrite_c=True, lower=True)
    return out.astype(np.float64, copy=False)
