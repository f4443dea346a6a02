"""Where the blocks come from: chunks of Dask collections, which stay where they are, or a problem in this process."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from scipy import sparse

from dualfree.arrays import Indices
from dualfree.distributed.block import Block, make_block
from dualfree.optional import require
from dualfree.problem import Problem
from dualfree.store import Store, open_store


class Source(ABC):
    """Something that can deal out its blocks to the workers, and deal one out again when it was lost."""

    count: int

    @abstractmethod
    def deal(self, client: Any, which: Sequence[int]) -> list[Any]:
        """Futures of the blocks with these numbers."""


class Memory(Source):
    """The examples of a problem in this process, cut where the work is even; CSR rows are not copied here."""

    def __init__(self, problem: Problem, partitions: int) -> None:
        self._problem = problem
        self.starts = even_cuts(problem.examples.nonzeros, partitions)
        self.count = len(self.starts) - 1

    def deal(self, client: Any, which: Sequence[int]) -> list[Any]:
        loss = self._problem.loss
        blocks = []
        for k in which:
            first, last = int(self.starts[k]), int(self.starts[k + 1])
            weight = None if loss.weight is None else loss.weight[first:last]
            blocks.append(Block(_slice(self._problem.examples.X, first, last), loss.y[first:last], weight))
        return list(client.scatter(blocks, hash=False))


class OnDisk(Source):
    """Runs of chunks of a store larger than memory, of even work, which the workers read themselves from its folder."""

    def __init__(self, problem: Problem, partitions: int) -> None:
        self._problem, self._store = problem, cast(Store, problem.examples.X)
        self._cuts = even_cuts(np.diff(self._store.page.entries), partitions)
        self.count = len(self._cuts) - 1

    def deal(self, client: Any, which: Sequence[int]) -> list[Any]:
        path, loss, starts = str(self._store.path.resolve()), self._problem.loss, self._store.page.starts
        blocks = []
        for k in which:
            chunks = range(int(self._cuts[k]), int(self._cuts[k + 1]))
            rows = slice(starts[chunks.start], starts[chunks.stop])
            own = loss.y[rows], None if loss.weight is None else loss.weight[rows]
            blocks.append(client.submit(read_block, path, chunks, client.scatter([own], hash=False)[0], pure=False))
        return blocks


def read_block(path: str, chunks: range, own: tuple[Any, Any]) -> Block:
    """A worker's block of a store, with its targets and weights."""
    return Block(open_store(path).rows(chunks), *own)


class Collection(Source):
    """Chunks of a Dask array or frame, or delayed blocks: each is a partition, made again from its graph when lost."""

    def __init__(self, X: Any, y: Any, weight: Any = None) -> None:
        delayed = require("dask", "cluster").delayed
        rows, lengths = row_chunks(X)
        targets = aligned("y", y, rows, lengths)
        weights = [None] * len(rows) if weight is None else aligned("weight", weight, rows, lengths)
        self._blocks = [delayed(make_block)(*parts) for parts in zip(rows, targets, weights, strict=True)]
        self.count = len(rows)

    def deal(self, client: Any, which: Sequence[int]) -> list[Any]:
        return list(client.compute([self._blocks[k] for k in which]))


def row_chunks(X: Any) -> tuple[list[Any], tuple[int, ...] | None]:
    """The delayed chunks of X, one for each run of rows, and their lengths where they are known."""
    if isinstance(X, (list, tuple)):
        return list(X), None
    if not hasattr(X, "to_delayed"):
        raise TypeError(
            f"X is a {type(X).__name__}; it must be a Dask array or dataframe, or a list of delayed blocks of rows."
        )
    if not hasattr(X, "chunks"):  # a frame
        return list(X.to_delayed()), None
    if X.ndim == 2 and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    lengths = tuple(X.chunks[0])
    known = all(length == length for length in lengths)  # an unknown one is NaN
    return X.to_delayed().ravel().tolist(), lengths if known else None


def aligned(name: str, values: Any, rows: list[Any], lengths: tuple[int, ...] | None) -> list[Any]:
    """Delayed chunks of `values`, one for each chunk of rows."""
    if isinstance(values, (list, tuple)) and values and hasattr(values[0], "__dask_graph__"):
        chunks = list(values)
    elif hasattr(values, "to_delayed"):
        if hasattr(values, "chunks") and lengths is not None and tuple(values.chunks[0]) != lengths:
            if sum(values.chunks[0]) != sum(lengths):
                raise ValueError(f"{name} has {values.shape[0]} entries and X has {sum(lengths)} rows.")
            values = values.rechunk({0: lengths})
        chunks = np.asarray(values.to_delayed(), dtype=object).ravel().tolist()
    elif lengths is None:
        raise ValueError(f"{name} is in this process, but the chunks of X have unknown lengths; give it chunked as X.")
    else:
        array = np.asarray(values)
        if len(array) != sum(lengths):
            raise ValueError(f"{name} has {len(array)} entries and X has {sum(lengths)} rows; they must be equal.")
        chunks = np.split(array, np.cumsum(lengths)[:-1])
    if len(chunks) != len(rows):
        raise ValueError(f"{name} has {len(chunks)} chunks and X has {len(rows)} chunks of rows; chunk them alike.")
    return chunks


def even_cuts(nonzeros: Indices, parts: int) -> Indices:
    """Where to cut rows into parts of about equal work, none of them empty.

    Examples
    --------
    >>> even_cuts(np.array([1, 1, 1, 30, 1, 1]), 2).tolist()
    [0, 4, 6]
    """
    parts = min(parts, len(nonzeros))
    work = np.cumsum(nonzeros + 20)  # a visit costs some nonzeros by itself
    cuts = np.searchsorted(work, work[-1] * np.arange(1, parts) / parts) + 1
    least = np.arange(1, parts)
    cuts = np.clip(np.maximum.accumulate(cuts - least) + least, least, len(nonzeros) - parts + least)
    return np.concatenate([[0], cuts, [len(nonzeros)]]).astype(np.int64)


def _slice(X: Any, first: int, last: int) -> Any:
    if not sparse.issparse(X):
        return X[first:last]
    start, stop = X.indptr[first], X.indptr[last]
    parts = (X.data[start:stop], X.indices[start:stop], X.indptr[first : last + 1] - start)
    return type(X)(parts, shape=(last - first, X.shape[1]), copy=False)
