"""What people see: tables, facts in two columns, and bars that fill as the certified gap closes."""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from dualfree.result import Row

Watch = Callable[[Row], None]


def console(*, stderr: bool = False) -> Console:
    """A console on the standard streams of this moment; numbers and brackets in texts mean nothing special."""
    return Console(stderr=stderr, highlight=False, markup=False)


def table(*columns: str, left: Iterable[str] = ()) -> Table:
    """An empty table with numbers to the right, except for the columns named in `left`."""
    # Narrow gaps and no edges, so that seven columns fit into a terminal of 80.
    out = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        out.add_column(Text(column), justify="left" if column in left else "right", overflow="fold")
    return out


def show(title: str, content: Table) -> None:
    """Print a table under its title, which may be wider than it."""
    out = console()
    out.print(title, style="bold")
    out.print(content)


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Names and what there is to say of them, in two columns."""
    out = Table.grid(padding=(0, 2))
    out.add_column(style="bold", no_wrap=True)
    out.add_column(overflow="fold")
    for name, said in rows:
        out.add_row(Text(name), Text(said))
    return out


@contextmanager
def bars(tol: float) -> Iterator[Callable[[str], Watch]]:
    """Live bars on standard error, one for each title asked for; nothing is shown where nobody looks.

    A bar is full when the relative certified gap is `tol`: the logarithm of the gap falls about evenly.
    """
    shown = console(stderr=True)
    if not shown.is_terminal:
        yield lambda title: lambda row: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24, finished_style="green"),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=shown) as progress:

        def add(title: str) -> Watch:
            task = progress.add_task(title, total=1.0, state="preparing")
            first: list[float] = []

            def update(row: Row) -> None:
                gap = row.gap / abs(row.value) if row.value else math.inf
                first.append(gap)
                done = _closed(first[0], gap, tol)
                progress.update(task, completed=done, state=f"epoch {row.epoch:5.1f}  relative gap {gap:.1e}")

            return update

        yield add


def _closed(first: float, gap: float, tol: float) -> float:
    """The part of the way from the first gap to `tol`, in logarithms."""
    if gap <= tol:
        return 1.0
    if not (tol > 0 and math.isfinite(gap) and math.isfinite(first) and first > tol):
        return 0.0
    return max(0.0, math.log(first / gap) / math.log(first / tol))
