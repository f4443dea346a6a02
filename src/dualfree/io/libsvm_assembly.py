"""From pieces of LIBSVM text to one CSR matrix: arrays that grow, and what is known between two pieces."""

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_matrix

from dualfree._native import kernels
from dualfree.io.libsvm_errors import ABOVE_LIMIT, LibsvmError, describe_problem

_DONE, _WIDER_INDEX = 0, 1
_UNLIMITED = np.iinfo(np.int64).max
_INT32_MAX = np.iinfo(np.int32).max

ZeroBased: TypeAlias = bool | Literal["auto"]


class _Progress(NamedTuple):
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


def _with_room(array: NDArray[Any], used: int, needed: int, fraction: float) -> NDArray[Any]:
    """Return `array`, or a larger copy of its used part if fewer than `needed` elements fit."""
    if needed <= array.size:
        return array
    # Memory that is never written costs nothing, so a generous guess of the final size beats many copies.
    guess = 1.05 * used / fraction if fraction > 0 else 1.5 * used
    larger = np.empty(max(needed, int(1.25 * used), int(guess) + needed - used), array.dtype)
    larger[:used] = array[:used]
    return larger


class _Arrays:
    """The arrays of the result while they grow."""

    def __init__(self, dtype: DTypeLike, query_id: bool) -> None:
        self.rows = self.entries = 0
        self.labels = np.empty(0)
        self.row_ends = np.empty(0, np.int64)
        self.columns: NDArray[Any] = np.empty(0, np.int32)
        self.values: NDArray[Any] = np.empty(0, dtype)
        self.queries = np.empty(0, np.int64) if query_id else None

    def reserve(self, text_bytes: int, fraction: float) -> None:
        """Make room for the most that so much text can hold: a row takes 2 bytes and an entry 4.

        `fraction` is the part of the file that has been read; it tells how large the arrays will become.
        """
        rows = (self.rows, self.rows + text_bytes // 2 + 1)
        entries = (self.entries, self.entries + text_bytes // 4 + 1)
        self.labels = _with_room(self.labels, *rows, fraction)
        self.row_ends = _with_room(self.row_ends, *rows, fraction)
        if self.queries is not None:
            self.queries = _with_room(self.queries, *rows, fraction)
        self.columns = _with_room(self.columns, *entries, fraction)
        self.values = _with_room(self.values, *entries, fraction)

    def trim(self) -> None:
        """Give back the room that was not needed, without copying."""
        for array in (self.labels, self.row_ends, self.queries):
            if array is not None:
                array.resize(self.rows, refcheck=False)
        for array in (self.columns, self.values):
            array.resize(self.entries, refcheck=False)

    def widen(self) -> None:
        self.columns = self.columns.astype(np.int64)


class Assembly:
    """The state between two pieces: the arrays, the line number, and the range of feature indices so far."""

    def __init__(
        self, name: str, n_features: int | None, dtype: DTypeLike, zero_based: ZeroBased, query_id: bool
    ):
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

    def take(self, text: NDArray[np.uint8], cut_off: bool, fraction: float) -> None:
        """Append the rows of `text`, whole lines only.

        `cut_off` says that the last had no line end of its own, `fraction` which part of the file was read.
        """
        arrays = self.arrays
        while text.size:
            arrays.reserve(text.size, fraction)
            progress = _Progress(
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

    def _note(self, progress: _Progress) -> None:
        self.arrays.rows, self.arrays.entries = progress.rows, progress.entries
        self.lowest = min(self.lowest, progress.lowest)
        if progress.highest > self.highest:
            self.highest = progress.highest
            self.highest_at = (self.lines + progress.highest_line + 1, progress.highest_column)
        self.lines += progress.lines

    def _fail(self, progress: _Progress, line: bytes, cut_off: bool) -> None:
        problem = describe_problem(
            progress.status, progress.number, line, progress.column, self.n_features, self.zero_based, cut_off
        )
        raise LibsvmError(problem, self.name, self.lines + 1, progress.column)

    def result(self) -> tuple[csr_matrix, NDArray[np.float64], NDArray[np.int64] | None]:
        """Return the matrix, the labels and the query ids, which take over the arrays."""
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
