"""Data larger than memory: a generated store of a given size, trained in a given memory, against the disk's own speed.

The floor is what reading the files from end to end and one pass of the kernel would take, one after the other, for as
many passes as the fit makes. The fit runs in a process of its own, whose peak of memory is read from outside. `--cold`
throws the store's pages out of the system's cache all the while, as if there were no memory for them.
For the real thing: ``python -m benchmarks.store --gigabytes 20 --memory-limit 2GB --cold``. A store that fits into the
limit is also compared with the same rows in memory: ``python -m benchmarks.store --gigabytes 0.5 --memory-limit 8GB``;
real data sets likewise, imported from their files: ``python -m benchmarks.store --data rcv1 --data cov1 --data w8a``.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.progress import track
from scipy.sparse import csr_array

import dualfree as df
from benchmarks.machine import console, describe_machine, print_machine
from dualfree._native import kernels
from dualfree.datasets.files import find_file
from dualfree.store import Store, reader
from dualfree.store.writer import StorePlan, StoreWriter

PER_ROW, BLOCK = 150, 20_000
RESULTS = Path(__file__).parent / "results"


def generate(path: Path, gigabytes: float, d: int = 1_000_000, seed: int = 0) -> None:
    """Write rows of 150 features, popular ones and rare ones, of about unit norm, with a planted model's labels.

    The k-th feature of a row is drawn from the k-th of 150 ranges, each wider than the one before; rows are alike in
    distribution, so that there is nothing to shuffle.
    """
    n = max(64, int(gigabytes * 1e9 / (12 * PER_ROW)))
    widths = np.maximum(1, 4 * np.geomspace(1, d / 60, PER_ROW)).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(widths)])
    path.mkdir()
    writer = StoreWriter(path, StorePlan("csr", n, int(starts[-1]), n * PER_ROW, "float64", "int32"))
    rng = np.random.default_rng(seed)
    model = rng.standard_normal(starts[-1])
    for first in track(range(0, n, BLOCK), "generating", console=console):
        rows = min(BLOCK, n - first)
        columns = starts[:-1] + (rng.random((rows, PER_ROW), dtype=np.float32) * widths).astype(np.int64)
        values = (0.5 + rng.random((rows, PER_ROW))) / np.sqrt(PER_ROW)
        z = np.einsum("ij,ij->i", values, model[columns])
        indptr = np.arange(0, rows * PER_ROW + 1, PER_ROW)
        X = csr_array((values.ravel(), columns.ravel().astype(np.int32), indptr), shape=(rows, int(starts[-1])))
        writer.add(X, np.where(z + 0.5 * rng.standard_normal(rows) > 0, 1.0, -1.0))
    writer.finish()


def evict(path: Path, pattern: str = "*.npy") -> None:
    """Throw a folder's files out of the system's cache."""
    for file in path.glob(pattern):
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


@contextmanager
def without_cache(path: Path, cold: bool) -> Iterator[None]:
    """Evict now and, where all is to be cold, five times a second."""
    evict(path)
    done = threading.Event()

    def keep_evicting() -> None:
        while cold and not done.wait(0.2):
            evict(path)

    thread = threading.Thread(target=keep_evicting)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def reading_seconds(path: Path, cold: bool) -> float:
    """Seconds to read values, columns and row starts from end to end, 8 MB at a time."""
    with without_cache(path, cold), memoryview(bytearray(8 << 20)) as room:
        begun = time.perf_counter()
        for name in ("data", "indices", "indptr"):
            with open(path / f"{name}.npy", "rb", buffering=0) as file:
                while file.readinto(room):
                    pass
        return time.perf_counter() - begun


def kernel_seconds(store: Store) -> float:
    """Seconds of one pass of implicit steps over all rows: the best of three over the first 64 chunks, in memory."""
    window = next(reader.WindowReader(store.path, store.page, min(64, store.page.chunks)).all())
    n, count = store.page.n, window.count
    rows = (*window.arrays, store.page.d, 0.0, 0.0, True)
    scale = np.load(store.path / "square_norms.npy")[:count].copy()  # v/(λn) with λ = 1/n
    loss, alpha, w = ("logistic", store.y[:count], None), np.zeros(count), np.zeros(store.page.d)
    seconds = []
    for epoch in range(3):
        begun = time.perf_counter()
        order = kernels.draw_permutation(0, epoch, count)
        kernels.dfsdca(rows, loss, 0.0, scale, 1.0, order, None, alpha, w)
        seconds.append(time.perf_counter() - begun)
    return min(seconds) * n / count


def fit(path: Path, memory_limit: str, tol: float) -> dict[str, Any]:
    """The fit itself, as a user's program would do it."""
    store = df.open_store(path, memory_limit=memory_limit)
    begun = time.perf_counter()
    problem = df.Problem(store, df.losses.Logistic(store.y), lam=1 / store.shape[0])
    result = df.solve(problem, tol=tol)
    return {
        "seconds": time.perf_counter() - begun,
        "epochs": result.epochs,
        "evaluations": len(result.history) - 1,
        "relative_gap": result.certificate.relative_gap,
        "status": str(result.status),
        "on_disk": not store.fits,
        "message": result.message,
    }


