"""``dualfree import``: files of any size into a store on disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from dualfree.cli.app import app
from dualfree.cli.files import check_output
from dualfree.cli.terminal import console, facts
from dualfree.store import import_files
from dualfree.store.importing import Progress as Report


@app.command("import")
def import_command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="LIBSVM text, or tables (.csv, .parquet); .gz, .bz2, .xz too."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The store to write, such as data.dfs.")],
    label: Annotated[
        str | None, typer.Option(help="The tables' column of labels. Default: label, target, y, or the last.")
    ] = None,
    dtype: Annotated[str, typer.Option(help="float64, or float32 for a store of two thirds the size.")] = "float64",
    seed: Annotated[int, typer.Option(help="Of the order of the rows.")] = 0,
) -> None:
    """Write a store on disk, for data larger than memory: rows shuffled, in chunks of equal work, with checksums.

    Interrupted or out of disk space, it leaves OUTPUT.partial, and the same command goes on from there.
    """
    check_output(output)
    with _bar() as report:
        store = import_files(files, output, label=label, dtype=dtype, seed=seed, progress=report)
    page = store.page
    rows = [
        ("store", f"{output}: {page.n:,} examples, {page.d:,} features"),
        ("entries", f"{page.stored:,} ({page.layout}, {page.dtype}), {page.nbytes / 1e6:,.4g} MB"),
        ("chunks", f"{page.chunks:,}"),
    ]
    console().print(facts(rows))


@contextmanager
def _bar() -> Iterator[Report | None]:
    """A live bar on standard error; nothing where nobody looks."""
    shown = console(stderr=True)
    if not shown.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=shown) as progress:
        task = progress.add_task("importing", total=1.0)

        def report(done: float, doing: str) -> None:
            progress.update(task, completed=done, description=doing)

        yield report
