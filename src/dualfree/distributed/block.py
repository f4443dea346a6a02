"""What a worker holds: some rows of X, their targets and weights."""

import copy
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dualfree.arrays import Floats, vector
from dualfree.examples import Rows
from dualfree.losses.base import Loss


class Block:
    """Some rows of X with their labels or targets and their weights, as they came; never written to."""

    def __init__(self, X: Any, y: NDArray[Any], weight: Floats | None) -> None:
        self.X, self.y, self.weight = _aligned_rows(X), aligned(y), None if weight is None else aligned(weight)

    @cached_property
    def examples(self) -> Rows:
        """The rows, checked once where they are."""
        return Rows(self.X)

    def __reduce__(self) -> tuple[Any, ...]:
        return Block, (self.X, self.y, self.weight)

    def __sizeof__(self) -> int:
        """Bytes of the data: what the scheduler weighs before it moves a block."""
        X, parts = self.X, [self.y, self.weight]
        parts += [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]
        return sum(part.nbytes for part in parts if part is not None)


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy where its numbers straddle words, as they may in a message that came over the wire."""
    return np.require(array, requirements="A")


def _aligned_rows(X: Any) -> Any:
    if not sparse.issparse(X):
        return aligned(X)
    if all(part.flags.aligned for part in (X.data, X.indices, X.indptr)):
        return X
    return type(X)((aligned(X.data), aligned(X.indices), aligned(X.indptr)), shape=X.shape)


def make_block(X: Any, y: Any, weight: Any = None) -> Block:
    """A block of what Dask hands over: an array, a sparse matrix or a frame; copied only where its type is not ours."""
    rows = _rows(X)
    targets = np.asarray(y)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets.ravel()
    if targets.ndim != 1:
        raise ValueError(f"y has a chunk of shape {targets.shape}; it must be a vector, chunked as the rows of X.")
    factors = None if weight is None else vector("weight", weight)
    for name, part in (("y", targets), ("weight", factors)):
        if part is not None and len(part) != rows.shape[0]:
            raise ValueError(
                f"{name} has a chunk of {len(part)} entries where X has one of {rows.shape[0]} rows; chunk them alike."
            )
    return Block(rows, targets, factors)


def _rows(X: Any) -> Any:
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        X.sum_duplicates()  # does nothing to rows that are sorted and have no column twice
    elif not isinstance(X, np.ndarray):
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X has a chunk of shape {X.shape}; it must have two dimensions, one row for each example.")
    if X.dtype.kind not in "fiub":
        raise TypeError(f"X has a chunk of dtype {X.dtype}; it must hold numbers.")
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


class Survey(NamedTuple):
    """What must be known of a block before a problem can be made of it."""

    rows: int
    columns: int
    dtype: Any
    labels: NDArray[Any]
    counts: Floats
    """How much of each label there is, by weight."""
    checksum: int
    """Of y and the weights."""


def survey(block: Block, wants_labels: bool) -> Survey:
    """Look at a block once it is there."""
    labels, counts = np.unique(block.y[:0]), np.empty(0)
    if wants_labels:
        labels, where = np.unique(block.y, return_inverse=True)
        counts = np.bincount(where, block.weight, len(labels)).astype(np.float64)
    return Survey(block.X.shape[0], block.X.shape[1], block.X.dtype, labels, counts, _checksum(block))


def _checksum(block: Block) -> int:
    y = block.y.astype(str) if block.y.dtype.hasobject else block.y
    found = zlib.crc32(y.tobytes())
    return found if block.weight is None else zlib.crc32(block.weight.tobytes(), found)


@dataclass(frozen=True)
class Encoder:
    """Labels as ±1: one of the classes against the rest, each class with its factor in the weights."""

    classes: NDArray[Any]
    positive: Any
    factors: Floats | None = None

    def __call__(self, y: NDArray[Any], weight: Floats | None) -> tuple[Floats, Floats | None]:
        """Targets and weights."""
        target = np.where(y == self.positive, 1.0, -1.0)
        if self.factors is None:
            return target, weight
        factors = self.factors[np.searchsorted(self.classes, y)]
        return target, factors if weight is None else weight * factors


def make_loss(block: Block, kind: Loss, encoder: Encoder | None) -> Loss:
    """The losses of a block, of the same kind as `kind`; a block may lack one of the classes."""
    y, weight = (block.y, block.weight) if encoder is None else encoder(block.y, block.weight)
    loss = copy.copy(kind)
    loss.y, loss.weight = vector("y", y), None if weight is None else vector("weight", weight)
    return loss
