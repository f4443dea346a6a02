"""Pictures, drawn by matplotlib without a screen and without its global state."""

import io
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dualfree.io.streams import atomic_write
from dualfree.optional import require

# Okabe and Ito's colours, told apart by colour-blind people too, without the yellow that paper swallows.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#000000", "#D55E00", "#56B4E9")
_MARKERS = "os^Dvp*"
_DOTS_PER_INCH = 300


@dataclass(frozen=True)
class Curve:
    """One run: relative certified gap against epochs and seconds, and the promised rate r of ``e^(−r · epoch)``."""

    name: str
    epochs: Sequence[float]
    seconds: Sequence[float]
    gaps: Sequence[float]
    rate: float | None = None


def convergence(path: str | os.PathLike[str], curves: Sequence[Curve], title: str, tol: float) -> None:
    """Draw the curves into a PNG file: on the left against epochs with the promises, on the right against seconds.

    Parameters
    ----------
    path : str or path
        The file; it appears only once it is complete.
    curves : list of Curve
        Up to seven, so that colours and markers differ.
    title : str
        Of the whole picture; it should name the data.
    tol : float
        The relative gap that was asked for, drawn as a line.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    figure = require("matplotlib.figure", "plots").Figure(figsize=(10, 4.8), dpi=_DOTS_PER_INCH, layout="constrained")
    canvas = require("matplotlib.backends.backend_agg", "plots").FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    _panel(left, curves, lambda curve: curve.epochs, "epochs (n visits each)", tol)
    _panel(right, curves, lambda curve: curve.seconds, "seconds (evaluations not counted)", tol)
    left.set_ylabel("relative certified gap")
    for curve, colour in zip(curves, COLOURS, strict=False):
        _promise(left, curve, colour, tol)
    handles, labels = right.get_legend_handles_labels()
    if any(curve.rate for curve in curves):
        handles += left.plot([], [], color="grey", linestyle="--", linewidth=1)
        labels += ["promised rate $e^{-\\theta t}$ (Theorem 2)"]
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9.5)
    figure.suptitle(title, fontsize=12)
    picture = io.BytesIO()
    canvas.print_png(picture, metadata={"Software": None})
    with atomic_write(path) as file:
        file.write(picture.getbuffer())


def _promise(axes: Any, curve: Curve, colour: str, tol: float) -> None:
    """The promised rate as a straight line from where the curve starts, down to `tol` or to the end of the panel."""
    if not curve.rate:
        return
    first = curve.gaps[0]
    end = min(axes.get_xlim()[1], math.log(first / tol) / curve.rate)
    axes.plot([0, end], [first, first * math.exp(-curve.rate * end)], color=colour, linestyle="--", linewidth=1)


def _panel(
    axes: Any, curves: Sequence[Curve], across: Callable[[Curve], Sequence[float]], name: str, tol: float
) -> None:
    for curve, colour, marker in zip(curves, COLOURS, _MARKERS, strict=False):
        axes.plot(across(curve), curve.gaps, color=colour, marker=marker, markersize=4, linewidth=1.6, label=curve.name)
    axes.axhline(tol, color="grey", linewidth=0.8, linestyle=":")
    axes.annotate("asked", (0.01, tol), xycoords=("axes fraction", "data"), va="bottom", color="grey", fontsize=9)
    axes.set(yscale="log", xlabel=name)
    axes.set_xlim(left=0)
    axes.grid(color="0.9", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
