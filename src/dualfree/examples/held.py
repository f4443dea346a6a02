"""A matrix as examples, one row for each: whether it is sound, how long its rows are, and what visits cost."""

import math
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.examples.grams import entries_a_row
from dualfree.examples.layout import native_csr, native_dense
from dualfree.examples.shapes import Flat

_LONG_ROWS = 16  # entries from which on a norm costs nothing beside the look whether they are finite
_TYPICAL_ROWS = 4096
_RUN = 256  # of them side by side
_FEW_ROWS = 2 * _TYPICAL_ROWS  # whose norms somebody will ask for, so that a call of their own is what they cost

_FAULTS = {
    "start": "X.indptr must start at 0, never decrease and stay within X.data, but it is broken at row {row}",
    "column": "X has column index {column} in row {row}, but only {d} columns: indices must be in 0..{last}",
    "duplicate": "X has column {column} twice in row {row}; call X.sum_duplicates() first",
    "not finite": "X has NaN or infinity in row {row}, column {column}; remove or impute such values first",
}


class Held(Flat):
    """X as it lies in memory: checked once, looked at and never copied, and what is known of its rows."""

    m = 1
    grouped = False  # whether an example is a group of rows
    _threads = 1

    def __init__(self, X: Any, constant: bool = False, n_threads: int = 1) -> None:
        self.X = X
        self.constant_value = 0.0
        self._threads = n_threads
        if hasattr(X, "shape") and len(X.shape) != 2:
            raise ValueError(f"X has shape {X.shape}; it must have two dimensions, one row for each example.")
        compressed = sparse.issparse(X)
        self._arrays: tuple[Any, ...]
        self._arrays, self.stored = native_csr(X) if compressed else (native_dense(X), X.size)
        self._sorted = False
        n, d = X.shape
        self.n, self.d = int(n), int(d)
        if self.n == 0 or self.d == 0:
            raise ValueError(f"X has shape {X.shape}: it needs at least one row and one column.")
        ordered = compressed or X.flags.c_contiguous
        at_once = self.stored >= _LONG_ROWS * self.n or self.n <= _FEW_ROWS
        squares = memory.empty(self.n) if ordered and at_once else None
        found = kernels.check_rows(self.native, self.stored, squares, threads=n_threads)
        fault, row, column, self._sorted, same, mean_square, largest_square = found
        if fault:
            sentence = _FAULTS[fault].format(row=row, column=column, d=self.d, last=self.d - 1)
            raise ValueError(sentence + ".")
        if same:  # nothing to load but the columns
            self._arrays = (self._arrays[0][:1], *self._arrays[1:])
        if constant:
            squares = self.weighted_square_norms(None) if squares is None else squares
            self.constant_value = math.sqrt(float(squares.sum()) / self.n) or 1.0
            squares += self.constant_value**2
            self.d += 1
        elif squares is not None:
            self.typical_square_norm, self.largest_square_norm = mean_square, largest_square
        if squares is not None:
            self.square_norms = memory.read_only(squares)

    @property
    def native(self) -> tuple[Any, ...]:
        """What the kernels take for these examples."""
        return self.shifted(0.0)

    @property
    def places(self) -> tuple[Any, ...]:
        """Where the outputs of each example lie in α, for the kernels."""
        return (self.n, 1)

    @property
    def owners(self) -> Indices:
        """The example that each row of X belongs to."""
        return np.arange(self.n)

    def positions(self, indices: Indices) -> Indices:
        """Where the outputs of the listed examples are in α."""
        return indices

    def spread(self, values: Floats, indices: Indices | None = None) -> Floats:
        """One number for each of the listed examples (or of all), as one for each of their outputs."""
        return values

    def sums(self, values: Floats) -> Floats:
        """For each example the sum over its outputs."""
        return values

    def square_sums(self, alpha: Floats) -> Floats:
        """``‖α_i‖²`` for each example."""
        return alpha**2

    def shift(self, margins: Floats, intercept: Any) -> Floats:
        """The margins with an intercept added."""
        return np.asarray(margins + intercept)

    def shifted(self, offset: Any) -> tuple[Any, ...]:
        """The same with `offset` added to every product with w; only where there is a constant feature."""
        offset = offset if isinstance(offset, float) else float(np.asarray(offset).item())
        if len(self._arrays) == 1:
            return (*self._arrays, self.constant_value, offset)
        return (*self._arrays, self.d, self.constant_value, offset, self._sorted)

    @property
    def dense(self) -> bool:
        return isinstance(self.X, np.ndarray)  # and not a store of rows, which may be sparse

    @property
    def _one_value(self) -> bool:
        """Whether all stored values are the same one."""
        return sparse.issparse(self.X) and len(self._arrays[0]) == 1

    @cached_property
    def typical_square_norm(self) -> float:
        """Mean of ``‖A_i‖²``, of some thousand examples where there are more: for estimates, not worth a pass."""
        if self._one_value:
            entries = float(self.X.indptr[-1])  # X may have room for more
            return float(self._arrays[0][0]) ** 2 * entries / self.n + self.constant_value**2
        if self.n <= _FEW_ROWS:
            return float(self.square_norms.sum()) / self.n
        return float(kernels.mean_square(self.native, _TYPICAL_ROWS // _RUN, _RUN))

    @cached_property
    def hessian_entries(self) -> float:
        """What `hessian_sum` takes for an example, in entries of a pass; by some thousand where there are more."""
        return self.m * (self.m + 1) / 2 * entries_a_row(self.X, self.d, self.stored)

    def hessian_entries_of(self, indices: Indices) -> float:
        """The same for one of the listed examples, whose rows may be shorter or longer than those of others."""
        return entries_a_row(self.X, self.d, self.stored, indices)

    @cached_property
    def nonzeros(self) -> Indices:
        """Stored entries of each example: the work that one visit costs."""
        if sparse.issparse(self.X):
            return np.asarray(self.X.indptr[1:] - self.X.indptr[:-1], dtype=np.int64)
        return np.full(self.n, self.d, dtype=np.int64)

    def weighted_square_norms(self, beta: Floats | None, less: Floats | None = None) -> Floats:
        """``Σ_j (β_j − less_i) A_ij²`` for each example."""
        out = memory.empty(self.n)
        kernels.square_norms(self.native, beta, out, threads=self._threads)
        return out if less is None else out - less * self.square_norms
