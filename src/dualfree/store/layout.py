"""What lies where in a store: a folder of ``.npy`` files and one page, ``store.json``, that is written last.

======================  ==========================================================================================
``store.json``          shape, types, names, the rows at which chunks start, and a checksum of each part
``data.npy``            values: one row after the other (CSR), or an array of n × d (dense)
``indices.npy``         columns of the values (CSR only)
``indptr.npy``          where each row starts and the last one ends, n + 1 numbers of 8 bytes (CSR only)
``labels.npy``          n labels, or numbers of the classes that ``store.json`` names
``square_norms.npy``    ``‖x_i‖²``
======================  ==========================================================================================

A chunk is a run of rows, so it is one contiguous piece of each file.
"""

import json
import os
import re
import zlib
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualfree._native import kernels
from dualfree.arrays import Indices

FORMAT = 1
"""Counts up whenever an older dualfree could not read what is written."""

PAGE = "store.json"
CHUNK_BYTES = 4 << 20  # long enough for a disk, short enough that many of them fit into memory side by side
LEAST_CHUNK_BYTES, CHUNKS = 1 << 18, 64  # shorter ones where the store would have fewer than 64
_HEADER = 128  # NumPy's, for every shape that there is

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


class StoreError(ValueError):
    """A folder that is no store, or a damaged one."""


@dataclass(frozen=True)
class Page:
    """What ``store.json`` says."""

    layout: str
    n: int
    d: int
    stored: int
    dtype: str
    index: str
    sorted: bool
    starts: tuple[int, ...]
    entries: tuple[int, ...]
    checksums: tuple[list[int], ...]
    small: dict[str, int]
    classes: tuple[str, ...] | None
    feature_names: tuple[str, ...] | None
    shuffle: tuple[int, int] | None = None  # seed and number of buckets of the import, see `shuffled_rows`

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of the values and columns."""
        each = np.dtype(self.dtype).itemsize + (np.dtype(self.index).itemsize if self.layout == "csr" else 0)
        return self.stored * each

    def text(self, version: str) -> str:
        """The page as it is written."""
        return json.dumps({"format": FORMAT, "dualfree": version} | asdict(self))


def load_page(folder: Path) -> Page:
    """Read ``store.json``, or say in one sentence why that cannot be."""
    try:
        said = json.loads((folder / PAGE).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"{folder} is not a dualfree store: it has no {PAGE}; dualfree import makes one.") from None
    except (ValueError, UnicodeDecodeError):
        raise StoreError(f"{folder}: {PAGE} is damaged; import the data again.") from None
    found, version = said.pop("format", None), said.pop("dualfree", "unknown")
    if found != FORMAT:
        raise StoreError(f"{folder} has store format {found}, written by dualfree {version}; this one reads {FORMAT}.")
    try:
        lists = ("starts", "entries", "checksums", "classes", "feature_names", "shuffle")
        known: dict[str, Any] = {k: tuple(v) if k in lists and v is not None else v for k, v in said.items()}
        return Page(**known)
    except TypeError:
        raise StoreError(f"{folder}: {PAGE} has parts missing or wrong; import the data again.") from None


def is_store(path: str | os.PathLike[str]) -> bool:
    """Whether `path` is a folder with a store in it."""
    return Path(path, PAGE).is_file()


def header(shape: tuple[int, ...], dtype: Any) -> bytes:
    """The first 128 bytes of an ``.npy`` file."""
    said = f"{{'descr': '{np.dtype(dtype).str}', 'fortran_order': False, 'shape': {shape!r}, }}"
    text = b"\x93NUMPY\x01\x00" + (_HEADER - 10).to_bytes(2, "little") + said.encode()
    return text.ljust(_HEADER - 1) + b"\n"


def place(entry: int, dtype: Any) -> int:
    """Where in its file an entry lies."""
    return _HEADER + entry * int(np.dtype(dtype).itemsize)


def load_array(folder: Path, name: str, page: Page) -> NDArray[Any]:
    """One of the small arrays, its checksum compared."""
    try:
        array: NDArray[Any] = np.load(folder / f"{name}.npy", allow_pickle=False)
    except FileNotFoundError:
        raise StoreError(f"{folder}: {name}.npy is missing; import the data again.") from None
    except ValueError:
        raise StoreError(f"{folder}: {name}.npy is damaged; import the data again.") from None
    if zlib.crc32(array.view(np.uint8).data) != page.small[name]:
        raise StoreError(f"{folder}: {name}.npy does not have the checksum it was written with; import the data again.")
    return array


def shuffled_rows(seed: int, buckets: int, n: int) -> Indices:
    """For each row of a store in turn, its number in the files: what an import does to the order, without the rows.

    Each row goes to a bucket drawn for its number, and each bucket is shuffled.

    Examples
    --------
    >>> sorted(shuffled_rows(0, 3, 8).tolist())
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    drawn = kernels.draw_uniform(seed, 0, n, buckets)
    rows = np.argsort(drawn, kind="stable")
    cuts = np.searchsorted(drawn[rows], np.arange(buckets + 1)).tolist()
    for bucket, (first, last) in enumerate(pairwise(cuts)):
        if last > first:
            rows[first:last] = rows[first:last][kernels.draw_permutation(seed, bucket, last - first)]
    return np.asarray(rows, dtype=np.int64)


def byte_count(name: str, size: Any) -> int:
    """A number of bytes, or text such as "2GB" or "512MiB".

    Examples
    --------
    >>> byte_count("memory_limit", "2GB"), byte_count("memory_limit", "1.5 GiB"), byte_count("memory_limit", 4096)
    (2000000000, 1610612736, 4096)
    """
    if isinstance(size, str) and (found := re.fullmatch(r"\s*(\d+\.?\d*)\s*([kmgt]?i?)b?\s*", size.lower())):
        unit = _UNITS.get(found[2])
        if unit is not None and float(found[1]) > 0:
            return int(float(found[1]) * unit)
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool) and size > 0:
        return int(size)
    raise ValueError(f'{name} is {size!r:.60}; it must be a number of bytes above 0, or text such as "2GB".')
