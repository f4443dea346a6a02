"""Time dualfree's LIBSVM reader against scikit-learn's on w8a and cov1 as plain text, one thread each.

The real files are used if DUALFREE_DATA names a folder with them, else stand-ins of the same shape.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from sklearn.datasets import load_svmlight_file

from benchmarks.machine import console, load, print_machine
from benchmarks.timing import median_ratio, take_turns
from dualfree.io import read_libsvm, write_libsvm

REPEATS = 5


def same_arrays(ours: tuple[Any, Any], theirs: tuple[Any, Any]) -> bool:
    pairs = [(getattr(ours[0], part), getattr(theirs[0], part)) for part in ("data", "indices", "indptr")]
    return all(np.array_equal(a, b) for a, b in [*pairs, (ours[1], theirs[1])])


def measure(name: str, folder: str) -> tuple[str, ...]:
    data = load(name)
    path = str(Path(folder, f"{name}.svm"))
    write_libsvm(path, data.X, data.y)
    same = same_arrays(read_libsvm(path), load_svmlight_file(path))
    readers = {"dualfree": lambda: read_libsvm(path), "sklearn": lambda: load_svmlight_file(path)}
    # The first reads of a fresh machine mostly wait for memory that it has not used before; both get it warm.
    timings = take_turns(readers, REPEATS, warm_up=2)
    return (
        f"{name} ({data.provenance})",
        f"{Path(path).stat().st_size / 1e6:.1f}",
        f"{1e3 * timings['sklearn'].median:.1f}",
        f"{1e3 * timings['dualfree'].median:.1f}",
        f"{median_ratio(timings['sklearn'], timings['dualfree']):.1f}",
        "yes" if same else "NO",
    )


def main() -> None:
    table = Table(title=f"Reading LIBSVM text, medians of {REPEATS}")
    for heading in ("data", "MB", "sklearn ms", "dualfree ms", "ratio", "same"):
        table.add_column(heading, justify="left" if heading == "data" else "right")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("w8a", "cov1"):
            table.add_row(*measure(name, folder))
    console.print(table)
    print_machine()


if __name__ == "__main__":
    main()
