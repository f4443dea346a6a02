"""X as the kernels take it: its arrays, looked at and not copied."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_INTEGERS = (np.dtype(np.int32), np.dtype(np.int64))


def native_csr(X: Any) -> tuple[tuple[Any, ...], int]:
    """The three arrays of a CSR matrix, and how many entries they hold."""
    if X.format != "csr":
        raise TypeError(f"X is a sparse {X.format} matrix; convert it once with X.tocsr().")
    # Memory-mapped arrays are plain ones underneath, and the kernels want those.
    data, indices, indptr = np.asarray(X.data), np.asarray(X.indices), np.asarray(X.indptr)
    _require_float(data)
    if indices.dtype != indptr.dtype or indices.dtype not in _INTEGERS:
        raise TypeError(f"X.indices is {indices.dtype} and X.indptr {indptr.dtype}; both must be int32 or both int64.")
    if len(indptr) != X.shape[0] + 1:
        raise ValueError(f"X.indptr has {len(indptr)} entries; for {X.shape[0]} rows it must have {X.shape[0] + 1}.")
    if not (data.flags.c_contiguous and indices.flags.c_contiguous and indptr.flags.c_contiguous):
        raise ValueError("X.data, X.indices and X.indptr must be contiguous; X.copy() makes them so.")
    return (data, indices, indptr), min(len(data), len(indices))


def native_dense(X: Any) -> tuple[NDArray[Any]]:
    """A dense array, of any strides."""
    if not isinstance(X, np.ndarray):
        raise TypeError(f"X is a {type(X).__name__}; it must be a SciPy CSR matrix or a NumPy array.")
    if isinstance(X, np.ma.MaskedArray):
        raise TypeError("X is a masked array; fill or drop its masked entries first.")
    _require_float(X)
    whole = X.flags.c_contiguous or not any(stride % X.itemsize for stride in X.strides)
    if not (whole and X.flags.aligned):
        raise ValueError("X is a view whose numbers are not aligned in memory (a field of records?); copy it once.")
    # A memory-mapped or otherwise derived array is a plain one underneath, and the kernels want that.
    return (np.asarray(X),)


def _require_float(values: NDArray[Any]) -> None:
    if values.dtype not in _FLOATS:
        raise TypeError(
            f"X has dtype {values.dtype}; it must be float32 or float64 (X.astype(np.float64) makes a copy)."
        )
