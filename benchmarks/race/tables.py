"""The results as CSV, as Markdown and on the terminal."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.race.rule import TARGETS
from benchmarks.race.store import Outcome
from dualfree.io.streams import atomic_write

OURS = "dualfree"
NOT_REACHED = "not reached"


def shown(seconds: float | None) -> str:
    """Three digits; "not reached" is said as such.

    Examples
    --------
    >>> shown(0.012345), shown(12.345), shown(None)
    ('0.0123', '12.3', 'not reached')
    """
    return NOT_REACHED if seconds is None else f"{seconds:.3g}"


def ordered(outcomes: Sequence[Outcome], datasets: Sequence[str], losses: Sequence[str]) -> list[Outcome]:
    """By loss, dataset in the benchmark's order and then files by name, and falling λ."""
    place = {name: at for at, name in enumerate(datasets)}
    return sorted(
        outcomes,
        key=lambda o: (losses.index(o.cell.loss), place.get(o.cell.dataset, len(place)), o.cell.title, -o.cell.lam_n),
    )


def summary_rows(outcomes: Sequence[Outcome], target: float) -> list[list[str]]:
    """A row a cell: our seconds, the best peer and its seconds, and the ratio."""
    rows = []
    for outcome in outcomes:
        peer, ratio = outcome.best_peer(target), outcome.ratio(target)
        rows.append(
            [
                outcome.cell.loss,
                f"{outcome.cell.title} ({outcome.about.provenance})",
                f"{outcome.cell.lam_n:g}",
                shown(outcome.seconds_to(OURS, target)),
                peer[0] if peer else "-",
                shown(peer[1]) if peer else NOT_REACHED,
                f"{ratio:.2f}" if ratio is not None else "-",
            ]
        )
    return rows


SUMMARY = ("loss", "data", "λn", "dualfree s", "best peer", "its s", "ratio")


def print_summary(console: Console, outcomes: Sequence[Outcome]) -> None:
    """One table for each target: the best peer's seconds divided by ours."""
    for target in TARGETS:
        table = Table(title=f"Seconds to P(w) − P* ≤ {target:g} P*, medians; ratio = best peer / dualfree")
        for heading in SUMMARY:
            table.add_column(heading, justify="left" if heading in ("loss", "data", "best peer") else "right")
        for row in summary_rows(outcomes, target):
            table.add_row(*row)
        console.print(table)


def print_notes(console: Console, outcomes: Sequence[Outcome]) -> None:
    """What a reader must know of the numbers: doubtful optima, more than one thread, times of different days."""
    for note in notes(outcomes):
        console.print(f"[yellow]{note}[/yellow]", highlight=False)


def notes(outcomes: Sequence[Outcome]) -> list[str]:
    """Sentences of doubt."""
    found = []
    for outcome in outcomes:
        optimum = outcome.about.optimum
        if optimum.disagreement > TARGETS[-1] / 10:
            found.append(f"{outcome.cell}: the two judges of P* differ by {optimum.disagreement:.1e}, relative to it.")
        lower = (optimum.value - outcome.best) / abs(optimum.value)
        if lower > TARGETS[-1] / 10:
            found.append(f"{outcome.cell}: a solver went {lower:.1e} below both judges of P*; its value was taken.")
        for name, record in outcome.records.items():
            wall = sum(sum(a.seconds) for a in record.attempts)
            processor = sum(a.processor_seconds for a in record.attempts)
            if wall > 0.1 and processor > 1.3 * wall:
                found.append(f"{outcome.cell}: {name} used {processor / wall:.1f} processors.")
    return found


def write_tables(folder: Path, outcomes: Sequence[Outcome], heading: Sequence[str]) -> None:
    """`times.csv` (a row a solver, cell and target), `runs.csv` (a row a tolerance), and `tables.md`."""
    times = [["loss", "dataset", "provenance", "lam_n", "solver", "target", "seconds", "ended", "stamp", "date"]]
    runs = [["loss", "dataset", "lam_n", "solver", "tol", "repeats", "median_seconds", "relative_suboptimality"]]
    for o in outcomes:
        cell = [o.cell.loss, o.cell.title]
        for name, record in o.records.items():
            rest = [record.ended, o.stamps[name], o.dates[name]]
            for target in TARGETS:
                seconds = shown(o.seconds_to(name, target))
                times.append([*cell, o.about.provenance, f"{o.cell.lam_n:g}", name, f"{target:g}", seconds, *rest])
            for a in record.attempts:
                excess = (a.value - o.best) / abs(o.best)
                numbers = [f"{a.tol:g}", str(len(a.seconds)), f"{a.median:.6g}", f"{excess:.3e}"]
                runs.append([*cell, f"{o.cell.lam_n:g}", name, *numbers])
        for name, reason in o.skipped.items():
            rest = [f"skipped: {reason}", o.stamps[name], o.dates[name]]
            times.append([*cell, o.about.provenance, f"{o.cell.lam_n:g}", name, "", "", *rest])
    _write_csv(folder / "times.csv", times)
    _write_csv(folder / "runs.csv", runs)
    with atomic_write(folder / "tables.md") as file:
        file.write(markdown(outcomes, heading).encode())


def _write_csv(path: Path, rows: Sequence[Sequence[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())


def markdown(outcomes: Sequence[Outcome], heading: Sequence[str]) -> str:
    """The summary of each target, then every solver's seconds for each cell."""
    parts = [*heading, ""]
    for target in TARGETS:
        parts += [f"## Relative suboptimality {target:g}", "", *_grid(SUMMARY, summary_rows(outcomes, target)), ""]
    parts += ["## Every solver", ""]
    for o in outcomes:
        size = f"n = {o.about.n:,}, d = {o.about.d:,}, {o.about.nonzeros:,} nonzeros, {o.about.provenance}"
        rows = [[name, *(shown(o.seconds_to(name, t)) for t in TARGETS), r.ended] for name, r in o.records.items()]
        rows += [[name, "-", "-", "-", f"skipped: {reason}"] for name, reason in o.skipped.items()]
        columns = ("solver", *(f"{target:g}" for target in TARGETS), "ended by")
        parts += [f"### {o.cell}", "", size, "", *_grid(columns, rows), ""]
    doubts = notes(outcomes)
    return "\n".join(parts + (["## Doubts", "", *(f"- {doubt}" for doubt in doubts), ""] if doubts else []))


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in (columns, ["---"] * len(columns), *rows)]
