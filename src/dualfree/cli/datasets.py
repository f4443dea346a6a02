"""``dualfree datasets``."""

import os
from pathlib import Path
from typing import Annotated

import typer

from dualfree import datasets as data
from dualfree.cli.app import app
from dualfree.cli.files import check_output
from dualfree.cli.terminal import console, show, table
from dualfree.io import write_libsvm


@app.command()
def datasets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The one to export. Without it: list them all.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to: LIBSVM text, compressed if it ends in .gz or .xz.")
    ] = None,
    standin: Annotated[
        bool, typer.Option("--standin", help="Export generated data of the same shape, not the real ones.")
    ] = False,
) -> None:
    """List the paper's datasets and where they are, or export one (fetched, if need be)."""
    if name is None:
        if output is not None or standin:
            raise ValueError(f"Which dataset? The names are {', '.join(data.names())}.")
        _list()
        return
    if output is None:
        raise ValueError(f"Where should {name} go? Give -o FILE.")
    check_output(output)
    try:
        found = data.load(name, standin=standin)
    except data.DatasetUnavailable as error:
        raise data.DatasetUnavailable(str(error).replace("pass standin=True", "add --standin")) from error
    write_libsvm(output, found.X, found.y)
    n, d = found.X.shape
    kind = {"stand-in": "a STAND-IN, generated: not the real data"}.get(found.provenance, found.provenance)
    console().print(f"{output}: {name} ({kind}), {n:,} examples, {d:,} features, {found.X.nnz:,} nonzeros.")


def _list() -> None:
    shown = table("name", "examples", "features", "nonzeros", "here", left=["name", "here"])
    with console(stderr=True).status("Looking at the files ..."):
        for name in data.names():
            about = data.describe(name)
            shown.add_row(name, f"{about.n:,}", f"{about.d:,}", f"{about.nnz:,}", _whereabouts(about))
    show("The datasets of the paper", shown)
    console().print("Export one as LIBSVM text: dualfree datasets NAME -o FILE.svm [--standin]", soft_wrap=True)


def _whereabouts(about: data.Description) -> str:
    if about.path is None:
        return "stand-in only"
    given = os.environ.get("DUALFREE_DATA")
    place = "DUALFREE_DATA" if given and Path(about.path).parent == Path(given) else "cache"
    differs = f": {about.difference}" if about.difference else ""
    return f"{about.available}, in {place}{differs}"
