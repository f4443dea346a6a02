"""Threads: seconds to a certified relative gap of 1e-6 with 1, 2, 4, ... of them, and chunks against standard sampling.

Three modes: ``method="auto"``; the synchronous one (dfSDCA with a mini-batch sampling); and copies
(``method="auto-copies"``), whose answer depends on the number of threads. The first two have the same bits for any
number, which is checked here. BLAS is left as a user has it, with all cores. `make bench-threads` runs it.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.progress import track
from rich.table import Table

import dualfree as df
from benchmarks import data
from benchmarks.machine import console, describe_machine, print_machine
from benchmarks.timing import take_turns

TOL = 1e-6
COUNTS = (1, 2, 4, 8, 16)
TAUS = (5, 10, 20, 50)
_TALL = 50  # features of "tall"
SAMPLING_DATA = ("w8a", "dorothea", "protein")
RESULTS = Path(__file__).parent / "results"
Solve = Callable[..., Any]  # df.solve, or a test's


@dataclass(frozen=True)
class Timed:
    """One line of a table: the median seconds, the status, the epochs, and w for comparing bits."""

    seconds: float
    status: str
    epochs: float
    w: Any


def counts(most: int) -> list[int]:
    """The numbers of threads that the machine has.

    Examples
    --------
    >>> counts(1), counts(6), counts(64)
    ([1], [1, 2, 4], [1, 2, 4, 8, 16])
    """
    return [count for count in COUNTS if count <= most]


def load(name: str, nonzeros: int) -> data.Data:
    """A dataset by name; "large" is text-like data of at least so many nonzeros, and "tall" dense ones as many."""
    if name == "tall":
        X, y = data.dense(-(-nonzeros // _TALL), _TALL)
        return data.Data(X, y, f"synthetic, {X.size:,} numbers")
    if name != "large":
        return data.load(name)
    per_row = 60  # of which some fall on the same word
    rows = 1000
    sample, _ = data.text_like(rows, 1_000_000, per_row)
    X, y = data.text_like(int(nonzeros / sample.nnz * rows * 1.01), 1_000_000, per_row)
    return data.Data(X, y, f"synthetic, {X.nnz:,} nonzeros")


def timed(calls: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, Timed]:
    """Whole calls, several times each, by turns."""
    last: dict[str, Any] = {}

    def run(name: str) -> float:
        begun = time.perf_counter()
        last[name] = calls[name]()
        return time.perf_counter() - begun

    found = take_turns({name: partial(run, name) for name in calls}, repeats, warm_up=0)
    return {
        name: Timed(found[name].median, str(result.status), result.epochs, result.w) for name, result in last.items()
    }


@contextmanager
def busy(programs: int) -> Iterator[None]:
    """So many other programs that never rest."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(programs)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def scaling(
    found: data.Data, threads: list[int], sampling: str | None, repeats: int, solve: Solve, lam_n: float = 1.0
) -> dict[str, list[Timed]]:
    """Each mode with each number of threads, without a sampling the automatic ones alone; problems are made anew."""

    def call(count: int, **settings: Any) -> Any:
        problem = df.Problem(found.X, df.losses.Logistic(found.y), lam_n / len(found.y), n_threads=count)
        return solve(problem, tol=TOL, max_epochs=1000, n_threads=count, **settings)

    modes = {"auto": {"method": "auto"}, "copies": {"method": "auto-copies"}}
    if sampling is not None:
        modes["synchronous"] = {"method": "dfsdca", "sampling": sampling}
    calls = {
        f"{mode} {count}": partial(call, count, **settings) for mode, settings in modes.items() for count in threads
    }
    lines = timed(calls, repeats)
    return {mode: [lines[f"{mode} {count}"] for count in threads] for mode in modes}


def sampling_times(name: str, tau: int, count: int, repeats: int, solve: Solve) -> dict[str, Timed]:
    """Chunks and the standard sampling on one dataset, steps of Theorem 2."""
    found = data.load(name)
    problem = df.Problem(found.X, df.losses.Logistic(found.y), 1 / len(found.y))
    samplings = {"chunks": df.samplings.Chunks(tau), "standard": df.samplings.Nice(tau)}
    options = {"method": "dfsdca", "step": "theorem-2", "tol": TOL, "max_epochs": 5000, "n_threads": count}
    calls = {kind: partial(solve, problem, sampling=sampling, **options) for kind, sampling in samplings.items()}
    return timed(calls, repeats)


def scaling_rows(name: str, threads: list[int], modes: dict[str, list[Timed]]) -> list[dict[str, Any]]:
    """Seconds, the gain over one thread, and whether the bits are those of one thread."""
    return [
        {
            "data": name,
            "mode": mode,
            "threads": count,
            "seconds": line.seconds,
            "gain": lines[0].seconds / line.seconds,
            "epochs": line.epochs,
            "status": line.status,
            "same_bits": bool(np.array_equal(line.w, lines[0].w)),
        }
        for mode, lines in modes.items()
        for count, line in zip(threads, lines, strict=True)
    ]


def _print(title: str, rows: list[dict[str, Any]]) -> None:
    table = Table(title=title)
    for heading in rows[0]:
        table.add_column(heading.replace("_", " "), justify="right" if heading != "data" else "left")
    for row in rows:
        table.add_row(*(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row.values()))
    console.print(table)


def main(
    datasets: Annotated[
        str, typer.Option(help='Names, separated by commas; "large" and "tall" are generated.')
    ] = "rcv1,cov1,large,tall",
    nonzeros: Annotated[int, typer.Option(help='At least so many in "large" and "tall".')] = 100_000_000,
    most: Annotated[int, typer.Option(help="Threads, at most.")] = os.cpu_count() or 1,
    sampling: Annotated[str, typer.Option(help="Of the synchronous mode.")] = "chunks:16",
    repeats: Annotated[int, typer.Option(help="Medians of so many.")] = 3,
    lam_n: Annotated[float, typer.Option(help="λ times the number of examples, where threads are timed.")] = 1.0,
    others: Annotated[int, typer.Option(help="Programs that never rest, beside the fits.")] = 0,
    output: Annotated[Path, typer.Option(help="Folder for threads.json.")] = RESULTS,
) -> None:
    """Time the modes with every number of threads, then chunks against standard sampling."""
    threads = counts(most)
    rows: list[dict[str, Any]] = []
    with busy(others):
        for name in track(datasets.split(","), "threads", console=console):
            found = load(name, nonzeros)
            label = f"{name} ({found.provenance})"
            batches = None if name == "tall" else sampling  # which would take minutes where features are few
            rows += scaling_rows(label, threads, scaling(found, threads, batches, repeats, df.solve, lam_n))
        against = []
        for name, tau in track([(n, t) for n in SAMPLING_DATA for t in TAUS], "samplings", console=console):
            for kind, line in sampling_times(name, tau, threads[-1], repeats, df.solve).items():
                facts = {"seconds": line.seconds, "epochs": line.epochs, "status": line.status}
                against.append({"data": name, "tau": tau, "sampling": kind, "threads": threads[-1], **facts})
    beside = f"; {others} busy programs beside" if others else ""
    _print(f"Seconds to a certified gap of {TOL:g}, λ = {lam_n:g}/n, logistic; synchronous: {sampling}{beside}", rows)
    _print(f"Chunks against standard sampling, {threads[-1]} threads, steps of Theorem 2", against)
    print_machine()
    output.mkdir(parents=True, exist_ok=True)
    kept = {"machine": describe_machine(), "others": others, "threads": rows, "samplings": against}
    (output / "threads.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
