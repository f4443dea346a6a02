"""``dualfree race``."""

from pathlib import Path
from typing import Annotated

import typer

from dualfree.cli.app import app
from dualfree.cli.losses import LossName, make_loss
from dualfree.cli.terminal import console, show, table
from dualfree.io import read
from dualfree.methods import METHODS
from dualfree.paper.race import Course, Entrant, entrants
from dualfree.paper.race import race as run
from dualfree.paper.report.tables import shown
from dualfree.samplings.names import FORMS


@app.command()
def race(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Examples: LIBSVM text, or a table (.csv, .parquet).")],
    method: Annotated[
        list[str] | None,
        typer.Option(help=f"May be given more than once. One of {', '.join(METHODS)}. Default: dfsdca."),
    ] = None,
    sampling: Annotated[
        list[str] | None,
        typer.Option(help=f"May be given more than once. One of {FORMS}. Default: uniform, importance and shuffled."),
    ] = None,
    step: Annotated[
        list[str] | None,
        typer.Option(
            help="May be given more than once: a name such as tuned, or a number. Default: each method's own."
        ),
    ] = None,
    lam: Annotated[
        list[float] | None,
        typer.Option(help="The regulariser λ > 0; may be given more than once. Default: 1/n.", show_default=False),
    ] = None,
    loss: Annotated[LossName | None, typer.Option(help="Logistic by default, for two classes.")] = None,
    target: Annotated[float, typer.Option(help="Stop at this suboptimality, relative to that of w = 0.")] = 1e-8,
    epochs: Annotated[float, typer.Option(help="Stop after so many passes over the data.")] = 50,
    seed: Annotated[int, typer.Option(help="One seed, one answer.")] = 0,
    label: Annotated[
        str | None, typer.Option(help="The table's column of labels. Default: label, target, y, or the last.")
    ] = None,
    gamma: Annotated[float | None, typer.Option(help="Width of the smoothed hinge's round part. Default: 1.")] = None,
    delta: Annotated[float | None, typer.Option(help="Where Huber's loss turns linear. Default: 1.")] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="Where the page, pictures and numbers go.")
    ] = Path("race-output"),
) -> None:
    """Let methods and samplings run against each other on your data, and write a page like the paper's report.

    Every method is combined with every sampling and step; what cannot be combined is left out, with the reason.
    """
    _check(target, epochs)
    samplings = sampling or ["uniform", "importance", "shuffled"]
    field = entrants(method or ["dfsdca"], samplings, [_number(text) for text in step or ()] or [None])
    if output.exists() and not output.is_dir():
        raise ValueError(f"{output} is a file; give a folder with -o.")
    data = read(file, label=label)
    lams = {f"{value:g}": value for value in lam} if lam else {"1/n": 1 / len(data.y)}
    course = Course(data.X, make_loss(loss, data.y, gamma, delta), file.name, target, epochs, seed)
    page, results, left_out = run(course, lams, field, output, _command(file, field, lams))
    said = table(*results.header, left=["λ", "entrant"])
    for row in results.rows:
        said.add_row(*map(shown, row))
    show(f"{file.name}, to a relative suboptimality of {target:g}", said)
    out = console()
    for _, name, why in left_out.rows:
        out.print(f"Left out: {name}: {why}", soft_wrap=True)
    out.print(f"Report: {page}", soft_wrap=True)


def _check(target: float, epochs: float) -> None:
    if not 0 < target < 1:
        raise ValueError(f"--target is {target:g}; it must be between 0 and 1.")
    if not 0 < epochs < float("inf"):
        raise ValueError(f"--epochs is {epochs:g}; it must be above 0.")


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _command(file: Path, field: list[Entrant], lams: dict[str, float]) -> str:
    names = "; ".join(entrant.name for entrant in field)
    return f"dualfree race {file.name} with {names}; λ = {', '.join(lams)}"
