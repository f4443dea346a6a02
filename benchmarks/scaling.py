"""Time against the number of rows, 10⁴ to 10⁷ of generated text-like data; a straight line of slope 1 is linear cost.

`python -m benchmarks.scaling`, `make bench-scaling`. Writes scaling.csv, scaling.png and scaling.svg.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.progress import track
from rich.table import Table
from threadpoolctl import threadpool_limits

import dualfree as df
from benchmarks.data import text_like
from benchmarks.machine import console, print_machine
from benchmarks.race.pictures import figure, label_seconds, save
from benchmarks.timing import take_turns
from dualfree.plots import COLOURS

ROWS = (10_000, 31_623, 100_000, 316_228, 1_000_000, 3_162_278, 10_000_000)
FEATURES = 100_000
PER_ROW = 18  # about 17 distinct words a row
TOL = 1e-6
RESULTS = Path(__file__).parent / "results"


def measure(n: int, threads: int, solve: Any = df.solve) -> dict[str, float]:
    """Seconds of a whole call, the median of 3 (of 1 from a million rows on), λ = 1/n."""
    X, y = text_like(n, FEATURES, PER_ROW)
    found = []
    options = {"n_threads": threads} if threads > 1 else {}

    def call() -> None:
        problem = df.Problem(X, df.losses.Logistic(y), 1 / n)
        found.append(solve(problem, method="auto", tol=TOL, max_epochs=1000, **options))

    seconds = take_turns({"": call}, 3 if n < 1_000_000 else 1, warm_up=int(n < 1_000_000))[""].median
    result = found[-1]
    gap = result.certificate.relative_gap
    return {"n": n, "nonzeros": X.nnz, "seconds": seconds, "epochs": result.epochs, "relative_gap": gap}


def slope(n: Sequence[float], seconds: Sequence[float]) -> float:
    """The exponent k of ``seconds ∝ n^k``, by least squares on logarithms.

    Examples
    --------
    >>> round(slope([10, 100, 1000], [2, 20, 200]), 12)
    1.0
    """
    return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])


def draw(rows: Sequence[dict[str, float]], path: Path) -> None:
    """Seconds against n on logarithmic axes, with the fitted slope and a line of slope 1."""
    n, seconds = [row["n"] for row in rows], [row["seconds"] for row in rows]
    picture = figure(6.4, 4.6)
    axes = picture.subplots()
    straight = [seconds[-1] * size / n[-1] for size in n]
    axes.plot(n, straight, color="grey", linestyle="--", linewidth=1, label="slope 1")
    label = f"dualfree, fitted slope {slope(n, seconds):.2f}"
    axes.plot(n, seconds, color=COLOURS[0], marker="o", linewidth=1.8, label=label)
    axes.set(xscale="log", yscale="log", xlabel="rows n", ylabel=f"seconds to a certified gap of {TOL:g}")
    label_seconds(axes.yaxis)
    axes.set_title(f"Logistic regression, λ = 1/n, about 17 nonzeros a row, d = {FEATURES:,} (synthetic)", fontsize=9)
    axes.grid(color="0.9", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    save(picture, path)


def main(
    largest: Annotated[int, typer.Option(help="Rows, at most.")] = ROWS[-1],
    threads: Annotated[int, typer.Option(help="Threads of dualfree.")] = 1,
    output: Annotated[Path, typer.Option(help="Folder for the table and the picture.")] = RESULTS,
) -> None:
    """Measure, print, save."""
    sizes = [n for n in ROWS if n <= largest]
    with threadpool_limits(limits=1):
        rows = [measure(n, min(threads, os.cpu_count() or 1)) for n in track(sizes, "scaling", console=console)]
    table = Table(title=f"Seconds to a certified relative gap of {TOL:g}; {threads} thread(s)")
    for heading in rows[0]:
        table.add_column(heading.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(*(f"{value:,}" if isinstance(value, int) else f"{value:.3g}" for value in row.values()))
    console.print(table)
    console.print(f"Fitted slope: {slope([row['n'] for row in rows], [row['seconds'] for row in rows]):.3f}.")
    print_machine()
    output.mkdir(parents=True, exist_ok=True)
    lines = [",".join(rows[0]), *(",".join(f"{value:.6g}" for value in row.values()) for row in rows)]
    (output / "scaling.csv").write_text("\n".join(lines) + "\n")
    draw(rows, output / "scaling")


if __name__ == "__main__":
    typer.run(main)
