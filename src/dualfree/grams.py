"""Sums of products of crowded or dense rows, by BLAS: ``Σ c_k A_i A_iᵀ`` over listed examples."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import blas

from dualfree import memory
from dualfree.arrays import Floats, Indices

_ROWS = 1024  # at a time, so that no copy of X is made


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
