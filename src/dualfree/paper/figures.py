"""The pictures and tables of this folder, drawn with matplotlib's objects (no global state)."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dualfree.arrays import Indices
from dualfree.chunking import chunks
from dualfree.optional import require
from dualfree.paper.erratum import nonzeros_of_chunks
from dualfree.paper.theorems import SEEDS, Decay

# Okabe and Ito's palette: told apart by every kind of colour vision, and by print in grey.
BLUE, VERMILLION, BLACK, ORANGE = "#0072B2", "#D55E00", "#000000", "#E69F00"
_COLOURS = {1: VERMILLION, 2: BLUE}
_COLUMNS = 4


def save_theorems(decays: Sequence[Decay], folder: Path) -> list[Path]:
    """Small multiples, one a sampling, as PNG, PDF and CSV."""
    rows = -(-len(decays) // _COLUMNS)
    figure = _figure(9.0, 2.15 * rows + 0.75)
    axes = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False)
    for axis, decay in zip(axes.flat, decays, strict=False):
        _draw_decay(axis, decay)
    for axis in axes.flat[len(decays) :]:
        axis.set_visible(False)
    figure.supxlabel("θ t  (iterations, in units of 1/θ)", fontsize=9)
    figure.supylabel("potential / potential at the start", fontsize=9)
    handles, labels = _legend_of(axes.flat[0], axes.flat[len(decays) - 1])
    figure.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False, fontsize=8.5)
    return [*_save(figure, folder / "theorems"), _save_decays(decays, folder / "theorems.csv")]


def save_erratum(nnz: Indices, folder: Path) -> list[Path]:
    """Nonzeros of each chunk by the printed and by the corrected Algorithm 2, as PNG, PDF and CSV."""
    printed = nonzeros_of_chunks(nnz, chunks(nnz, literal=True))
    corrected = nonzeros_of_chunks(nnz, chunks(nnz))
    limit = int(nnz.max())
    figure = _figure(6.4, 3.6)
    axis = figure.subplots()
    widest = np.log(printed.max() / limit)
    edges = (limit + 0.5) * np.exp(np.arange(-14, 2 + widest / 0.1) * 0.1)  # one of them at the limit
    for values, colour, label in (
        (corrected, BLUE, f"corrected, s + u ≤ m: {len(corrected):,} chunks, the largest {corrected.max():,}"),
        (printed, VERMILLION, f"as printed, g + u ≤ m: {len(printed):,} chunks, the largest {printed.max():,}"),
    ):
        share = np.full(len(values), 1 / len(values))
        axis.hist(values, bins=edges, weights=share, histtype="stepfilled", color=colour, alpha=0.25)
        axis.hist(values, bins=edges, weights=share, histtype="step", color=colour, linewidth=1.4, label=label)
    axis.axvline(limit, color=BLACK, linestyle="--", linewidth=1.2, label=f"m = {limit}, the longest row")
    axis.set_xscale("log")
    axis.set_xlabel("nonzeros in a chunk")
    axis.set_ylabel("share of the chunks")
    axis.set_title(f"Erratum 1: chunks of Algorithm 2 ({len(nnz):,} simulated log-normal rows)", fontsize=10)
    axis.margins(y=0.35)
    axis.legend(loc="upper right", frameon=False, fontsize=8)
    _plain(axis)
    table = folder / "erratum-1.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["algorithm", "chunk", "nonzeros", "limit"])
        for name, values in (("corrected", corrected), ("printed", printed)):
            writer.writerows([name, k, int(value), limit] for k, value in enumerate(values))
    return [*_save(figure, folder / "erratum-1"), table]


def _figure(width: float, height: float) -> Any:
    figure_module = require("matplotlib.figure", "plots")
    canvas = require("matplotlib.backends.backend_agg", "plots").FigureCanvasAgg
    figure = figure_module.Figure(figsize=(width, height), layout="constrained")
    canvas(figure)
    return figure


def _draw_decay(axis: Any, decay: Decay) -> None:
    x, colour = decay.theta * decay.times, _COLOURS[decay.theorem]
    low, high = np.quantile(decay.ratios, [0.05, 0.95], axis=0)
    axis.fill_between(x, low, high, color=colour, alpha=0.22, linewidth=0, label="5 to 95 % of the runs")
    axis.semilogy(x, decay.mean, color=colour, linewidth=1.6, label=f"Theorem {decay.theorem}: mean of {SEEDS} runs")
    axis.semilogy(x, decay.promised, color=BLACK, linestyle="--", linewidth=1.1, label=r"proven, $e^{-\theta t}$")
    axis.set_title(f"{decay.name}\n(Theorem {decay.theorem}, 1/θ = {1 / decay.theta:.0f})", fontsize=8.5)
    _plain(axis)


def _plain(axis: Any) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)
    axis.grid(True, color="0.9", linewidth=0.6)
    axis.set_axisbelow(True)


def _legend_of(*axes: Any) -> tuple[list[Any], list[str]]:
    """Each label once."""
    found: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)


def _save(figure: Any, stem: Path) -> list[Path]:
    paths = [stem.with_suffix(".png"), stem.with_suffix(".pdf")]
    for path in paths:
        figure.savefig(path, dpi=150)
    return paths


def _save_decays(decays: Sequence[Decay], path: Path) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["theorem", "sampling", "theta", "iteration", "mean", "standard_error", "q05", "q95", "proven"])
        for decay in decays:
            low, high = np.quantile(decay.ratios, [0.05, 0.95], axis=0)
            columns = (decay.times, decay.mean, decay.standard_error, low, high, decay.promised)
            for time, *numbers in zip(*columns, strict=True):
                shown = [f"{number:.6g}" for number in numbers]
                writer.writerow([decay.theorem, decay.name, f"{decay.theta:.6g}", int(time), *shown])
    return path
