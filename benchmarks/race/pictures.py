"""Pictures of the results: a heat table of ratios for each loss, and curves of seconds for each dataset."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.race.rule import TARGETS, Record
from benchmarks.race.store import Outcome
from benchmarks.race.tables import OURS
from dualfree.optional import require
from dualfree.plots import COLOURS

FEW = 5  # peers in a panel of curves: the quickest
FLOOR = 1e-13  # suboptimalities below this are rounding
_LIMIT = 16.0  # ratios beyond this, or below its inverse, have the last colour


def draw(folder: Path, outcomes: Sequence[Outcome]) -> None:
    """Draw everything as PNG and SVG into the folder."""
    for loss in dict.fromkeys(o.cell.loss for o in outcomes):
        of_loss = [o for o in outcomes if o.cell.loss == loss]
        save(ratios(of_loss, loss), folder / f"ratios-{loss}")
        for dataset in dict.fromkeys(o.cell.title for o in of_loss):
            save(curves([o for o in of_loss if o.cell.title == dataset]), folder / f"curves-{loss}-{dataset}")


def figure(width: float, height: float) -> Any:
    """An empty figure without global state."""
    made = require("matplotlib.figure", "plots").Figure(figsize=(width, height), dpi=150, layout="constrained")
    require("matplotlib.backends.backend_agg", "plots").FigureCanvasAgg(made)
    return made


def save(picture: Any, path: Path) -> None:
    """Write one picture as PNG and SVG."""
    for suffix in (".png", ".svg"):
        picture.savefig(path.with_name(path.name + suffix))


def ratios(outcomes: Sequence[Outcome], loss: str) -> Any:
    """Best peer's seconds divided by ours: a row a dataset, columns λ within target."""
    datasets = list(dict.fromkeys(f"{o.cell.title} ({o.about.provenance})" for o in outcomes))
    lambdas = sorted({o.cell.lam_n for o in outcomes}, reverse=True)
    cells = {(f"{o.cell.title} ({o.about.provenance})", o.cell.lam_n): o for o in outcomes}
    picture = figure(3.2 + 0.72 * len(lambdas) * len(TARGETS), 1.5 + 0.42 * len(datasets))
    panels = picture.subplots(1, len(TARGETS), sharey=True, squeeze=False)[0]
    for axes, target in zip(panels, TARGETS, strict=True):
        grid = np.full((len(datasets), len(lambdas)), np.nan)
        for row, dataset in enumerate(datasets):
            for column, lam_n in enumerate(lambdas):
                outcome = cells.get((dataset, lam_n))
                text, grid[row, column] = _verdict(outcome, target)
                strong = abs(np.log2(grid[row, column])) > 2.2 if np.isfinite(grid[row, column]) else False
                axes.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if strong else "black")
        image = axes.imshow(
            np.log2(np.clip(grid, 1 / _LIMIT, _LIMIT)), cmap="PuOr", vmin=-4, vmax=4, aspect="auto", origin="upper"
        )
        axes.set_title(f"to {target:g}", fontsize=10)
        axes.set_xticks(range(len(lambdas)), [f"{lam_n:g}" for lam_n in lambdas])
        axes.set_yticks(range(len(datasets)), datasets)
        axes.set_xlabel("λn")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
    bar = picture.colorbar(image, ax=list(panels), ticks=range(-4, 5, 2), shrink=0.9)
    bar.ax.set_yticklabels([f"{2.0**k:g}" for k in range(-4, 5, 2)])
    picture.suptitle(f"{loss}: best peer's seconds / dualfree's (above 1, violet: dualfree is quicker)", fontsize=10)
    return picture


def _verdict(outcome: Outcome | None, target: float) -> tuple[str, float]:
    """What a field says, and its ratio."""
    if outcome is None:
        return "", np.nan
    ratio = outcome.ratio(target)
    if ratio is not None:
        return (f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"), ratio
    if outcome.seconds_to(OURS, target) is None:
        return "not\nreached", np.nan
    return "only\nours", np.nan


def curves(outcomes: Sequence[Outcome]) -> Any:
    """Relative suboptimality against seconds, a panel for each λ: dualfree and the few quickest peers."""
    picture = figure(4.4 * max(2, len(outcomes)), 5.0)
    panels = picture.subplots(1, len(outcomes), sharey=True, squeeze=False)[0]
    shown = [[OURS, *_quickest(outcome)] for outcome in outcomes]
    styles = {name: _style(number) for number, name in enumerate(dict.fromkeys(chain(*shown)))}
    handles: dict[str, Any] = {}
    for axes, outcome, names in zip(panels, outcomes, shown, strict=True):
        for name in names:
            line = axes.plot(*frontier(outcome.records[name], outcome.best), **styles[name], label=name)
            handles.setdefault(name, line[0])
        for target in TARGETS:
            axes.axhline(target, color="grey", linewidth=0.7, linestyle=":")
        axes.set(xscale="log", yscale="log", xlabel="seconds of the whole call")
        axes.set_title(f"λn = {outcome.cell.lam_n:g}", fontsize=10)
        label_seconds(axes.xaxis)
        axes.grid(color="0.92", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("(P(w) − P*) / P*")
    picture.legend(handles.values(), handles, loc="outside lower center", ncols=5, frameon=False, fontsize=8.5)
    first = outcomes[0]
    picture.suptitle(f"{first.cell.loss}, {first.cell.title} ({first.about.provenance})", fontsize=11)
    return picture


def _style(number: int) -> dict[str, Any]:
    """One look for a solver in all panels; dualfree, the first, is drawn thickest."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": "os^Dvp*"[number % 7],
        "linestyle": "-" if number < len(COLOURS) else "--",
        "linewidth": 1.2 if number else 2.6,
        "markersize": 4,
    }


def label_seconds(axis: Any) -> None:
    """Plain numbers at 1, 2 and 5 of each decade; at 1 alone where there are many decades."""
    ticker = require("matplotlib.ticker", "plots")
    least, greatest = axis.get_view_interval()
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if greatest < 200 * least else (1,)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda seconds, _: f"{seconds:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())
    axis.set_tick_params(labelsize=8)


def _quickest(outcome: Outcome) -> list[str]:
    """The peers that were quickest to the middle target, then to the others."""
    for target in (TARGETS[1], TARGETS[0], TARGETS[2]):
        times = [(outcome.seconds_to(name, target), name) for name in outcome.records if name != OURS]
        reached = sorted((seconds, name) for seconds, name in times if seconds is not None)
        if reached:
            return [name for _, name in reached[:FEW]]
    return []


def frontier(record: Record, best: float) -> tuple[list[float], list[float]]:
    """The attempts by rising seconds, without those that took longer and ended no better.

    Examples
    --------
    >>> from benchmarks.race.rule import Attempt
    >>> frontier(Record([Attempt(1, [1.0], 3.0), Attempt(0.1, [2.0], 3.5), Attempt(0.01, [3.0], 2.0)]), 1.0)
    ([1.0, 3.0], [2.0, 1.0])
    """
    seconds: list[float] = []
    excess: list[float] = []
    for attempt in sorted(record.attempts, key=lambda a: a.median):
        here = max((attempt.value - best) / abs(best), FLOOR)
        if np.isfinite(here) and (not excess or here < excess[-1]):
            seconds.append(attempt.median)
            excess.append(here)
    return seconds, excess
