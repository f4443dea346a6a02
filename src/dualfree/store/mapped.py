"""All rows of a store as they lie in the system's cache: mapped into memory, not copied, and checked once.

A copy would need as much memory again, and fresh memory costs more time than anything else here.
"""

import errno
import mmap
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualfree.store.layout import Page, StoreError, place
from dualfree.store.reader import IN_FLIGHT, require_checksum, runs_of


def mapped_rows(folder: Path, page: Page) -> tuple[NDArray[Any], ...]:
    """Values, columns and row starts, or values alone where X is dense; what is written to them stays in memory."""
    data = _mapped(folder, "data", page.stored, page.dtype)
    if page.layout == "dense":
        _check(folder, page, data)
        return (data.reshape(page.n, page.d),)
    indices = _mapped(folder, "indices", page.stored, page.index)
    indptr = _mapped(folder, "indptr", page.n + 1, "int64")
    _check(folder, page, data, indices, indptr)
    return data, indices, indptr.astype(page.index)


def _mapped(folder: Path, name: str, count: int, dtype: str) -> NDArray[Any]:
    size = place(count, dtype)
    with open(folder / f"{name}.npy", "rb") as file:
        if os.fstat(file.fileno()).st_size < size:
            raise StoreError(f"{folder}: {name}.npy is shorter than it was; import the data again.")
        try:
            view = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY)
        except OSError as error:
            if error.errno != errno.ENOMEM:
                raise
            raise MemoryError(f"{folder}: there is no room for the {size:,} bytes of {name}.npy.") from None
    if hasattr(view, "madvise") and hasattr(mmap, "MADV_WILLNEED"):
        view.madvise(mmap.MADV_WILLNEED)  # what is not in the cache is read ahead of the checksums
    return np.frombuffer(view, dtype, count, place(0, dtype))


def _check(folder: Path, page: Page, *parts: NDArray[Any]) -> None:
    def check(run: range) -> None:
        for number in run:
            own = slice(page.entries[number], page.entries[number + 1])
            rows = slice(page.starts[number], page.starts[number + 1] + 1)
            slices = (own, own, rows)[: len(parts)]
            require_checksum(folder, page, number, [part[at] for part, at in zip(parts, slices, strict=True)])

    with ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="dualfree-store") as pool:
        list(pool.map(check, runs_of(page, tuple(range(page.chunks)))))
