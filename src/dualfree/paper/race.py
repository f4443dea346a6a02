"""Any methods and samplings against each other on one's own data, in the style of the paper's report."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console

from dualfree.losses import Loss
from dualfree.losses.builtin import BuiltIn
from dualfree.methods import METHODS
from dualfree.paper import curves, runs
from dualfree.paper.data import optimum
from dualfree.paper.report import Experiment, Figure, Panel, Plot, Raw, Store, Table, Watch
from dualfree.paper.report.machine import machine
from dualfree.paper.report.page import Page
from dualfree.paper.reproduce import REPORT, run_all, write_figure
from dualfree.problem import Problem
from dualfree.samplings import by_name

_RELATIVE = "(P(w) − P*) / (P(0) − P*)"


@dataclass(frozen=True)
class Entrant:
    """One that takes part: a method with a sampling and a step; None for the method's own choice.

    Examples
    --------
    >>> Entrant("dfsdca", "nice:8", None).name
    'dfsdca, nice:8'
    """

    method: str
    sampling: str | None
    step: str | float | None

    @property
    def name(self) -> str:
        """For people."""
        return ", ".join(str(part) for part in (self.method, self.sampling, self.step) if part is not None)


@dataclass(frozen=True)
class Course:
    """What they run on, and until when: a relative suboptimality of `target`, or so many epochs."""

    X: Any
    loss: Loss
    source: str
    target: float
    epochs: float
    seed: int


def entrants(
    methods: Sequence[str], samplings: Sequence[str | None], steps: Sequence[str | float | None]
) -> list[Entrant]:
    """Every combination; a method that visits all examples takes part once.

    Examples
    --------
    >>> [entrant.name for entrant in entrants(["dfsdca", "newton"], ["uniform", "nice:8"], [None])]
    ['dfsdca, uniform', 'dfsdca, nice:8', 'newton']
    """
    for method in methods:
        if method not in METHODS:
            raise ValueError(f"There is no method called {method!r}; the names are {', '.join(METHODS)}.")
    for sampling in samplings:
        if sampling is not None:
            by_name(sampling)
    out = []
    for method in methods:
        if METHODS[method].takes_all:
            out.append(Entrant(method, None, None))
        else:
            out += [Entrant(method, sampling, step) for sampling, step in product(samplings, steps)]
    return list(dict.fromkeys(out))


def race(
    course: Course,
    lams: Mapping[str, float],
    field: Sequence[Entrant],
    folder: Path,
    command: str = "",
    console: Console | None = None,
) -> tuple[Path, Table, Table]:
    """Run all entrants for each λ and write the page into `folder`.

    Returns
    -------
    The page, the table of results, and that of entrants that could not take part, with the reasons.
    """
    figure = _figure(course, lams, field)
    shown = console or Console(stderr=True)
    store = Store(folder / "raw")
    raws = run_all(figure.experiments, store, shown)
    left_out = Table(("λ", "entrant", "why"), [row for raw in raws.values() for row in map(tuple, raw["left_out"])])
    if not any(raw["curves"] for raw in raws.values()):
        raise ValueError(f"None of the {len(field)} entrants can run on this problem. {left_out.rows[0][2]}")
    n, d = course.X.shape
    page = Page(f"A race on {course.source}", [f"{n:,} examples, {d:,} features, {_in_words(course.loss)} loss."])
    write_figure(figure, raws, folder, page)
    if left_out.rows:
        page.add_table("left-out", "Who could not take part", left_out)
    made = [*machine(), ("seed", course.seed), ("command", command)]
    page.add_table("machine", "Machine, versions, seed, command", Table(("what", "value"), made))
    path = folder / REPORT
    path.write_text(page.html(), encoding="utf-8")
    return path, _summary(raws), left_out


def _figure(course: Course, lams: Mapping[str, float], field: Sequence[Entrant]) -> Figure:
    settings = {
        "data": _digest(course),
        "target": course.target,
        "epochs": course.epochs,
        "seed": course.seed,
        "entrants": [entrant.name for entrant in field],
    }
    experiments = tuple(
        Experiment(f"race-{k}", settings | {"lam": lam}, partial(_measure, course, name, lam, field))
        for k, (name, lam) in enumerate(lams.items())
    )
    panels = [
        Panel(f"λ = {name}, by {across}s", experiment.name, partial(_draw, across))
        for name, experiment in zip(lams, experiments, strict=True)
        for across in ("epoch", "second")
    ]
    return Figure(
        "race",
        "Suboptimality by epochs and by seconds",
        f"Each entrant until a relative suboptimality of {course.target:g} or {course.epochs:g} epochs of n visits. "
        "P* is certified. Seconds count the method alone, one thread, the clock stopped to evaluate. Dashed: the "
        "rate of the theorem, where one covers the entrant.",
        experiments,
        tuple(panels),
        2,
        lambda raw: curves.table(raw["curves"]),
        _summary,
    )


def _digest(course: Course) -> str:
    """Of the labels, the loss and the numbers in X: the same data under another name are the same."""
    found = hashlib.sha256(repr((_in_words(course.loss), course.X.shape)).encode())
    X = course.X
    for array in (course.loss.y, *((X.data, X.indices, X.indptr) if hasattr(X, "indptr") else (X,))):
        found.update(memoryview(array).cast("B"))
    return found.hexdigest()


def _in_words(loss: Loss) -> str:
    if not isinstance(loss, BuiltIn):
        return type(loss).__name__
    return loss.kind + "".join(f" ({parameter:g})" for parameter in loss.parameters)


def _measure(course: Course, name: str, lam: float, field: Sequence[Entrant], watch: Watch) -> Raw:
    problem = Problem(course.X, course.loss, lam)
    watch(0.0, "the optimum")
    best = optimum(problem).value
    scale = problem.value([0.0] * problem.d) - best
    raw: Raw = {"lam": name, "curves": [], "left_out": []}
    for k, entrant in enumerate(field):
        part = lambda share, text, k=k: watch((k + share) / len(field), text)  # noqa: E731
        chosen = {key: getattr(entrant, key) for key in ("method", "sampling", "step")}
        try:
            curve = runs.run(
                problem,
                best,
                entrant.name,
                epochs=course.epochs,
                floor=course.target * scale,
                seed=course.seed,
                watch=part,
                **chosen,
            )
        except (ValueError, TypeError) as error:
            raw["left_out"].append([name, entrant.name, str(error)])
            continue
        relative = [value / scale for value in curve.suboptimality]
        raw["curves"].append(curve.raw() | {"suboptimality": relative, "target": course.target})
    return raw


def _draw(across: str, plot: Plot, raw: Raw) -> None:
    column, name = ("epoch", "epochs") if across == "epoch" else ("seconds", "seconds")
    promised = {curve["name"]: curve["promised"] for curve in raw["curves"] if curve["promised"] is not None}
    curves.draw(plot, raw["curves"], column, name, promised=promised)
    plot.axis.set_ylabel(_RELATIVE)


def _summary(raws: Mapping[str, Raw]) -> Table:
    rows = []
    for raw in raws.values():
        for curve in raw["curves"]:
            spent = [runs.reached(curve[key], curve["suboptimality"], curve["target"]) for key in ("epoch", "seconds")]
            reached = [value if value < float("inf") else None for value in spent]
            rows.append((raw["lam"], curve["name"], *reached, curve["epoch"][-1], min(curve["suboptimality"])))
    return Table(("λ", "entrant", "epochs to target", "seconds to target", "epochs run", "best reached"), rows)
