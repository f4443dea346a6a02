"""Which container for the store: a ``.npy`` file for each array, Arrow IPC, or ``.npz``; written, and read at random.

Each holds the same chunks of a CSR matrix of 4 MB, and each is read as a fit would: whole chunks in random order, as
NumPy arrays whose every byte is touched. ``python -m benchmarks.containers --megabytes 1000``.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from benchmarks.machine import console, print_machine
from benchmarks.store import evict
from dualfree.optional import require

CHUNK = (4 << 20) // 12  # entries
Chunks = list[tuple[Any, Any]]  # columns and values


def write_npy(folder: Path, chunks: Chunks) -> None:
    np.save(folder / "indices.npy", np.concatenate([columns for columns, _ in chunks]))
    np.save(folder / "data.npy", np.concatenate([values for _, values in chunks]))


def read_npy(folder: Path, order: Any) -> float:
    total = 0.0
    indices, data = np.empty(CHUNK, np.int32), np.empty(CHUNK)
    parts: list[Any] = [indices, data]
    files = [os.open(folder / f"{name}.npy", os.O_RDONLY) for name in ("indices", "data")]
    for k in order:
        for file, array in zip(files, parts, strict=True):
            os.preadv(file, [array.data], 128 + int(k) * array.nbytes)
        total += float(data.sum()) + int(indices[-1])
    for file in files:
        os.close(file)
    return total


def write_arrow(folder: Path, chunks: Chunks) -> None:
    arrow = require("pyarrow", "tables")
    schema = arrow.schema([("indices", arrow.int32()), ("data", arrow.float64())])
    with arrow.OSFile(str(folder / "chunks.arrow"), "wb") as sink, arrow.ipc.new_file(sink, schema) as writer:
        for columns, values in chunks:
            writer.write_batch(arrow.record_batch([arrow.array(columns), arrow.array(values)], schema=schema))


def _read_arrow(source: Any, order: Any) -> float:
    total = 0.0
    with source, require("pyarrow", "tables").ipc.open_file(source) as reader:
        for k in order:
            batch = reader.get_batch(int(k))
            total += float(batch.column(1).to_numpy().sum()) + int(batch.column(0)[-1].as_py())
    return total


def read_arrow_mapped(folder: Path, order: Any) -> float:
    return _read_arrow(require("pyarrow", "tables").memory_map(str(folder / "chunks.arrow")), order)


def read_arrow_file(folder: Path, order: Any) -> float:
    return _read_arrow(require("pyarrow", "tables").OSFile(str(folder / "chunks.arrow")), order)


def write_npz(folder: Path, chunks: Chunks) -> None:
    for k, (columns, values) in enumerate(chunks):
        np.savez(folder / f"{k}.npz", indices=columns, data=values)


def read_npz(folder: Path, order: Any) -> float:
    total = 0.0
    for k in order:
        with np.load(folder / f"{k}.npz") as file:
            total += float(file["data"].sum()) + int(file["indices"][-1])
    return total


KINDS: dict[str, tuple[Callable[[Path, Chunks], None], Callable[[Path, Any], float]]] = {
    "npy, pread": (write_npy, read_npy),
    "Arrow IPC, memory-mapped": (write_arrow, read_arrow_mapped),
    "Arrow IPC, read": (write_arrow, read_arrow_file),
    "npz for each chunk": (write_npz, read_npz),
}


def compare(place: Path, count: int) -> list[tuple[str, float, float, float]]:
    """MB a second of each container: written, read cold, read from the system's cache."""
    rng = np.random.default_rng(0)
    chunks = [(rng.integers(0, 10**6, CHUNK, dtype=np.int32), rng.random(CHUNK)) for _ in range(count)]
    order, size = rng.permutation(count), 12 * CHUNK * count / 1e6
    rows: list[tuple[str, float, float, float]] = []
    sums = set()
    for name, (write, read) in KINDS.items():
        folder = place / str(len(rows))
        folder.mkdir()
        begun = time.perf_counter()
        write(folder, chunks)
        os.sync()
        written = size / (time.perf_counter() - begun)
        evict(folder, "*")
        speeds = []
        for _ in ("cold", "from the cache"):
            begun = time.perf_counter()
            sums.add(round(read(folder, order), 6))
            speeds.append(size / (time.perf_counter() - begun))
        rows.append((name, written, speeds[0], speeds[1]))
    assert len(sums) == 1  # all have read the same
    return rows


def main(megabytes: Annotated[float, typer.Option(help="Of data; twice as much is needed on the disk.")] = 100) -> None:
    """Write, read, compare, delete."""
    place = Path(tempfile.mkdtemp(prefix="dualfree-containers-"))
    try:
        rows = compare(place, max(2, int(megabytes * 1e6 / (12 * CHUNK))))
    finally:
        shutil.rmtree(place)
    table = Table("container", "written, MB/s", "read cold, MB/s", "read from cache, MB/s", title=f"{megabytes:g} MB")
    for name, *speeds in rows:
        table.add_row(name, *(f"{speed:,.0f}" for speed in speeds))
    console.print(table)
    print_machine()


if __name__ == "__main__":
    typer.run(main)
