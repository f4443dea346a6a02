"""Read LIBSVM (svmlight) text: ``label [qid:N] index:value ... # comment``, one example a line.

The text is read in pieces of whole lines. The kernel appends each piece to NumPy arrays that grow here, so the
memory needed is the result, some room to grow, and one piece.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_matrix

from dualfree._native import kernels
from dualfree.io.libsvm_errors import ABOVE_LIMIT, LibsvmError, describe_problem
from dualfree.io.streams import Decompressed, Source, StreamError

# Small enough that a piece stays in the processor's cache between being read and being parsed.
PIECE_BYTES = 1 << 20
_DONE, _WIDER_INDEX = 0, 1
_UNLIMITED = np.iinfo(np.int64).max
_INT32_MAX = np.iinfo(np.int32).max

ZeroBased: TypeAlias = bool | Literal["auto"]


class Progress(NamedTuple):
    """What the kernel says after a piece: see ``Progress`` in ``libsvm_read.hpp``."""

    status: int
    rows: int
    entries: int
    consumed: int
    lines: int
    column: int
    number: int
    lowest: int
    highest: int
    highest_line: int
    highest_column: int


class _Arrays:
    """The arrays of the result while they grow."""

    def __init__(self, dtype: DTypeLike, query_id: bool) -> None:
        self.rows = self.entries = 0
        self.labels = np.empty(0)
        self.row_ends = np.empty(0, np.int64)
        self.columns: NDArray[Any] = np.empty(0, np.int32)
        self.values: NDArray[Any] = np.empty(0, dtype)
        self.queries = np.empty(0, np.int64) if query_id else None

    def reserve(self, text_bytes: int) -> None:
        """Make room for the most that so much text can hold: a row takes 2 bytes and an entry 4."""
        self._resize(self.rows + text_bytes // 2 + 1, self.entries + text_bytes // 4 + 1, slack=5 / 4)

    def trim(self) -> None:
        self._resize(self.rows, self.entries)

    def _resize(self, rows: int, entries: int, slack: float = 0.0) -> None:
        for array, size in (
            (self.labels, rows),
            (self.row_ends, rows),
            (self.queries, rows),
            (self.columns, entries),
            (self.values, entries),
        ):
            if array is not None and (slack == 0 or size > array.size):
                # Reallocation in place: on Linux large arrays move by page tables, not by copying.
                array.resize(max(size, int(slack * array.size)), refcheck=False)

    def widen(self) -> None:
        self.columns = self.columns.astype(np.int64)


class _Reader:
    """The state between two pieces: the arrays, the line number, and the range of feature indices so far."""

    def __init__(self, name: str, n_features: int | None, dtype: DTypeLike, zero_based: ZeroBased, query_id: bool):
        self.name = name
        self.n_features = n_features
        self.zero_based = zero_based
        self.arrays = _Arrays(dtype, query_id)
        self.lines = 0
        self.lowest, self.highest = _UNLIMITED, -1
        self.highest_at = (0, 0)
        # In doubt files count from 1. If a 0 shows up later, every column moves up by one at the end.
        self.base = 0 if zero_based is True else 1
        self.least = 1 if zero_based is False else 0
        self.most = _UNLIMITED if n_features is None else n_features - 1 + self.base

    def take(self, text: NDArray[np.uint8], cut_off: bool) -> None:
        """Append the rows of `text`, whole lines only; `cut_off` if the last had no line end of its own."""
        arrays = self.arrays
        while text.size:
            arrays.reserve(text.size)
            progress = Progress(
                *kernels.parse_libsvm(
                    text, arrays.rows, arrays.entries, arrays.labels, arrays.row_ends, arrays.columns,
                    arrays.values, arrays.queries, self.base, self.least, self.most,
                )
            )  # fmt: skip
            self._note(progress)
            text = text[progress.consumed :]
            if progress.status == _WIDER_INDEX:
                arrays.widen()
            elif progress.status != _DONE:
                line = text.tobytes().split(b"\n", 1)
                self._fail(progress, line[0], cut_off=cut_off and len(line[1]) == 0)

    def _note(self, progress: Progress) -> None:
        self.arrays.rows, self.arrays.entries = progress.rows, progress.entries
        self.lowest = min(self.lowest, progress.lowest)
        if progress.highest > self.highest:
            self.highest = progress.highest
            self.highest_at = (self.lines + progress.highest_line + 1, progress.highest_column)
        self.lines += progress.lines

    def _fail(self, progress: Progress, line: bytes, cut_off: bool) -> None:
        problem = describe_problem(
            progress.status, progress.number, line, progress.column, self.n_features, self.zero_based, cut_off
        )
        raise LibsvmError(problem, self.name, self.lines + 1, progress.column)

    def result(self) -> tuple[csr_matrix, NDArray[np.float64], NDArray[np.int64] | None]:
        arrays = self.arrays
        if arrays.rows == 0:
            raise LibsvmError(f"expected at least one example, found none in {self.lines} lines", self.name)
        arrays.trim()
        if self.base == 1 and self.lowest == 0:
            self._rebase()
        n_columns = self.highest + 1 - self.base if self.n_features is None else self.n_features
        indptr = np.zeros(arrays.rows + 1, np.int64 if arrays.entries > _INT32_MAX else np.int32)
        indptr[1:] = arrays.row_ends
        X = csr_matrix((arrays.values, arrays.columns, indptr), shape=(arrays.rows, max(n_columns, 0)))
        X.has_sorted_indices = X.has_canonical_format = True
        return X, arrays.labels, arrays.queries

    def _rebase(self) -> None:
        """Count from 0 after all."""
        if self.highest > self.most - 1:
            problem = describe_problem(ABOVE_LIMIT, self.highest, b"", 0, self.n_features, True, False)
            raise LibsvmError(problem, self.name, *self.highest_at)
        self.base = 0
        if self.highest > _INT32_MAX:
            self.arrays.widen()
        self.arrays.columns += 1


def _pieces(stream: Decompressed) -> Iterator[tuple[NDArray[np.uint8], bool]]:
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
    """Read a file in LIBSVM format, plain or compressed by gzip, bzip2 or xz (told by its content).

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
    >>> X, y = read_libsvm(io.BytesIO(b"+1 1:0.5 3:2 # first\\n-1 2:1e-5\\n"))
    >>> X.toarray()
    array([[5.e-01, 0.e+00, 2.e+00],
           [0.e+00, 1.e-05, 0.e+00]])
    >>> y
    array([ 1., -1.])
    >>> read_libsvm(io.BytesIO(b"1 1:1\\n1 1:1 41"))
    Traceback (most recent call last):
    dualfree.io.libsvm_errors.LibsvmError: <stream>, line 2, column 9: expected ':' after feature index 41, found end of line (is the file cut off?).
    """  # noqa: E501
    _check_arguments(n_features, dtype, zero_based)
    with Decompressed(path) as stream:
        reader = _Reader(stream.name, n_features, dtype, zero_based, query_id)
        try:
            for text, cut_off in _pieces(stream):
                reader.take(text, cut_off)
        except StreamError as error:
            raise LibsvmError(str(error), stream.name, reader.lines + 1) from None
    X, y, qid = reader.result()
    return (X, y, qid) if query_id else (X, y)


def _check_arguments(n_features: int | None, dtype: DTypeLike, zero_based: ZeroBased) -> None:
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be numpy.float64 or numpy.float32, not {np.dtype(dtype)}.")
    if n_features is not None and n_features < 1:
        raise ValueError(f"n_features must be at least 1 or None, not {n_features}.")
    if zero_based not in (True, False, "auto"):
        raise ValueError(f'zero_based must be True, False or "auto", not {zero_based!r}.')
