"""Panels into pictures: each alone as SVG for the page, all together as PDF and PNG for print."""

import io
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

from dualfree.io.streams import atomic_write
from dualfree.optional import require
from dualfree.paper.report.parts import Figure, Panel, Raw
from dualfree.paper.report.plot import Plot

_POINTS_PER_INCH = 72  # SVG's unit is matplotlib's point, so pixels at this resolution are its coordinates
_LOOK = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "lines.linewidth": 1.4,
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}
_PRINT_WIDTH = 7.2  # inches: a page's text width, so that the sizes above are those on paper
_ROW_HEIGHT = {1: 3.4, 2: 2.75, 3: 2.3, 4: 1.95}  # by the number of columns
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_INNER_LEGEND = 4  # labels that fit beside curves
_COMMON_LEGEND = 10  # labels that fit above all panels


@contextmanager
def _figure(width: float, height: float, salt: str) -> Iterator[Any]:
    """A matplotlib figure without a screen; settings hold while it is drawn and saved."""
    with require("matplotlib", "plots").rc_context(_LOOK | {"svg.hashsalt": salt}):
        made = require("matplotlib.figure", "plots").Figure(
            figsize=(width, height), dpi=_POINTS_PER_INCH, layout="constrained"
        )
        require("matplotlib.backends.backend_agg", "plots").FigureCanvasAgg(made)
        yield made


def panel_svg(name: str, panel: Panel, raw: Raw) -> str:
    """One panel as an SVG element whose points carry their values as titles.

    Parameters
    ----------
    name : str
        Unique on the page: it prefixes every id, for several pictures share one document.
    panel : Panel
        What to draw.
    raw : dict
        The results that it shows.
    """
    with _figure(3.6, 2.8, name) as figure:
        plot = Plot(figure.subplots())
        _draw(plot, panel, raw)
        _legend(plot.axis)
        _settle(figure)
        _, height = figure.canvas.get_width_height()
        spots = [_spot(plot, point, height) for point in plot.points]
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', f'role="img" aria-label="{escape(panel.title)}"', svg, count=1)
    return svg.replace("</svg>", f'<g class="points">{"".join(spots)}</g></svg>')


def _draw(plot: Plot, panel: Panel, raw: Raw) -> None:
    panel.draw(plot, raw)
    plot.axis.set_title(panel.title)
    low, high = plot.axis.get_ylim()
    if plot.axis.get_yscale() == "log" and high > 100 * low:
        # Over many decades small ticks are a grey smear. They, and setting formulas, are most of the drawing's time.
        ticker = require("matplotlib.ticker", "plots")
        plot.axis.yaxis.set_minor_locator(ticker.NullLocator())
        plot.axis.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: power_of_ten(value)))


def power_of_ten(value: float) -> str:
    """A tick of a logarithmic axis.

    Examples
    --------
    >>> power_of_ten(1e-12)
    '10⁻¹²'
    """
    return "10" + f"{math.log10(value):.0f}".translate(_SUPERSCRIPT)


def _settle(figure: Any) -> None:
    """Lay the figure out once and keep it so, however often it is saved."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _spot(plot: Plot, point: tuple[float, float, str], height: float) -> str:
    x, y = plot.axis.transData.transform(point[:2])
    box = plot.axis.bbox
    if not (box.x0 - 1 <= x <= box.x1 + 1 and box.y0 - 1 <= y <= box.y1 + 1):
        return ""
    return f'<circle cx="{x:.1f}" cy="{height - y:.1f}" r="5"><title>{escape(point[2])}</title></circle>'


def _legend(axis: Any, alone: bool = True) -> None:
    """Inside the axes where there is room or, for many curves on the only axes of a figure, above them."""
    handles, labels = axis.get_legend_handles_labels()
    if alone and len(labels) > _INNER_LEGEND:
        axis.figure.legend(handles, labels, loc="outside upper center", ncols=3)
    elif labels:
        axis.legend(loc="best")


def save_for_print(figure: Figure, raws: Mapping[str, Raw], folder: Path) -> list[Path]:
    """All panels together, as PDF and PNG."""
    rows = -(-len(figure.panels) // figure.columns)
    columns = min(figure.columns, len(figure.panels))
    width = _PRINT_WIDTH if columns > 1 else 5.0
    with _figure(width, rows * _ROW_HEIGHT[columns] + 0.35, figure.name) as made:
        axes = made.subplots(rows, columns, squeeze=False)
        for axis, panel in zip(axes.flat, figure.panels, strict=False):
            _draw(Plot(axis), panel, raws[panel.experiment])
        for axis in axes.flat[len(figure.panels) :]:
            axis.set_visible(False)
        _outer_labels_only(axes)
        _legends(made, list(axes.flat[: len(figure.panels)]))
        _settle(made)
        return [_save(made, folder / f"{figure.name}.{kind}") for kind in ("pdf", "png")]


def _outer_labels_only(axes: Any) -> None:
    """Where all panels of a row or column have the same label, the outermost says it for all."""
    for row in axes:
        if len({axis.get_ylabel() for axis in row if axis.get_visible()}) == 1:
            for axis in row[1:]:
                axis.set_ylabel("")
    for column in axes.T:
        seen = [axis for axis in column if axis.get_visible()]
        if len({axis.get_xlabel() for axis in seen}) == 1:
            for axis in seen[:-1]:
                axis.set_xlabel("")


def _legends(made: Any, axes: list[Any]) -> None:
    """One legend above all panels if one of them has all labels, else one in each."""
    found: dict[str, Any] = {}
    sets = []
    for axis in axes:
        handles, labels = axis.get_legend_handles_labels()
        sets.append(frozenset(labels))
        for handle, label in zip(handles, labels, strict=True):
            found.setdefault(label, handle)
    if len(axes) > 1 and max(map(len, sets)) == len(found) and 0 < len(found) <= _COMMON_LEGEND:
        made.legend(found.values(), found.keys(), loc="outside upper center", ncols=min(5, len(found)))
    else:
        for axis in axes:
            _legend(axis, alone=len(axes) == 1)


def _save(made: Any, path: Path) -> Path:
    picture = io.BytesIO()
    empty = {"Software": None} if path.suffix == ".png" else {"CreationDate": None}
    made.savefig(picture, format=path.suffix[1:], dpi=200, metadata=empty)
    with atomic_write(path) as file:
        file.write(picture.getbuffer())
    return path
