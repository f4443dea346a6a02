"""Convergence of every method that `dualfree.solve` has, in epochs and in seconds, each with its own sampling and step.

`python -m benchmarks.methods`, `make bench-methods`. Prints a table and writes methods.csv and methods.png; with
`--output docs/images` the picture of docs/methods.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import track
from rich.table import Table
from threadpoolctl import threadpool_limits

import dualfree as df
from benchmarks import data
from benchmarks.machine import console, print_machine
from benchmarks.race.pictures import figure, label_seconds
from dualfree.methods import METHODS
from dualfree.methods.coordinates import CoordinateMethod
from dualfree.methods.primal import Primal
from dualfree.paper.runs import Curve, reached, run
from dualfree.plots import COLOURS

FLOOR = 1e-10  # of (P(w) − P*)/(P(0) − P*): there a run ends
TARGETS = (1e-3, 1e-6)
RESULTS = Path(__file__).parent / "results"
FAMILIES = ("dual and dual-free", "primal", "along features", "all examples at once")
REFERENCE = "dfsdca"  # drawn in every panel


@dataclass(frozen=True)
class Runs:
    """All methods on one dataset; `left_out` has the reasons of those that cannot run there."""

    dataset: str
    curves: dict[str, Curve]
    left_out: dict[str, str]


def family(name: str) -> str:
    """Which of `FAMILIES` a method belongs to.

    Examples
    --------
    >>> [family(name) for name in ("quartz", "saga", "nsync", "lbfgs")] == list(FAMILIES)
    True
    """
    kind = METHODS[name]
    if kind.takes_all:
        return FAMILIES[3]
    return (
        FAMILIES[2] if issubclass(kind, CoordinateMethod) else FAMILIES[1] if issubclass(kind, Primal) else FAMILIES[0]
    )


def measure(name: str, loaded: data.Data, epochs: float, seconds: float) -> Runs:
    """Logistic regression with λ = 1/n, until the floor, so many epochs or so many seconds; w = 0 at the start."""
    problem = df.Problem(loaded.X, df.losses.Logistic(loaded.y), 1 / len(loaded.y))
    best = df.solve(problem, method="auto", tol=1e-13, max_epochs=3000).certificate.value
    scale = problem.value([0.0] * problem.d) - best
    curves, left_out = {}, {}
    for method in track(METHODS, name, console=console):
        try:
            found = run(problem, best, method, epochs=epochs, floor=FLOOR * scale, method=method, time_limit=seconds)
        except (TypeError, ValueError) as refusal:
            left_out[method] = str(refusal)
        else:
            relative = [value / scale for value in found.suboptimality]
            curves[method] = Curve(method, found.step, found.epoch, found.iteration, found.seconds, relative)
    return Runs(f"{name} ({loaded.provenance})", curves, left_out)


def draw(runs: Sequence[Runs], path: Path) -> None:
    """A row a family, for each dataset a column of epochs and one of seconds; dfSDCA is in all of them."""
    picture = figure(4.2 * 2 * len(runs), 3.4 * len(FAMILIES))
    panels = picture.subplots(len(FAMILIES), 2 * len(runs), squeeze=False, sharey=True, sharex="col")
    for row, title in zip(panels, FAMILIES, strict=True):
        names = [name for name in METHODS if family(name) == title and name != REFERENCE]
        for at, one in enumerate(runs):
            for axes, across in zip(row[2 * at : 2 * at + 2], ("epoch", "seconds"), strict=True):
                _lines(axes, one, names, across)
        row[0].set_ylabel(f"{title}\n(P(w) − P*)/(P(0) − P*)")
        handles = {line.get_label(): line for axes in row for line in axes.lines}
        row[-1].legend(
            handles.values(), handles, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8
        )
    for at, one in enumerate(runs):
        panels[0][2 * at].set_title(f"{one.dataset}, λ = 1/n", fontsize=10)
        panels[-1][2 * at].set_xlabel("epochs")
        panels[-1][2 * at + 1].set_xlabel("seconds (evaluations not counted)")
    picture.savefig(path)


def _lines(axes: Any, one: Runs, names: Sequence[str], across: str) -> None:
    for number, name in enumerate([REFERENCE, *names]):
        if name not in one.curves:
            continue
        colour = "0.65" if name == REFERENCE else COLOURS[(number - 1) % len(COLOURS)]
        style = "-" if number <= len(COLOURS) else "--"
        curve = one.curves[name]
        width = 3.0 if name == REFERENCE else 1.3
        x, y = getattr(curve, across)[1:], curve.suboptimality[1:]  # the start has no place on a logarithmic axis
        axes.plot(x, y, style, color=colour, linewidth=width, marker=".", markersize=3, label=name)
    axes.set(xscale="log", yscale="log", ylim=(FLOOR, 2))
    label_seconds(axes.xaxis)  # or epochs
    axes.grid(color="0.92", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def rows_of(runs: Sequence[Runs]) -> list[tuple[str, ...]]:
    """Dataset, method, milliseconds an epoch, then epochs and seconds to each target; a dash where that was not met."""
    out = []
    for one in runs:
        for name, curve in one.curves.items():
            each = curve.seconds[-1] / curve.epoch[-1] * 1e3 if curve.epoch[-1] else float("nan")
            found = [reached(side, curve.suboptimality, t) for t in TARGETS for side in (curve.epoch, curve.seconds)]
            out.append(
                (one.dataset, name, f"{each:.3g}", *(f"{value:.3g}" if value < 1e300 else "–" for value in found))
            )
    return out


def main(
    datasets: Annotated[list[str] | None, typer.Option(help="May be given more than once. Default: w8a, rcv1.")] = None,
    epochs: Annotated[float, typer.Option(help="Passes over the data, at most.")] = 100,
    seconds: Annotated[float, typer.Option(help="Of one method on one dataset, evaluations included, at most.")] = 30,
    output: Annotated[Path, typer.Option(help="Folder for the table and the picture.")] = RESULTS,
) -> None:
    """Measure, print, save."""
    with threadpool_limits(limits=1):
        runs = [measure(name, data.load(name), epochs, seconds) for name in datasets or ("w8a", "rcv1")]
    headings = ["dataset", "method", "ms an epoch", *(f"{unit} to {t:g}" for t in TARGETS for unit in ("epochs", "s"))]
    table, rows = Table(title="To a suboptimality relative to that of w = 0"), rows_of(runs)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("dataset", "method") else "right")
    for row in rows:
        table.add_row(*row)
    console.print(table)
    for one in runs:
        for name, why in one.left_out.items():
            console.print(f"Left out on {one.dataset}: {name}: {why}", soft_wrap=True)
    print_machine()
    output.mkdir(parents=True, exist_ok=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "methods.csv").write_text("\n".join(",".join(row) for row in [headings, *rows]) + "\n", encoding="utf-8")
    draw(runs, output / "methods.png")


if __name__ == "__main__":
    typer.run(main)
