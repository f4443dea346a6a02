"""Sums of products of rows, ``Σ c_k A_i A_iᵀ`` over listed examples: those that BLAS makes, and what they cost."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
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
_BY_BLAS_DENSE, _BY_BLAS_SPARSE = (4.0, 0.044), (2.3, 0.0105)
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


def dense_grams(X: Any, constant: float, weights: Floats, indices: Indices, dtype: Any) -> Floats:
    """The upper triangles, one for each row of `weights`; rows end in `constant` unless that is 0.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> np.triu(dense_grams(X, 0.0, np.array([[1.0, 2.0]]), np.array([0, 1]), np.float64)[0])
    array([[19., 26.],
           [ 0., 36.]])
    """
    d = X.shape[1] + (constant != 0)
    out = memory.zeros(len(weights) * d**2, dtype).reshape(-1, d, d)
    copies = 1 if len(weights) == 1 else 2  # the rows themselves are not needed again where there is one set of weights
    room = memory.empty(copies * _ROWS * d, dtype).reshape(copies, _ROWS, d)
    for first in range(0, len(indices), _ROWS):
        part = slice(first, first + _ROWS)
        rows, scaled = room[0, : len(indices[part])], room[-1, : len(indices[part])]
        _write_dense(X[indices[part]], constant, rows)
        for factors, gram in zip(weights[:, part].astype(dtype, copy=False), out, strict=True):
            _add_weighted_products(rows, factors, scaled, gram)
    return out.astype(np.float64, copy=False)


def _write_dense(listed: Any, constant: float, out: NDArray[Any]) -> None:
    if sparse.issparse(listed) and listed.shape == out.shape:
        listed.astype(out.dtype, copy=False).toarray(out=out)
        return
    width = listed.shape[1]
    out[:, width:] = constant
    out[:, :width] = listed.toarray() if sparse.issparse(listed) else listed


def _add_weighted_products(rows: NDArray[Any], weights: NDArray[Any], room: NDArray[Any], gram: NDArray[Any]) -> None:
    """``Σ c_k r_k r_kᵀ``, its upper triangle, in place; where no two weights differ in sign, BLAS does only half."""
    sign = 1.0 if (weights >= 0).all() else -1.0 if (weights <= 0).all() else 0.0
    if sign == 0:
        gram += (rows * weights[:, None]).T @ rows
    else:  # BLAS counts by columns: to it, this is the lower triangle
        scaled = np.multiply(rows, np.sqrt(np.abs(weights))[:, None], out=room)
        products = blas.dsyrk if rows.dtype == np.float64 else blas.ssyrk
        products(sign, scaled.T, beta=1.0, c=gram.T, overwrite_c=True, lower=True)
