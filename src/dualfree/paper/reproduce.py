"""Everything in one go: run what is not kept yet, draw, judge the claims, and write the page."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from threadpoolctl import threadpool_limits

from dualfree.paper.claims import check_all
from dualfree.paper.contents import all_figures, choose
from dualfree.paper.report import Experiment, Figure, Raw, Store, Table, Verdict, Watch
from dualfree.paper.report.drawing import save_for_print
from dualfree.paper.report.machine import machine
from dualfree.paper.report.page import Page
from dualfree.paper.report.tables import all_data, save_csv
from dualfree.paper.scale import Scale

REPORT = "index.html"


@dataclass(frozen=True)
class Outcome:
    """What a reproduction left behind.

    Attributes
    ----------
    page : Path
        The report.
    files : list of Path
        Pictures and tables beside it.
    verdicts : list of Verdict
        On the claims whose figures were made.
    computed : list of str
        Experiments that were run now; the others were kept from before.
    seconds : float
        What all experiments took, now or earlier.
    """

    page: Path
    files: list[Path]
    verdicts: list[Verdict]
    computed: list[str]
    seconds: float


def reproduce(
    folder: Path, scale: Scale, wanted: Sequence[str] = (), command: str = "", console: Console | None = None
) -> Outcome:
    """Make the report in `folder`, which also keeps the raw results, so that a second run continues where one ended.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    scale : Scale
        `FULL` or `QUICK`.
    wanted : sequence of str
        Names of figures, or their beginnings; all by default. The page is then named after them.
    command : str
        What the user typed, for the page.
    console : Console, optional
        Where progress is shown; standard error by default.
    """
    figures = choose(all_figures(scale), wanted)
    store = Store(folder / "raw")
    shown = console or Console(stderr=True)
    raws = run_all([e for figure in figures for e in figure.experiments], store, shown)
    files: list[Path] = []
    verdicts = check_all(raws)
    page = _page(scale, raws, verdicts, store, command)
    for figure in figures:
        shown.print(f"drawing {figure.name}", highlight=False)
        files += write_figure(figure, raws, folder, page)
    rows = [(verdict.claim, verdict.where, verdict.measured, verdict.word) for verdict in verdicts]
    # A page of some figures has a name of its own: it must not replace that of all.
    stem = "-".join(wanted)
    files.append(
        save_csv(Table(("claim", "where", "measured", "verdict"), rows), folder / f"{stem or 'report'}-claims.csv")
    )
    path = folder / (f"{stem}.html" if wanted else REPORT)
    path.write_text(page.html(), encoding="utf-8")
    return Outcome(path, files, verdicts, store.computed, store.seconds)


def run_all(experiments: Sequence[Experiment], store: Store, console: Console) -> dict[str, Raw]:
    """The results of each experiment by its name, with progress for the whole and for the one under way."""
    unique = {experiment.name: experiment for experiment in experiments}
    raws = {}
    # One thread for BLAS: its own would be in the measured seconds, and spin for nothing on a busy machine.
    with _bars(len(unique), console) as begin, threadpool_limits(limits=1):
        for name, experiment in unique.items():
            with begin(name) as watch:
                raws[name] = store.fetch(experiment, watch)
    return raws


@contextmanager
def _bars(total: int, console: Console) -> Iterator[Callable[[str], AbstractContextManager[Watch]]]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[state]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        whole = progress.add_task("everything", total=total, state=f"0 of {total}")
        done = 0

        @contextmanager
        def begin(name: str) -> Iterator[Watch]:
            nonlocal done
            task = progress.add_task(name, total=1.0, state="")
            if not console.is_terminal:
                console.print(f"[{done + 1}/{total}] {name}", markup=False, highlight=False)
            yield lambda share, text: progress.update(task, completed=share, state=text[:40])
            progress.remove_task(task)
            done += 1
            progress.update(whole, completed=done, state=f"{done} of {total}")

        yield begin


def write_figure(figure: Figure, raws: dict[str, Raw], folder: Path, page: Page) -> list[Path]:
    """The figure's files, and its section of the page."""
    own = {experiment.name: raws[experiment.name] for experiment in figure.experiments}
    files = save_for_print(figure, own, folder) if figure.panels else []
    files.append(save_csv(all_data(figure, own), folder / f"{figure.name}.csv"))
    page.add_figure(figure, raws, [path.name for path in files])
    return files


def _page(scale: Scale, raws: dict[str, Raw], verdicts: list[Verdict], store: Store, command: str) -> Page:
    labels = {raw["data"]["name"]: raw["data"] for raw in raws.values() if "data" in raw}
    standins = [name for name, label in labels.items() if label["provenance"] == "stand-in"]
    page = Page(
        "Primal Method for ERM with Flexible Mini-batching Schemes and Non-convex Losses: a reproduction",
        [
            "Every table, figure and claim of the paper by D. Csiba and P. Richtárik, computed anew with dualfree. "
            "Point at a curve, or touch it, to read its values."
        ],
        f"STAND-INS, not the real data, were used for {', '.join(standins)}: generated data of the same shape. "
        "Numbers on them say nothing about the real data."
        if standins
        else "",
    )
    if verdicts:
        page.add_claims(verdicts)
    rows = [
        (
            k,
            v["provenance"],
            v["n"],
            v["d"],
            v["difference"] or "",
            v["source"] if v["provenance"] != "stand-in" else f"generated in the shape of {v['source']}",
        )
        for k, v in labels.items()
    ]
    header = ("data", "provenance", "n", "d", "how it differs from the original", "origin")
    note = "What each dataset says of itself. “reconstructed” data stand for the original but differ from it."
    if rows:
        page.add_table("provenance", "Where the data come from", Table(header, rows), note)
    made = [*machine(), ("scale", scale.name), ("seeds", "0 for every run; 0, 1, 2, ... for means over runs")]
    made += [("time of all experiments", f"{store.seconds:.0f} s"), ("command", command or "dualfree.paper.reproduce")]
    page.add_table("machine", "Machine, versions, seeds, command", Table(("what", "value"), made))
    return page
