"""What figures of convergence share: how a run's curve is drawn and listed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dualfree.paper.report import Plot, Raw, Table
from dualfree.paper.report.plot import COLOURS, MARKERS

SUBOPTIMALITY = "P(w) − P*"
_HEADER = ("run", "step", "epoch", "iteration", "seconds", "suboptimality")


def draw(plot: Plot, curves: list[dict[str, Any]], across: str, name: str, *, promised: Mapping[str, float]) -> None:
    """Suboptimality of each curve against `across`, and under it ``e^{−θt}`` from the same start.

    Parameters
    ----------
    plot : Plot
        Where.
    curves : list of dict
        As `runs.Curve.raw` makes them.
    across : str
        The curves' column to draw against.
    name : str
        Of that axis.
    promised : mapping
        For each curve that has one, by name, θ of the theorem: its rate for one iteration.
    """
    lowest = min(min(_finite(curve["suboptimality"])) for curve in curves)
    for k, curve in enumerate(curves):
        colour, x, y = COLOURS[k % len(COLOURS)], np.array(curve[across]), np.array(curve["suboptimality"])
        seen = np.isfinite(y) & (y <= 10 * y[0])  # what diverges leaves the panel
        hover = [f"{a:.4g} {_unit(across)}, {b:.3g}" for a, b in zip(x[seen], y[seen], strict=True)]
        plot.line(x[seen], y[seen], curve["name"], colour, marker=MARKERS[k % len(MARKERS)], hover=hover)
    theory = "theory, exp(−θt)"
    for k, curve in enumerate(curves):
        if curve["name"] in promised:
            y = curve["suboptimality"][0] * np.exp(-promised[curve["name"]] * np.array(curve["iteration"]))
            plot.promise(curve[across], np.maximum(y, lowest), COLOURS[k % len(COLOURS)], theory)
            theory = "_nolegend_"
    plot.label(name, SUBOPTIMALITY)
    plot.axis.set_ylim(bottom=lowest / 2)


def _finite(values: list[float]) -> list[float]:
    return [value for value in values if np.isfinite(value)]


def _unit(across: str) -> str:
    return {"epoch": "epochs", "seconds": "s", "proxy": "nonzeros"}.get(across, across)


def table(curves: list[dict[str, Any]], *extra: str) -> Table:
    """Every evaluation of every curve; `extra` are columns that these curves have beyond the usual."""
    rows = []
    for curve in curves:
        columns = [curve[column] for column in (*_HEADER[2:], *extra)]
        rows += [(curve["name"], curve["step"], *numbers) for numbers in zip(*columns, strict=True)]
    return Table((*_HEADER, *extra), rows)


def named(raw: Raw, key: str = "curves") -> dict[str, dict[str, Any]]:
    """The curves of a result by name."""
    return {curve["name"]: curve for curve in raw[key]}
