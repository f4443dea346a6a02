"""A pair of axes that remembers its points, so that the page can show their values under the pointer."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dualfree.optional import require
from dualfree.plots import COLOURS

BLACK, GREY = "#000000", "#666666"
MARKERS = "os^Dv*P"
_HOVER_POINTS = 60  # a line; more would make the page heavy and the pointer no wiser

__all__ = ["BLACK", "COLOURS", "GREY", "MARKERS", "Plot"]


class Plot:
    """What a panel draws on: matplotlib's axes, with one look for all panels.

    Attributes
    ----------
    axis : matplotlib.axes.Axes
        For whatever the methods here do not offer.
    points : list of (x, y, text)
        Values to show under the pointer, in data coordinates.
    """

    def __init__(self, axis: Any) -> None:
        self.axis = axis
        self.points: list[tuple[float, float, str]] = []
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(True, color="0.9", linewidth=0.6)
        axis.set_axisbelow(True)

    def line(
        self,
        x: ArrayLike,
        y: ArrayLike,
        name: str,
        colour: str,
        *,
        marker: str | None = None,
        style: str = "-",
        hover: Sequence[str] | None = None,
    ) -> None:
        """A curve; its points can be read under the pointer, with `hover` as the texts or x and y by default."""
        xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        every = max(1, -(-len(xs) // 12))
        self.axis.plot(xs, ys, style, color=colour, marker=marker, markevery=every, markersize=3.4, label=name)
        kept = np.unique(np.linspace(0, len(xs) - 1, min(len(xs), _HOVER_POINTS)).round().astype(int))
        for k in kept.tolist():
            if np.isfinite(xs[k]) and np.isfinite(ys[k]):
                text = hover[k] if hover is not None else f"{xs[k]:.4g} → {ys[k]:.3g}"
                self.points.append((float(xs[k]), float(ys[k]), f"{name}: {text}"))

    def promise(self, x: ArrayLike, y: ArrayLike, colour: str, name: str | None = None) -> None:
        """What theory says, dashed and thin beneath the curve that it belongs to."""
        self.axis.plot(x, y, "--", color=colour, linewidth=0.9, alpha=0.75, label=name, zorder=1.5)

    def bars(self, edges: ArrayLike, heights: ArrayLike, name: str, colour: str) -> None:
        """A histogram from its edges and heights."""
        left, high = np.asarray(edges, dtype=np.float64), np.asarray(heights, dtype=np.float64)
        self.axis.stairs(high, left, fill=True, color=colour, alpha=0.3)
        self.axis.stairs(high, left, color=colour, linewidth=1.1, label=name)
        for low, top, height in zip(left[:-1], left[1:], high, strict=True):
            if height > 0:
                text = f"{name}: {low:.4g} to {top:.4g}: {100 * height:.2f} %"
                self.points.append((float(low + top) / 2, float(height), text))

    def thousands(self) -> None:
        """Large numbers on the x axis as 50k and 2M."""
        self.axis.xaxis.set_major_formatter(require("matplotlib.ticker", "plots").EngFormatter(sep=""))
        self.axis.locator_params(axis="x", nbins=4)

    def label(self, x: str, y: str, *, log: str = "y") -> None:
        """Names of the axes, and which of them are logarithmic (`log` is some of "xy")."""
        self.axis.set_xlabel(x)
        self.axis.set_ylabel(y)
        if "x" in log:
            self.axis.set_xscale("log")
        else:
            self.axis.set_xlim(left=0)
        if "y" in log:
            self.axis.set_yscale("log")
