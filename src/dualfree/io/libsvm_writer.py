"""Write LIBSVM text that reads back to the same bits."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, issparse

from dualfree._native import kernels
from dualfree.io.streams import atomic_write

# About this much text is made before it goes to the file.
_PIECE_BYTES = 1 << 22


def write_libsvm(
    path: str | os.PathLike[str],
    X: Any,
    y: ArrayLike,
    *,
    query_id: ArrayLike | None = None,
    zero_based: bool = False,
) -> None:
    """Write examples in LIBSVM format, compressed if the suffix is ``.gz``, ``.bz2`` or ``.xz``.

    Every number is written with the fewest decimals that read back to the same bits. The file appears, or
    changes, only once it is complete: after an error (a full disk, say) an older file is as it was.

    Parameters
    ----------
    path : str or path
        Where to.
    X : sparse matrix or ndarray, shape (n, d)
        The examples. What a sparse matrix stores is written, zeros too; of an ndarray, what is not zero.
        The format does not hold d: give ``n_features`` to `read_libsvm` if the last columns may be empty.
    y : array of n numbers
        The labels.
    query_id : array of n whole numbers, optional
        Written as ``qid:N``.
    zero_based : bool
        Whether to count feature indices from 0. Give the same to `read_libsvm`.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_libsvm(folder + "/a.svm", np.array([[0.1, 0.0], [0.0, 3.0]]), [1, -1])
    ...     print(pathlib.Path(folder, "a.svm").read_text(), end="")
    1 1:0.1
    -1 2:3
    """
    if not issparse(X):
        X = np.asarray(X)
    if X.ndim != 2 or X.shape[0] == 0:
        raise ValueError(f"X must have two dimensions and at least one row, but its shape is {X.shape}.")
    labels = _one_per_row(y, X.shape[0], np.float64, "y")
    queries = None if query_id is None else _one_per_row(query_id, X.shape[0], np.int64, "query_id")
    _refuse_not_finite(labels, "y")
    with atomic_write(path) as file:
        for first, block in _csr_blocks(X):
            _refuse_not_finite(block.data, "X")
            rows = slice(first, first + block.shape[0])
            for text in _texts(
                block, labels[rows], None if queries is None else queries[rows], int(not zero_based)
            ):
                file.write(text)


def _one_per_row(numbers: ArrayLike, n_rows: int, dtype: type, name: str) -> NDArray[Any]:
    given = np.asarray(numbers)
    array: NDArray[Any] = np.ascontiguousarray(given, dtype=dtype)
    if array.shape != (n_rows,):
        raise ValueError(
            f"{name} must hold one number for each of the {n_rows} rows of X, but its shape is {array.shape}."
        )
    if not np.array_equal(array, given, equal_nan=dtype is np.float64):
        raise ValueError(
            f"{name} must hold numbers that {np.dtype(dtype)} can hold exactly, but it is {given.dtype}."
        )
    return array


def _refuse_not_finite(numbers: NDArray[Any], name: str) -> None:
    finite = np.isfinite(numbers)
    if not finite.all():
        raise ValueError(f"{name} must be finite to be written, but it holds {numbers[~finite][0]}.")


def _csr_blocks(X: Any) -> Iterator[tuple[int, csr_matrix]]:
    """Give (first row, CSR block) pairs: a sparse matrix whole, an ndarray some rows at a time."""
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
    if issparse(X):
        block = csr_matrix(X, dtype=dtype)
        if not block.has_canonical_format:
            block = block.copy()
            block.sum_duplicates()
        yield 0, block
        return
    step = max(1, _PIECE_BYTES // (8 * max(1, X.shape[1])))
    for first in range(0, X.shape[0], step):
        yield first, csr_matrix(X[first : first + step], dtype=dtype)


def _texts(
    X: csr_matrix, labels: NDArray[np.float64], queries: NDArray[np.int64] | None, base: int
) -> Iterator[memoryview]:
    """Turn rows into text: at a time as many as surely fit in the buffer, or one that needs a larger one."""
    per_row, per_entry = kernels.libsvm_bytes_per_row, kernels.libsvm_bytes_per_entry
    most_before = per_row * np.arange(X.shape[0] + 1) + per_entry * X.indptr.astype(np.int64)
    buffer = np.empty(_PIECE_BYTES, np.uint8)
    first = 0
    while first < X.shape[0]:
        last = int(np.searchsorted(most_before, most_before[first] + buffer.size, side="right")) - 1
        last = max(last, first + 1)
        most = int(most_before[last] - most_before[first])
        if most > buffer.size:
            buffer = np.empty(most, np.uint8)
        length = kernels.write_libsvm(buffer, first, last, labels, queries, X.indptr, X.indices, X.data, base)
        yield buffer.data[:length]
        first = last
