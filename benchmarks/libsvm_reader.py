"""Time dualfree's LIBSVM reader against scikit-learn's on w8a and cov1 as plain text, one thread each.

The real files are used if DUALFREE_DATA names a folder with them, else stand-ins of the same shape.
"""

import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_svmlight_file

from dualfree import datasets
from dualfree._native import ISA
from dualfree.io import read_libsvm, write_libsvm

REPEATS = 5


def processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{models[0] if models else platform.processor()}, {os.cpu_count()} cores"


def median_seconds(path: str, *readers: Callable[[str], Any]) -> list[float]:
    """Take turns, so that a busy spell of the machine slows all readers alike."""
    seconds: list[list[float]] = [[] for _ in readers]
    for _ in range(REPEATS):
        for read, times in zip(readers, seconds, strict=True):
            start = time.perf_counter()
            read(path)
            times.append(time.perf_counter() - start)
    return [statistics.median(times) for times in seconds]


def measure(name: str, folder: str) -> tuple[str, ...]:
    here = os.environ.get("DUALFREE_DATA") is not None
    data = datasets.load(name, standin=not here, original_labels=True)
    path = str(Path(folder, f"{name}.svm"))
    write_libsvm(path, data.X, data.y)
    ours, theirs = read_libsvm(path), load_svmlight_file(path)
    same = all(
        np.array_equal(a, b)
        for a, b in (
            (ours[0].data, theirs[0].data),
            (ours[0].indices, theirs[0].indices),
            (ours[0].indptr, theirs[0].indptr),
            (ours[1], theirs[1]),
        )
    )
    seconds, peer = median_seconds(path, read_libsvm, load_svmlight_file)
    megabytes = Path(path).stat().st_size / 1e6
    return (
        f"{name} ({data.provenance})",
        f"{megabytes:.1f}",
        f"{1e3 * peer:.1f}",
        f"{1e3 * seconds:.1f}",
        f"{megabytes / seconds:.0f}",
        f"{peer / seconds:.1f}",
        "yes" if same else "NO",
    )


def main() -> None:
    console = Console()
    table = Table(title=f"Reading LIBSVM text, medians of {REPEATS}")
    for heading in ("data", "MB", "sklearn ms", "dualfree ms", "MB/s", "ratio", "same"):
        table.add_column(heading, justify="left" if heading == "data" else "right")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("w8a", "cov1"):
            table.add_row(*measure(name, folder))
    console.print(table)
    versions = (
        f"Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}"
    )
    console.print(f"{processor()}; {platform.system()}; {versions}; dualfree kernels: {ISA}; one thread.")
    if "DUALFREE_DATA" not in os.environ:
        console.print("[bold]These are stand-ins[/bold], because DUALFREE_DATA is not set.")


if __name__ == "__main__":
    main()
