"""Windows of chunks from the disk: read ahead of time by other threads into buffers that are used again and again.

A window is a few chunks side by side in memory, as one matrix. Steps that go over one chunk alone, and an epoch later
over the same rows together again, need many more epochs (measured on a stand-in of w8a: over 200 against 25 of random
order); a window of 4 or more chunks, others in each epoch, needs about as many as random order.
"""

import os
import time
import weakref
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualfree.arrays import Indices
from dualfree.store.layout import Page, StoreError, place

BUFFERS = 3  # the window in work, the next, and one that was read for steps before an evaluation came between
IN_FLIGHT = 2  # reads at the same time
_READ_BYTES = (
    2 << 20
)  # up to which neighbouring chunks are read together: many short reads would cost more than the disk

Numbers = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Window:
    """Rows of X: the arrays are values, columns and row starts, or values alone where X is dense.

    `rows` says which rows of the store they are: a slice where the chunks are neighbours, else their numbers.
    """

    rows: slice | Indices
    arrays: tuple[NDArray[Any], ...]

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.arrays[2]) - 1 if len(self.arrays) == 3 else len(self.arrays[0])


class WindowReader:
    """Reads windows of at most `size` chunks, in a given order.

    `waited` adds up the seconds that the caller had to wait for the disk.
    """

    def __init__(self, folder: Path, page: Page, size: int) -> None:
        self.folder, self.page, self.size, self.waited = folder, page, size, 0.0
        self._files = {name: os.open(folder / f"{name}.npy", os.O_RDONLY) for name in _names(page)}
        weakref.finalize(self, _close, list(self._files.values()))
        self._pool = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="dualfree-store")
        self._pending: dict[Numbers, _Reading] = {}
        self._free: list[tuple[NDArray[Any], ...]] = []
        self._checked = np.zeros(page.chunks, dtype=bool)

    def all(self) -> Iterator[Window]:
        """All rows in order."""
        count, size = self.page.chunks, self.size
        return self.visit([tuple(range(k, min(k + size, count))) for k in range(0, count, size)])

    def visit(self, order: Sequence[Numbers], then: Sequence[Numbers] = ()) -> Iterator[Window]:
        """The windows of `order`, each valid until the next is asked for; `then` comes in the call after this."""
        upcoming = [*order, *then]
        for at, numbers in enumerate(order):
            for following in upcoming[at : at + 2]:
                self._request(following)
            reading, clock = self._pending.pop(numbers), time.perf_counter()
            try:
                for future in reading.futures:
                    future.result()
                self.waited += time.perf_counter() - clock
                yield reading.window
            finally:
                for future in reading.futures:
                    future.exception()  # after an error the other threads may still write
                self._free.append(reading.buffers)

    def _request(self, numbers: Numbers) -> None:
        if numbers in self._pending:
            return
        while len(self._pending) >= BUFFERS - 1:  # what was read ahead and never asked for, after an interruption say
            stale = self._pending.pop(next(iter(self._pending)))
            for future in stale.futures:
                future.exception()
            self._free.append(stale.buffers)
        buffers = self._free.pop() if self._free else _buffers(self.page, self.size)
        window, places = _lay_out(self.page, numbers, buffers)
        futures = [self._pool.submit(self._read, run, parts) for run, parts in places]
        self._pending[numbers] = _Reading(window, buffers, futures)

    def _read(self, run: range, parts: tuple[NDArray[Any], ...]) -> None:
        """Some neighbouring chunks to their place in a window."""
        page = self.page
        first, rows = page.entries[run.start], (page.starts[run.start], page.starts[run.stop])
        self._fill("data", parts[0], first)
        if page.layout == "dense":
            self._check(run, parts[0])
            return
        self._fill("indices", parts[1], first)
        ends = np.empty(rows[1] - rows[0] + 1, np.int64)
        self._fill("indptr", ends, rows[0])
        self._check(run, parts[0], parts[1], ends)
        parts[2][:] += (ends[1:] - first).astype(parts[2].dtype)

    def _fill(self, name: str, part: NDArray[Any], first: int) -> None:
        """Entries of one file, from `first` on; a read may return less than was asked for."""
        at = place(first, part.dtype)
        with part.view(np.uint8).data as view:
            done = 0
            while done < len(view):
                read = os.preadv(self._files[name], [view[done:]], at + done)
                if read == 0:
                    raise StoreError(f"{self.folder}: {name}.npy is shorter than it was; import the data again.")
                done += read

    def _check(self, run: range, *parts: NDArray[Any]) -> None:
        """Compare the checksums, once for each chunk: the kernels trust what is read."""
        page, entries, starts = self.page, self.page.entries[run.start], self.page.starts[run.start]
        for number in run:
            if self._checked[number]:
                continue
            own = slice(page.entries[number] - entries, page.entries[number + 1] - entries)
            rows = slice(page.starts[number] - starts, page.starts[number + 1] - starts + 1)
            slices = (own, own, rows)[: len(parts)]
            require_checksum(self.folder, page, number, [part[at] for part, at in zip(parts, slices, strict=True)])
            self._checked[number] = True


