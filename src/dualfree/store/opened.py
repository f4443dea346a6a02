"""`open_store`: a store as something to fit, whether it fits into memory or not."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from dualfree.arrays import Floats, Indices, vector, whole
from dualfree.store.layout import Page, byte_count, load_array, load_page, shuffled_rows
from dualfree.store.mapped import mapped_rows
from dualfree.store.reader import BUFFERS, Window, WindowReader, largest_chunk

# What a fit takes at its peak, measured: α, the best α, y, v, steps, and what lives for a moment.
_EXAMPLE_BYTES, _INTERCEPT_BYTES, _FEATURE_BYTES = 72, 32, 120
_OUTPUT_BYTES, _OUTPUT_INTERCEPT_BYTES = 16, 64  # for each output of an example beyond the first
_LEAST_WINDOW, _LARGEST_WINDOW = 4, 16  # chunks; with fewer it takes more epochs, with more not fewer
MOST_PASSES = 8  # over a window in a row: more would only fit it better than the others allow
_LIBRARIES = 150_000_000  # what Python and its libraries take, where it cannot be measured


@dataclass(frozen=True, eq=False)
class Store:
    """Examples and labels on disk, in chunks; made by `open_store`.

    Attributes
    ----------
    path : Path
        The folder.
    memory_limit : int
        Bytes that the whole process may take.
    local_passes : int or None
        Times that the same chunks are gone over in a row; None where that is decided by measurement.
    libraries : int
        Bytes that the process took when the store was opened.
    """

    path: Path
    page: Page
    memory_limit: int
    local_passes: int | None = None
    libraries: int = _LIBRARIES

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """``(n, d)``."""
        return self.page.n, self.page.d

    @property
    def dtype(self) -> Any:
        """Of the values."""
        return np.dtype(self.page.dtype)

    @cached_property
    def y(self) -> NDArray[Any]:
        """The labels: float64, or text from a table."""
        labels = load_array(self.path, "labels", self.page)
        return labels if self.page.classes is None else np.array(self.page.classes)[labels.astype(np.intp)]

    @property
    def file_rows(self) -> Indices | None:
        """The number of each row in the files that were imported, which come one after the other; None if unknown.

        ``out[store.file_rows] = model.predict(store)`` puts predictions into the order of the files.
        """
        return None if self.page.shuffle is None else shuffled_rows(*self.page.shuffle, self.page.n)

    @property
    def feature_names(self) -> list[str] | None:
        """The columns' names, where the files had them."""
        return None if self.page.feature_names is None else list(self.page.feature_names)

    @property
    def fits(self) -> bool:
        """Whether a fit has room for all rows at once; then it is one in memory, by any method."""
        return self.fits_for(1)

    def fits_for(self, outputs: int) -> bool:
        """The same where each example has so many outputs, as it has with a softmax of so many classes."""
        if self.page.layout == "csr" and self.page.stored > np.iinfo(self.page.index).max:
            return False  # rows in memory have row starts and columns of one type
        curvature = _curvature_bytes((self.page.d + 1) * outputs)
        return self.page.nbytes + 8 * self.page.n + curvature <= self._room(True, outputs)

    def matrix(self) -> Any:
        """All rows in memory, as a CSR array or a dense one: mapped there, so that no second copy is made."""
        if self.page.layout == "csr" and self.page.stored > np.iinfo(self.page.index).max:
            raise ValueError(f"{self.path} has {self.page.stored:,} entries, too many for one matrix; take parts().")
        return self._matrix(mapped_rows(self.path, self.page))

    def rows(self, chunks: range) -> Any:
        """The rows of some neighbouring chunks, in memory."""
        (window,) = WindowReader(self.path, self.page, len(chunks)).visit([tuple(chunks)])
        return self._matrix(window.arrays)

    def parts(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """X and y of a few chunks at a time; each X is valid until the next is asked for."""
        for window in self._few_at_a_time():
            yield self._matrix(window.arrays), self.y[window.rows]

    def __matmul__(self, w: ArrayLike) -> Floats:
        """``Xw``, in one pass over the store: its entries, or its rows where w is a matrix, are in the order of `y`."""
        point = vector("w", w, self.page.d) if np.ndim(w) != 2 else np.asarray(w, dtype=np.float64)
        if len(point) != self.page.d:
            raise ValueError(f"w has {len(point)} rows; for {self.path} it must have {self.page.d}.")
        out = np.empty((self.page.n, *point.shape[1:]))
        for window in self._few_at_a_time(out.nbytes + point.nbytes):
            out[window.rows] = self._matrix(window.arrays) @ point
        return out

    def __repr__(self) -> str:
        n, d = self.shape
        return f"Store({str(self.path)!r}: {n:,} examples, {d:,} features, {self.page.chunks} chunks)"

    def reader(self, intercept: bool, outputs: int = 1) -> WindowReader:
        """Reads windows for a fit, as large as `memory_limit` allows and it makes sense."""
        room, each = self._room(intercept, outputs), largest_chunk(self.page)
        least = min(_LEAST_WINDOW, self.page.chunks)
        if room < BUFFERS * least * each:
            needed = self.memory_limit - room + BUFFERS * least * each
            raise ValueError(
                f"memory_limit is {self.memory_limit:,} bytes, but a fit of {self.path} needs {needed:,}: "
                f"{_example_bytes(intercept, outputs)} for each of {self.page.n:,} examples, "
                f"{_FEATURE_BYTES * outputs} for each of {self.page.d:,} features, "
                f"{BUFFERS * least} chunks of {each:,}, and {self.libraries:,} that Python and its libraries take."
            )
        return WindowReader(self.path, self.page, min(_LARGEST_WINDOW, room // (BUFFERS * each), self.page.chunks))

    def _room(self, intercept: bool, outputs: int) -> int:
        """Bytes that are left for rows."""
        each = _example_bytes(intercept, outputs)
        return self.memory_limit - self.libraries - each * self.page.n - outputs * _FEATURE_BYTES * self.page.d

    def _few_at_a_time(self, taken: int = 0) -> Iterator[Window]:
        """Small windows, of one chunk where less than a few have room beside what is `taken`."""
        room = (self.memory_limit - self.libraries - taken) // (BUFFERS * largest_chunk(self.page))
        return WindowReader(self.path, self.page, max(1, min(_LEAST_WINDOW, self.page.chunks, room))).all()

    def _matrix(self, arrays: tuple[NDArray[Any], ...]) -> Any:
        """A CSR array or a dense one, without a copy."""
        if len(arrays) == 1:
            return arrays[0]
        return csr_array(arrays, shape=(len(arrays[2]) - 1, self.page.d))


def open_store(
    path: str | os.PathLike[str], *, memory_limit: int | str | None = None, local_passes: int | None = None
) -> Store:
    r"""Open what ``dualfree import`` wrote; nothing but one small file is read yet.

    Parameters
    ----------
    path : str or path
        The folder, such as ``data.dfs``.
    memory_limit : int or str, optional
        Bytes that the process may take while it fits, or text such as ``"2GB"``; by default half of the machine's
        memory. A store that fits into it is loaded whole, and any method takes it. Of a larger one
        ``method="dfsdca"`` reads a few chunks at a time.
    local_passes : int, optional
        How often dfSDCA goes over the same chunks of a larger store before the next, between 1 and 8. By default the
        number is read off the rates of disk and steps that the fit measures, so that the last digits of an answer may
        depend on how busy the machine is; a number fixes them.

    Returns
    -------
    Store
        For `dualfree.Problem`, the estimators, and ``dualfree.solve``; its labels are ``store.y``.

    Examples
    --------
    >>> import dualfree as df, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.svm").write_text("1 1:1 2:0.5\n-1 2:2\n")
    ...     store = df.import_files([folder + "/a.svm"], folder + "/a.dfs")
    ...     problem = df.Problem(store, df.losses.Logistic(store.y), lam=0.5)
    ...     result = df.solve(problem)
    >>> store.shape, result.certificate.relative_gap <= 1e-6
    ((2, 2), True)
    """
    limit = _half_of_memory() if memory_limit is None else byte_count("memory_limit", memory_limit)
    folder = Path(path)
    passes = None if local_passes is None else whole("local_passes", local_passes, 1, MOST_PASSES)
    return Store(folder, load_page(folder), limit, passes, _libraries())


def _example_bytes(intercept: bool, outputs: int) -> int:
    more = _OUTPUT_BYTES + intercept * _OUTPUT_INTERCEPT_BYTES
    return _EXAMPLE_BYTES + intercept * _INTERCEPT_BYTES + (outputs - 1) * more


def _curvature_bytes(weights: int) -> int:
    """What Newton's method (of up to 5,000 weights) or L-BFGS keeps, which a fit in memory may choose."""
    return 24 * weights**2 if weights <= 5000 else 320 * weights


def _half_of_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _libraries() -> int:
    """Bytes that the process takes before a fit."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return _LIBRARIES
    return pages * os.sysconf("SC_PAGE_SIZE")
