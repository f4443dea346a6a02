"""Rows into the files of a store, one block after the other, with chunks of about equal numbers of nonzeros."""

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import dualfree
from dualfree.arrays import Floats
from dualfree.chunking import chunks
from dualfree.examples import Rows
from dualfree.io.streams import atomic_write
from dualfree.store.layout import CHUNK_BYTES, CHUNKS, LEAST_CHUNK_BYTES, PAGE, Page, header
from dualfree.store.reader import checksum


@dataclass(frozen=True)
class StorePlan:
    """What is known of a store before its first row is written."""

    layout: str
    n: int
    d: int
    stored: int
    dtype: str
    index: str
    classes: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    chunk_bytes: int | None = None
    shuffle: tuple[int, int] | None = None

    def shapes(self) -> dict[str, tuple[tuple[int, ...], str]]:
        """Shape and type of each file."""
        rows = {"labels": ((self.n,), "f8"), "square_norms": ((self.n,), "f8")}
        if self.layout == "dense":
            return {"data": ((self.n, self.d), self.dtype), **rows}
        columns = {"indices": ((self.stored,), self.index), "indptr": ((self.n + 1,), "i8")}
        return {"data": ((self.stored,), self.dtype), **columns, **rows}

    @property
    def limit(self) -> int:
        """Entries that a chunk may hold."""
        each = np.dtype(self.dtype).itemsize + (np.dtype(self.index).itemsize if self.layout == "csr" else 0)
        chunk = self.chunk_bytes or min(CHUNK_BYTES, max(LEAST_CHUNK_BYTES, self.stored * each // CHUNKS))
        return max(1, chunk // each)


@dataclass
class Written:
    """How far the writer is: chunks that are complete, the one that is open, and sums for the checks."""

    starts: list[int] = field(default_factory=lambda: [0])
    entries: list[int] = field(default_factory=lambda: [0])
    checksums: list[list[int]] = field(default_factory=list)
    rows: int = 0
    stored: int = 0
    open: list[int] = field(default_factory=list)
    small: dict[str, int] = field(default_factory=dict)


class StoreWriter:
    """Appends rows to the files of a store; `finish` makes it one by writing its page.

    `written` as JSON and the sizes of the files are all that a later process needs to go on.
    """

    def __init__(self, folder: Path, plan: StorePlan, written: Written | None = None) -> None:
        self.folder, self.plan = folder, plan
        self.written = Written() if written is None else written
        if written is None:
            for name, (shape, dtype) in plan.shapes().items():
                self._path(name).write_bytes(header(shape, dtype))
            if plan.layout == "csr":
                self._append("indptr", np.zeros(1, np.int64))
                self._note("indptr", np.zeros(1, np.int64))
            self._open_chunk()

    def add(self, X: Any, labels: Floats) -> None:
        """Append rows, CSR or dense as the plan says."""
        sizes = np.diff(X.indptr) if sparse.issparse(X) else np.full(X.shape[0], X.shape[1])
        open_entries = self.written.stored - self.written.entries[-1]
        # The open chunk takes part as if it were one row; a chunk without rows yet has nothing to say.
        begun = self.written.rows > self.written.starts[-1]
        cuts = chunks(np.concatenate([[open_entries], sizes]) if begun else sizes, limit=self.plan.limit)
        if begun:
            cuts[0] -= 1
        at = 0
        for k, size in enumerate(cuts.tolist()):
            if k > 0:
                self._close_chunk()
            self._add_to_chunk(X[at : at + size], labels[at : at + size])
            at += size

    def finish(self) -> None:
        """Write ``store.json``: from now on this is a store."""
        self._close_chunk()
        plan, written = self.plan, self.written
        if (written.rows, written.stored) != (plan.n, plan.stored):
            raise ValueError(f"{written.rows} rows were written and {plan.n} were promised.")
        page = Page(
            plan.layout, plan.n, plan.d, plan.stored, plan.dtype, plan.index, True, tuple(written.starts),
            tuple(written.entries), tuple(written.checksums), written.small, plan.classes, plan.feature_names,
            plan.shuffle,
        )  # fmt: skip
        with atomic_write(self.folder / PAGE) as file:
            file.write(page.text(dualfree.__version__).encode())

    def files(self) -> list[Path]:
        """All files that are appended to."""
        return [self._path(name) for name in self.plan.shapes()]

    def state(self) -> dict[str, Any]:
        """`written` for JSON."""
        return asdict(self.written)

    def _add_to_chunk(self, X: Any, labels: Floats) -> None:
        if X.shape[0] == 0:
            return
        if self.plan.layout == "dense":
            data = np.ascontiguousarray(X, dtype=self.plan.dtype)
            parts = {"data": data}
            squares = np.einsum("ij,ij->i", data, data, dtype=np.float64)
        else:
            data, indices = X.data.astype(self.plan.dtype, copy=False), X.indices.astype(self.plan.index, copy=False)
            ends = self.written.stored + X.indptr[1:].astype(np.int64)
            parts = {"data": data, "indices": indices, "indptr": ends}
            exact = sparse.csr_array((np.square(data, dtype=np.float64), X.indices, X.indptr), shape=X.shape)
            squares = np.asarray(exact.sum(axis=1))
        for k, (name, part) in enumerate(parts.items()):
            self._append(name, part)
            self.written.open[k] = checksum(part, self.written.open[k])
        for name, values in (("labels", labels), ("square_norms", squares)):
            self._append(name, np.asarray(values, dtype=np.float64))
            self._note(name, np.asarray(values, dtype=np.float64))
        self.written.rows += X.shape[0]
        self.written.stored += data.size

    def _open_chunk(self) -> None:
        self.written.open = [0]
        if self.plan.layout == "csr":  # a chunk's row starts begin with the end of the row before
            self.written.open = [0, 0, checksum(np.array([self.written.stored]))]

    def _close_chunk(self) -> None:
        self.written.starts.append(self.written.rows)
        self.written.entries.append(self.written.stored)
        self.written.checksums.append(self.written.open)
        self._open_chunk()

    def _append(self, name: str, part: NDArray[Any]) -> None:
        with open(self._path(name), "ab") as file:
            file.write(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)

    def _note(self, name: str, part: NDArray[Any]) -> None:
        self.written.small[name] = checksum(part, self.written.small.get(name, 0))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npy"


def write_store(path: str | os.PathLike[str], X: Any, y: Floats, *, chunk_bytes: int | None = None) -> None:
    """Make a store of what is in memory, its rows in their order: shuffle them first if it means something.

    Examples
    --------
    >>> import dualfree as df, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_store(folder + "/a.dfs", np.eye(3), np.array([1.0, 2.0, 3.0]))
    ...     print((df.open_store(folder + "/a.dfs") @ [1.0, 2.0, 3.0]).tolist())
    [1.0, 2.0, 3.0]
    """
    Rows(X)  # it raises one sentence for what the kernels could not work with
    folder = Path(path)
    folder.mkdir()
    csr = sparse.issparse(X)
    X = X.sorted_indices() if csr and not X.has_sorted_indices else X
    index = str(X.indices.dtype) if csr else "int32"
    n, d = X.shape
    kind, stored = ("csr", X.nnz) if csr else ("dense", n * d)
    plan = StorePlan(kind, n, d, stored, str(X.dtype), index, chunk_bytes=chunk_bytes)
    writer = StoreWriter(folder, plan)
    writer.add(X, y)
    writer.finish()