def measured_from_outside(path: Path, memory_limit: str, tol: float) -> dict[str, Any]:
    """The fit in a process of its own, with the peak of its memory as the system sees it."""
    code = "import sys, json, benchmarks.store as s; from pathlib import Path\n"
    code += "print(json.dumps(s.fit(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))))"
    command = [sys.executable, "-c", code, str(path), memory_limit, str(tol)]
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent) as process:
        while process.poll() is None:  # its rusage would count what this process took before it became its own
            peak = max(peak, _peak(process.pid))
            time.sleep(0.02)
        said = process.stdout.read() if process.stdout is not None else ""
    if process.returncode:
        raise RuntimeError(f"the fit ended with exit code {process.returncode}")
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found | {"peak_bytes": peak}


def _peak(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


def against_memory(path: Path, memory_limit: str | None, tol: float, repeats: int = 7) -> dict[str, float]:
    """Seconds of opening a store that fits and training, and of training on rows in memory: medians and ratio."""
    store = df.open_store(path, memory_limit=memory_limit)
    X, y = store.matrix(), store.y
    seconds: dict[str, list[float]] = {"in memory": [], "from store": []}
    for name in [*seconds] * (repeats + 1):
        begun = time.perf_counter()
        opened = df.open_store(path, memory_limit=memory_limit) if name == "from store" else None
        rows, labels = (X, y) if opened is None else (opened, opened.y)
        df.solve(df.Problem(rows, df.losses.Logistic(labels), lam=1 / len(y)), method="auto", tol=tol)
        seconds[name].append(time.perf_counter() - begun)
    medians = {name: float(np.median(times[1:])) for name, times in seconds.items()}  # the first warms up
    return medians | {"ratio": medians["from store"] / medians["in memory"]}


def real_data(names: list[str], tol: float, folder: Path) -> dict[str, Any]:
    """`against_memory` for data sets by name, imported from their files, with rows and λ = 1/n as they are."""
    found = {}
    for name in names:
        file = find_file(name)
        if file is None:
            raise typer.BadParameter(f"{name} is not there; DUALFREE_DATA must name a folder with its file.")
        store = df.import_files([file], folder / f"{name}.dfs")
        found[name] = against_memory(store.path, None, tol)
        shown = ", ".join(f"{key} {value:.4g}" for key, value in found[name].items())
        console.print(f"{name}, tol {tol:g}: {shown}")
    return found


def measure(path: Path, memory_limit: str, tol: float, cold: bool) -> dict[str, Any]:
    """Everything about one store: the floor, the fit, and their ratio."""
    store = df.open_store(path)
    reading, kernel = reading_seconds(path, cold), kernel_seconds(store)
    with without_cache(path, cold):
        found = measured_from_outside(path, memory_limit, tol)
    if not found["on_disk"]:
        found["against_memory"] = against_memory(path, memory_limit, tol)["ratio"]
    passes = found["epochs"] + found["evaluations"]
    floor = passes * reading + found["epochs"] * kernel
    return {
        "gigabytes": store.page.nbytes / 1e9,
        "examples": store.page.n,
        "memory_limit": memory_limit,
        "cold": cold,
        "reading_seconds": reading,
        "kernel_seconds": kernel,
        "floor_seconds": floor,
        "speed": floor / found["seconds"],
        **found,
    }


def main(
    gigabytes: Annotated[float, typer.Option(help="Size of the store; 20 for the real thing.")] = 0.5,
    memory_limit: Annotated[str, typer.Option(help="For the whole process of the fit.")] = "300MB",
    tol: Annotated[float, typer.Option(help="The certified relative gap.")] = 1e-4,
    cold: Annotated[bool, typer.Option("--cold", help="Keep the store out of the system's cache.")] = False,
    folder: Annotated[Path | None, typer.Option(help="Where to write the store; it is deleted after.")] = None,
    data: Annotated[list[str] | None, typer.Option(help="A real data set to compare with memory instead.")] = None,
    output: Annotated[Path, typer.Option(help="Folder for store.json.")] = RESULTS,
) -> None:
    """Generate, train, compare, delete."""
    place = Path(tempfile.mkdtemp(prefix="dualfree-store-", dir=folder))
    try:
        if data:
            _write(output / "store-data.json", real_data(data, tol, place))
            return
        free = shutil.disk_usage(place).free
        if free < 1.2e9 * gigabytes:
            raise typer.BadParameter(f"{place} has {free / 1e9:.0f} GB free; {1.2 * gigabytes:.0f} GB are needed.")
        generate(place / "a.dfs", gigabytes)
        found = measure(place / "a.dfs", memory_limit, tol, cold)
    finally:
        shutil.rmtree(place)
    for name, value in found.items():
        console.print(f"{name.replace('_', ' ')}: {value:,.4g}" if isinstance(value, float) else f"{name}: {value}")
    _write(output / "store.json", found)


def _write(path: Path, found: dict[str, Any]) -> None:
    print_machine()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": describe_machine(), "store": found}, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
