"""`python -m benchmarks.race`: dualfree against its peers."""

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks import data
from benchmarks.machine import console, describe_machine, dualfree_fingerprint, processor
from benchmarks.peers import LOSSES, Peer, install_failures, peers
from benchmarks.race.pictures import draw
from benchmarks.race.rule import TARGETS, FitFailed
from benchmarks.race.runner import Race
from benchmarks.race.store import Outcome, Store
from benchmarks.race.tables import ordered, print_notes, print_summary, write_tables
from benchmarks.race.worker import Cell, Worker

RESULTS = Path(__file__).parents[1] / "results"
LAMBDAS = "1,0.1,0.01"
QUICK_DATASETS, QUICK_LIMIT = "breast-cancer,digits,w8a,dorothea", 5.0
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip


def race(
    quick: Annotated[bool, typer.Option(help="Four small datasets, the logistic loss, five seconds a solver.")] = False,
    datasets: Annotated[
        str, typer.Option(help="Names, and paths of LIBSVM, CSV, Parquet or .npz files, separated by commas.")
    ] = ",".join(data.NAMES),
    losses: Annotated[str, typer.Option(help="Names, separated by commas.")] = ",".join(LOSSES),
    solvers: Annotated[str, typer.Option(help="Beginnings of names, separated by commas; all by default.")] = "",
    lambdas: Annotated[str, typer.Option(help="λn, separated by commas.")] = LAMBDAS,
    limit: Annotated[float, typer.Option(help="Seconds that a solver may explore a cell.")] = 30.0,
    threads: Annotated[int, typer.Option(help="Threads that each solver may use.")] = 1,
    output: Annotated[
        Path, typer.Option(help="Folder for the results; what it holds is not measured again.")
    ] = RESULTS,
    fresh: Annotated[bool, typer.Option(help="Throw away what the folder holds first.")] = False,
) -> None:
    """Seconds of every solver to three targets on every dataset, loss and λ; goes on where it was interrupted."""
    if quick:
        datasets, losses, limit = QUICK_DATASETS, "logistic", min(limit, QUICK_LIMIT)
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(threads)  # the worker is a new process, so its libraries obey
    cells = [
        Cell(dataset, loss, float(lam_n))
        for loss in _chosen(losses, LOSSES, "losses")
        for dataset in _datasets(datasets)
        for lam_n in lambdas.split(",")
    ]
    if fresh and (output / "cells").is_dir():
        shutil.rmtree(output / "cells")
    output.mkdir(parents=True, exist_ok=True)
    taking_part = _solvers(solvers)
    store, worker = Store(output), Worker(str(output / "peers.log"))
    try:
        _run(cells, Race(taking_part, _stamps(taking_part, threads), store, worker, limit))
    except KeyboardInterrupt:
        console.print("Interrupted; the cells that are done are kept, and the same command goes on from there.")
    finally:
        worker.close()
    report(output, store.all(), taking_part)


def _chosen(given: str, known: Sequence[str], option: str) -> list[str]:
    names = given.split(",")
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"--{option} has {name!r}; the names are {', '.join(known)}.")
    return names


def _datasets(given: str) -> list[str]:
    """Names as they are, paths of files in full: the results must say which file, wherever the race is run from."""
    chosen = [name if name in data.NAMES else str(Path(name).expanduser().resolve()) for name in given.split(",")]
    for name, found in zip(given.split(","), chosen, strict=True):
        if found not in data.NAMES and not Path(found).is_file():
            raise typer.BadParameter(
                f"--datasets has {name!r}, which is no file; the names are {', '.join(data.NAMES)}."
            )
        if any(other != found and Path(other).name == Path(found).name for other in chosen):
            raise typer.BadParameter(f"--datasets has two files called {Path(found).name!r}; rename one of them.")
    return chosen


def _solvers(given: str) -> dict[str, Peer]:
    """The solvers that are asked for and installed; of every other one asked for, the reason is printed."""
    beginnings = tuple(given.split(","))
    asked = {name: peer for name, peer in peers().items() if name.startswith(beginnings)}
    failures = install_failures()
    reasons = {name: reason for name, peer in asked.items() if (reason := peer.missing(failures)) is not None}
    for name, reason in reasons.items():
        console.print(f"[yellow]{name} is left out:[/yellow] {reason}", highlight=False)
    return {name: peer for name, peer in asked.items() if name not in reasons}


def _stamps(taking_part: dict[str, Peer], threads: int) -> dict[str, str]:
    """Version, machine and threads of each solver's times; another stamp means that they are measured again."""
    place = f"{processor()}, {os.cpu_count()} cores, {threads} threads"
    ours = dualfree_fingerprint()
    return {
        name: f"{peer.distribution} {peer.version}{f' {ours}' if name == 'dualfree' else ''}; {place}"
        for name, peer in taking_part.items()
    }


def _run(cells: Sequence[Cell], race: Race) -> None:
    columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("ETA"), TimeRemainingColumn())
    steps = sum(cell.loss in peer.losses for cell in cells for peer in race.peers.values())
    with Progress(*columns, TextColumn("{task.description}"), console=console, speed_estimate_period=3600) as bar:
        task = bar.add_task("", total=steps)
        race.tell = lambda text: bar.update(task, description=text)
        race.step = lambda: bar.advance(task)
        for cell in cells:
            try:
                outcome = race.run(cell)
                ratios = (f"{r:.2f}" if (r := outcome.ratio(target)) is not None else "-" for target in TARGETS)
                console.print(f"{cell}: {' '.join(ratios)}", highlight=False)
            except FitFailed as failure:
                console.print(f"[red]{cell}: no P*, so nothing was measured: {failure}[/red]", highlight=False)


def report(output: Path, outcomes: Iterable[Outcome], taking_part: dict[str, Peer]) -> None:
    """Print the summary; write tables, pictures and the machine beside the cells."""
    known = ordered([o for o in outcomes if "dualfree" in o.records], data.NAMES, LOSSES)
    if not known:
        console.print("No results yet.")
        return
    machine = describe_machine(sorted({"numpy", *(peer.distribution for peer in taking_part.values())}))
    (output / "machine.json").write_text(json.dumps(machine, indent=1) + "\n")
    heading = [
        "# dualfree against its peers",
        "",
        f"{machine['processor']}, {machine['cores']} cores; Python {machine['python']}; {machine['date']}.",
        "Versions: " + ", ".join(f"{name} {version}" for name, version in machine["versions"].items()) + ".",
        "Medians; the rule is in docs/benchmarks.md.",
    ]
    write_tables(output, known, heading)
    print_summary(console, known)
    print_notes(console, known)
    draw(output, known)
    console.print(f"Tables, pictures and every run are in {output}.", highlight=False)


if __name__ == "__main__":
    typer.run(race)
