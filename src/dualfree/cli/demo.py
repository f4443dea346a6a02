"""``dualfree demo``."""

from pathlib import Path
from typing import Annotated

import typer

from dualfree import demo as demonstration
from dualfree import plots
from dualfree.cli.app import app
from dualfree.cli.terminal import bars, console, show, table
from dualfree.cli.train import INTERRUPTED
from dualfree.result import Status


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="Where the picture and its numbers go.")
    ] = Path("demo-output"),
) -> None:
    """Train by five samplings, and compare what the theory promised with what happened."""
    present(output)


def present(folder: Path, n: int | None = None) -> None:
    """Run the demonstration in the terminal; `n` asks for a stand-in of so many examples."""
    folder.mkdir(parents=True, exist_ok=True)
    dataset = demonstration.data(n)
    source = describe(dataset.provenance)
    out = console()
    examples, features = dataset.X.shape
    out.print(
        f"Logistic regression on {source}: {examples:,} examples, {features} features, λ = 1/n, to a certified "
        f"relative gap of {demonstration.TOL:g}."
    )
    width = max(map(len, demonstration.NAMES))
    with bars(demonstration.TOL) as add:
        runs = demonstration.run(dataset, lambda name: add(f"{name:{width}}"))
    _table(runs, source)
    if dataset.provenance == "stand-in":
        out.print(
            "These are NOT numbers of the real w8a. To get it: dualfree datasets w8a -o w8a.svm, or set DUALFREE_DATA "
            "to a folder that holds w8a.svm.",
            style="bold yellow",
        )
    _write(folder, runs, source)
    if runs[-1].result.status is Status.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)


def describe(provenance: str) -> str:
    """The data in words; a stand-in says so loudly."""
    return "a generated STAND-IN for w8a (not the real data)" if provenance == "stand-in" else f"the {provenance} w8a"


def _table(runs: list[demonstration.Run], source: str) -> None:
    shown = table(
        *("sampling", "step", "promised epochs", "actual epochs", "seconds", "certified gap", "status"),
        left=["sampling", "step", "status"],
    )
    for run in runs:
        result = run.result
        shown.add_row(
            run.name,
            result.step,
            f"{result.bound.epochs:.1f}" if result.bound.covered else "not covered",
            f"{result.epochs:.1f}",
            f"{result.seconds:.3f}",
            f"{result.certificate.gap:.2e}",
            result.status.replace("_", " "),
        )
    out = console()
    out.print()
    show(f"Promised and actual, on {source}", shown)
    out.print()
    out.print("promised: Theorem 2's bound in expectation. certified: P(w) is at most this far from the optimum.")


def _write(folder: Path, runs: list[demonstration.Run], source: str) -> None:
    out = console()
    numbers, picture = folder / "convergence.csv", folder / "convergence.png"
    demonstration.write_csv(numbers, runs, source)
    title = f"Five samplings, one problem: logistic regression, λ = 1/n\nData: {source}"
    try:
        plots.convergence(picture, [run.curve for run in runs], title, demonstration.TOL)
        out.print(f"Picture: {picture}", soft_wrap=True)
    except ImportError as error:
        console(stderr=True).print(f"No picture: {error}", soft_wrap=True)
    out.print(f"Numbers: {numbers}", soft_wrap=True)
