"""Read LIBSVM (svmlight) text: ``label [qid:N] index:value ... # comment``, one example a line.

The text is read in pieces of whole lines, and the kernel appends each piece to arrays that grow, so the
memory needed is the result, some room to grow, and one piece.
"""

from collections.abc import Iterator
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_matrix

from dualfree.io.libsvm_assembly import Assembly, ZeroBased
from dualfree.io.libsvm_errors import LibsvmError
from dualfree.io.streams import Decompressed, Source, StreamError

# Small enough that a piece stays in the processor's cache between being read and being parsed.
PIECE_BYTES = 1 << 18


def pieces(stream: Decompressed) -> Iterator[tuple[NDArray[np.uint8], bool]]:
    """Cut a stream into pieces of whole lines, and say of each whether its last line lacked a line end.

    A piece is a view of one buffer, valid until the next is asked for.
    """
    buffer = bytearray(PIECE_BYTES)
    kept = 0
    while True:
        # The last byte stays free for the line end that the last line of a file may lack.
        with memoryview(buffer) as view, view[kept:-1] as room:
            read = stream.readinto(room)
        filled = kept + read
        if read == 0:
            if filled:
                buffer[filled] = ord("\n")
                yield np.frombuffer(buffer, np.uint8, filled + 1), True
            return
        cut = buffer.rfind(b"\n", kept, filled) + 1
        if cut:
            yield np.frombuffer(buffer, np.uint8, cut), False
        kept = filled - cut
        if kept > len(buffer) // 2:
            # A new buffer rather than a longer one, because the piece given out may still look at the old.
            buffer = buffer[cut:filled] + bytes(2 * len(buffer))
        else:
            buffer[:kept] = buffer[cut:filled]


@overload
def read_libsvm(
    path: Source,
    *,
    n_features: int | None = None,
    dtype: DTypeLike = np.float64,
    zero_based: ZeroBased = "auto",
    query_id: Literal[False] = False,
) -> tuple[csr_matrix, NDArray[np.float64]]: ...


@overload
def read_libsvm(
    path: Source,
    *,
    n_features: int | None = None,
    dtype: DTypeLike = np.float64,
    zero_based: ZeroBased = "auto",
    query_id: Literal[True],
) -> tuple[csr_matrix, NDArray[np.float64], NDArray[np.int64]]: ...


def read_libsvm(
    path: Source,
    *,
    n_features: int | None = None,
    dtype: DTypeLike = np.float64,
    zero_based: ZeroBased = "auto",
    query_id: bool = False,
) -> Any:
    r"""Read a file in LIBSVM format, plain or compressed by gzip, bzip2 or xz (told by its content).

    Parameters
    ----------
    path : str, path or binary file
        What to read. A file that is open already is read to its end and stays open.
    n_features : int, optional
        The number of columns; by default the largest feature index decides. An index beyond it is an error.
    dtype : numpy.float64 or numpy.float32
        Of the values. Each is the number nearest to its decimals.
    zero_based : bool or "auto"
        Whether feature indices count from 0. "auto": they do if a 0 appears anywhere, as in scikit-learn.
    query_id : bool
        Whether every line has a ``qid:N`` that is wanted. If False, those that are there are passed over.

    Returns
    -------
    X : scipy.sparse.csr_matrix
        One row an example, columns sorted. Its index arrays are int64 only where int32 cannot hold them.
    y : ndarray of float64
        The labels.
    qid : ndarray of int64
        Only if `query_id` is True.

    Raises
    ------
    LibsvmError
        A ValueError that names the file, line and column, what is there, and what should be.

    Examples
    --------
    >>> import io
    >>> X, y = read_libsvm(io.BytesIO(b"+1 1:0.5 3:2 # first\n-1 2:1e-5\n"))
    >>> X.toarray()
    array([[5.e-01, 0.e+00, 2.e+00],
           [0.e+00, 1.e-05, 0.e+00]])
    >>> y
    array([ 1., -1.])
    >>> read_libsvm(io.BytesIO(b"1 1:1\n1 1:1 41"))
    Traceback (most recent call last):
    dualfree.io.libsvm_errors.LibsvmError: <stream>, line 2, column 9: expected ':' after feature index 41, found end of line (is the file cut off?).
    """  # noqa: E501
    _check_arguments(n_features, dtype, zero_based)
    with Decompressed(path) as stream:
        assembly = Assembly(stream.name, n_features, dtype, zero_based, query_id)
        try:
            for text, cut_off in pieces(stream):
                assembly.take(text, cut_off, stream.fraction)
        except StreamError as error:
            raise LibsvmError(str(error), stream.name, assembly.lines + 1) from None
    X, y, qid = assembly.result()
    return (X, y, qid) if query_id else (X, y)


def _check_arguments(n_features: int | None, dtype: DTypeLike, zero_based: ZeroBased) -> None:
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be numpy.float64 or numpy.float32, not {np.dtype(dtype)}.")
    if n_features is not None and n_features < 1:
        raise ValueError(f"n_features must be at least 1 or None, not {n_features}.")
    if zero_based not in (True, False, "auto"):
        raise ValueError(f'zero_based must be True, False or "auto", not {zero_based!r}.')
