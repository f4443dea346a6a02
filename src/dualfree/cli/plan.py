"""``dualfree plan``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

import dualfree
from dualfree.cli.app import app
from dualfree.cli.losses import LossName, make_loss
from dualfree.cli.terminal import console, facts, show, table
from dualfree.io import read
from dualfree.planning import Plan
from dualfree.problem import Problem
from dualfree.samplings import by_name
from dualfree.samplings.names import FORMS


@app.command()
def plan(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Examples: LIBSVM text, or a table (.csv, .parquet).")],
    loss: Annotated[LossName | None, typer.Option(help="Logistic by default, for two classes.")] = None,
    lam: Annotated[float | None, typer.Option(help="The regulariser λ > 0. Default: 1/n.", show_default=False)] = None,
    cores: Annotated[
        int | None, typer.Option(help="Cores that share the work of a step. Default: as many as a step has pieces.")
    ] = None,
    sampling: Annotated[
        list[str] | None, typer.Option(help=f"A candidate; may be given more than once. One of {FORMS}.")
    ] = None,
    tol: Annotated[float, typer.Option(help="The accuracy that is promised, relative to P(0).")] = 1e-6,
    label: Annotated[str | None, typer.Option(help="The table's column of labels.")] = None,
    gamma: Annotated[float | None, typer.Option(help="Width of the smoothed hinge's round part. Default: 1.")] = None,
    delta: Annotated[float | None, typer.Option(help="Where Huber's loss turns linear. Default: 1.")] = None,
) -> None:
    """Say what the theory promises for each sampling, before any training."""
    data = read(file, label=label)
    problem = Problem(data.X, make_loss(loss, data.y, gamma, delta), 1 / len(data.y) if lam is None else lam)
    candidates = {repr(by_name(name)): name for name in sampling or _usual(problem, cores)}
    found = dualfree.plan(problem, [by_name(name) for name in candidates.values()], cores=cores, tol=tol)
    show(
        f"{file.name}: {problem.n:,} examples, {problem.d:,} features, λ = {problem.lam:.4g}", _rows(found, candidates)
    )
    _explain(found, cores, tol)
    console().print(f"Least work: {candidates[found[0].sampling]}.", style="bold")


def _usual(problem: Problem, cores: int | None) -> list[str]:
    """Serial samplings, and the mini-batches that fill the cores; without those that n is too small for."""
    tau = 8 if cores is None else max(cores, 1)
    names = ["uniform", "importance"]
    if tau > 1:
        names += [f"nice:{tau}", f"chunks:{tau}", f"buckets:{tau}", f"distributed:{tau}:1"]
    return [name for name in names if _fits(name, problem)]


def _fits(name: str, problem: Problem) -> bool:
    try:
        by_name(name).bind(problem)
    except ValueError:
        return False
    return True


def _rows(found: Plan, names: dict[str, str]) -> Table:
    shown = table("sampling", "steps", "epochs", "work a step", "work", left=["sampling"])
    for row in found:
        shown.add_row(
            names[row.sampling] + ("" if row.covered else " *"),
            f"{row.iterations:,.0f}",
            f"{row.epochs:.1f}",
            f"{row.proxy_per_iteration:.1f}",
            f"{row.proxy:.3g}",
        )
    return shown


def _explain(found: Plan, cores: int | None, tol: float) -> None:
    share = "each example or chunk of a step on a core of its own" if cores is None else f"{cores} cores share a step"
    notes = [
        ("steps, epochs", f"after which E[P(w) − P*] ≤ {tol:g} · P(0) is proven, with the theorem's step"),
        ("work", f"nonzeros on the busiest core, in a step and in all: a proxy for time ({share})"),
    ]
    if not all(row.covered for row in found):
        notes.append(("*", "no theorem covers it; its numbers are those of independent draws, for comparison"))
    out = console()
    out.print()
    out.print(facts(notes))