def require_checksum(folder: Path, page: Page, number: int, parts: list[NDArray[Any]]) -> None:
    """Raise one sentence if the parts of a chunk are not what was written."""
    if [checksum(part) for part in parts] != page.checksums[number]:
        raise StoreError(
            f"{folder}: chunk {number} does not have the checksum it was written with, so the disk has damaged it; "
            "import the data again."
        )


class _Reading(NamedTuple):
    window: Window
    buffers: tuple[NDArray[Any], ...]
    futures: list[Future[None]]


def _buffers(page: Page, size: int) -> tuple[NDArray[Any], ...]:
    entries = size * int(np.diff(page.entries).max())
    data = np.empty(entries, page.dtype)
    return (data,) if page.layout == "dense" else (data, np.empty(entries, page.index))


def _lay_out(
    page: Page, numbers: Numbers, buffers: tuple[NDArray[Any], ...]
) -> tuple[Window, list[tuple[range, tuple[NDArray[Any], ...]]]]:
    """The window over the buffers, and the place of each run of chunks in it.

    Row starts are prepared with the number of entries before the run, to which the reader adds those within it.
    """
    runs = runs_of(page, numbers)
    spans = [slice(page.starts[run.start], page.starts[run.stop]) for run in runs]
    sizes = [page.entries[run.stop] - page.entries[run.start] for run in runs]
    rows: slice | Indices = slice(spans[0].start, spans[-1].stop)
    if any(a.stop != b.start for a, b in pairwise(spans)):
        rows = np.concatenate([np.arange(span.start, span.stop) for span in spans])
    ends = np.cumsum([0, *sizes]).tolist()
    data = [buffers[0][a:b] for a, b in pairwise(ends)]
    if page.layout == "dense":
        window = Window(rows, (buffers[0][: ends[-1]].reshape(-1, page.d),))
        return window, [(run, (part,)) for run, part in zip(runs, data, strict=True)]
    indices = [buffers[1][a:b] for a, b in pairwise(ends)]
    counts = [span.stop - span.start for span in spans]
    indptr = np.concatenate([[0], np.repeat(ends[:-1], counts)]).astype(page.index)
    at = np.cumsum([1, *counts]).tolist()
    starts = [indptr[a:b] for a, b in pairwise(at)]
    window = Window(rows, (buffers[0][: ends[-1]], buffers[1][: ends[-1]], indptr))
    return window, list(zip(runs, zip(data, indices, starts, strict=True), strict=True))


def runs_of(page: Page, numbers: Numbers) -> list[range]:
    """Neighbouring chunks together, as long as they are not too much for one read."""
    each = page.nbytes / max(1, page.stored)
    runs = [range(numbers[0], numbers[0] + 1)]
    for number in numbers[1:]:
        size = each * (page.entries[number + 1] - page.entries[runs[-1].start])
        if number == runs[-1].stop and size <= _READ_BYTES:
            runs[-1] = range(runs[-1].start, number + 1)
        else:
            runs.append(range(number, number + 1))
    return runs


def checksum(part: NDArray[Any], before: int = 0) -> int:
    """The CRC-32 of an array's bytes, which goes on from that of what came `before`."""
    return zlib.crc32(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data, before)


def largest_chunk(page: Page) -> int:
    """Bytes that the largest chunk takes in memory."""
    each = np.dtype(page.dtype).itemsize + (np.dtype(page.index).itemsize if page.layout == "csr" else 0)
    rows = np.diff(page.starts) * (8 + np.dtype(page.index).itemsize)  # numbers of rows, row starts
    return int((np.diff(page.entries) * each + rows).max())


def _names(page: Page) -> tuple[str, ...]:
    return ("data", "indices", "indptr") if page.layout == "csr" else ("data",)


def _close(files: list[int]) -> None:
    for file in files:
        os.close(file)
