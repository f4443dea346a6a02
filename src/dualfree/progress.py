"""Live progress of a run in the terminal."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from dualfree.result import Row

Show = Callable[[Row], None]


def progress_bar(wanted: bool, title: str, max_epochs: float) -> AbstractContextManager[Show]:
    """A bar of epochs with the value and the certified gap beside it; silent where it is not wanted."""
    return _bar(title, max_epochs) if wanted else nullcontext(lambda row: None)


@contextmanager
def _bar(title: str, max_epochs: float) -> Iterator[Show]:
    # 80 columns must hold all of it: the numbers matter more than a long title.
    title = title if len(title) <= 16 else f"{title[:15]}…"
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=10),
        TextColumn("epoch {task.completed:.1f}/{task.total:g}"),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=max_epochs, state="")

        def update(row: Row) -> None:
            bar.update(task, completed=row.epoch, state=f"P {row.value:.6g}  gap {row.gap:.2e}")

        yield update
