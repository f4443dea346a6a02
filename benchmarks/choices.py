"""How far `method="auto"` is from the best of the methods that it chooses from, over generated shapes of data.

`python -m benchmarks.choices`: some minutes a loss. Prints the quantiles and the worst cells, and writes a table.
"""

import math
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.progress import track
from rich.table import Table
from threadpoolctl import threadpool_limits

import dualfree as df
from benchmarks.machine import console, print_machine
from benchmarks.peers.dualfree import LOSS
from benchmarks.shapes import Shape, all_shapes, make

RESULTS = Path(__file__).parent / "results"
LAMBDAS, TOLERANCES = (1.0, 0.1, 0.01), (1e-3, 1e-6)
# dfSDCA as `auto` runs it: what is asked for here is its own choice. It may turn to another method, as there.
METHODS: dict[str, dict[str, Any]] = {
    "dfsdca": {"method": "auto", "sampling": "restless", "step": "rescaled"},
    "newton": {"method": "newton"},
    "lbfgs": {"method": "lbfgs"},
    "auto": {"method": "auto"},
}
_HOPELESS = 4.0  # times as long as the quickest: not run again


class Choice(NamedTuple):
    """Seconds of each method to a gap of `tol`, and what `auto` did."""

    shape: Shape
    lam_n: float
    tol: float
    seconds: dict[str, float]
    did: str

    @property
    def best(self) -> str:
        """The quickest of the others."""
        return min((name for name in self.seconds if name != "auto"), key=self.seconds.__getitem__)

    @property
    def ratio(self) -> float:
        """Seconds of `auto` divided by those of the best."""
        return self.seconds["auto"] / self.seconds[self.best]


def measure(shape: Shape, X: Any, loss: Any, lam_n: float, tol: float, repeats: int, limit: float) -> Choice:
    """Whole fits, the methods taking turns; medians. One that does not get there within the limit has no time."""
    seconds: dict[str, list[float]] = {name: [] for name in METHODS}
    did = ""
    for _ in range(1 + repeats):
        quickest = min((min(found) for found in seconds.values() if found), default=math.inf)
        for name, options in METHODS.items():
            found = seconds.get(name)
            if found is None or (found and name != "auto" and min(found) > _HOPELESS * quickest):
                continue
            begun = time.perf_counter()
            problem = df.Problem(X, loss, lam_n / shape.n)
            try:
                result = df.solve(problem, tol=tol, max_epochs=10_000, time_limit=limit, **options)
            except ValueError:  # Newton's method takes 5,000 features
                del seconds[name]
                continue
            found.append(time.perf_counter() - begun)
            if name == "auto":
                did = result.method
            elif result.status != "converged":
                del seconds[name]
    return Choice(shape, lam_n, tol, {name: _middle(found) for name, found in seconds.items()}, did)


def _middle(seconds: Sequence[float]) -> float:
    """The median without the first one, which warms up, where there are others."""
    return statistics.median(seconds[1:] or seconds)


def show(choices: Sequence[Choice], worst: int) -> None:
    """Quantiles of the ratios, and the worst of them."""
    ratios = np.array([one.ratio for one in choices])
    quantiles = ", ".join(f"{q:g} %: {np.quantile(ratios, q / 100):.2f}" for q in (50, 90, 97, 100))
    console.print(f"{len(choices)} cells; auto's seconds / the best method's: {quantiles}; above 2: {sum(ratios > 2)}")
    table = Table(title="The worst")
    for heading in ("shape", "λn", "tol", "auto did", "ms", "best", "ms", "ratio"):
        table.add_column(heading)
    for one in sorted(choices, key=lambda one: -one.ratio)[:worst]:
        auto, best = 1e3 * one.seconds["auto"], 1e3 * one.seconds[one.best]
        numbers = (
            f"{one.lam_n:g}",
            f"{one.tol:g}",
            one.did,
            f"{auto:.3g}",
            one.best,
            f"{best:.3g}",
            f"{one.ratio:.2f}",
        )
        table.add_row(str(one.shape), *numbers)
    console.print(table)
    print_machine()


def write(choices: Sequence[Choice], path: Path) -> None:
    """A line for each cell."""
    lines = ["kind,n,d,row,lambda n,tol,auto did," + ",".join(METHODS)]
    for one in choices:
        cells = [f"{one.seconds[name]:.6g}" if name in one.seconds else "" for name in METHODS]
        lines.append(",".join([*map(str, one.shape), f"{one.lam_n:g}", f"{one.tol:g}", f'"{one.did}"', *cells]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(
    loss: Annotated[str, typer.Option(help=f"One of {', '.join(LOSS)}.")] = "logistic",
    repeats: Annotated[int, typer.Option(help="Fits of each method beside the first.")] = 3,
    limit: Annotated[float, typer.Option(help="Seconds of one fit, at most.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of the data.")] = 0,
    worst: Annotated[int, typer.Option(help="Cells to show.")] = 10,
    output: Annotated[Path, typer.Option(help="Folder for the table.")] = RESULTS,
) -> None:
    """Measure, print, save."""
    if loss not in LOSS:
        raise typer.BadParameter(f"loss is {loss!r}; it must be one of: {', '.join(LOSS)}.")
    choices = []
    with threadpool_limits(limits=1):
        for shape in track(list(all_shapes()), loss, console=console):
            X, y = make(shape, seed)
            cells = [(lam_n, tol) for lam_n in LAMBDAS for tol in TOLERANCES]
            choices += [measure(shape, X, LOSS[loss](y), *cell, repeats, limit) for cell in cells]
    show([one for one in choices if len(one.seconds) > 1], worst)  # others may all have run into the limit
    write(choices, output / f"choices-{loss}.csv")


if __name__ == "__main__":
    typer.run(main)
