"""``dualfree reproduce``."""

from pathlib import Path
from typing import Annotated

import typer

from dualfree.cli.app import app
from dualfree.cli.terminal import console, show, table
from dualfree.paper import FULL, QUICK
from dualfree.paper import reproduce as run
from dualfree.paper.contents import NAMES


@app.command()
def reproduce(
    figure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"Only this one; may be given more than once. One of {', '.join(NAMES)}."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Two minutes: small stand-ins, not the real data. To see how it looks.")
    ] = False,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="Where the report and the raw results go.")
    ] = Path("reproduction"),
) -> None:
    """Make every table, figure and claim of the paper anew, and one page that holds them.

    Real data are used where they are at hand (set DUALFREE_DATA), stand-ins elsewhere. What was computed is kept: a
    run that was interrupted continues.
    """
    words = ["dualfree reproduce", *(f"--figure {name}" for name in figure or ()), *(["--quick"] * quick)]
    outcome = run(output, QUICK if quick else FULL, figure or (), " ".join(words))
    out = console()
    if outcome.verdicts:
        shown = table("claim", "measured", "verdict", left=["claim", "measured", "verdict"])
        for verdict in outcome.verdicts:
            shown.add_row(verdict.claim, verdict.measured, verdict.word)
        show("Claims of the paper", shown)
        holding = sum(verdict.holds for verdict in outcome.verdicts)
        out.print(f"{holding} of {len(outcome.verdicts)} claims hold.")
    out.print(f"{len(outcome.computed)} experiments were run now; all together take {outcome.seconds:.0f} s.")
    out.print(f"Report: {outcome.page}", soft_wrap=True)
