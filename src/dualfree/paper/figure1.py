"""Figure 1: how long a core waits for the slowest one, before and after Algorithm 2."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from dualfree.arrays import Floats
from dualfree.paper.data import Source
from dualfree.paper.report import Experiment, Figure, Panel, Plot, Raw, Table, Watch
from dualfree.paper.report.plot import COLOURS
from dualfree.paper.runs import work_of_cores
from dualfree.paper.scale import Scale
from dualfree.samplings import Chunks, Nice, Sampling

DATA = ("w8a", "dorothea", "protein")
TAU = 10  # the paper does not say which; 10 is one of the four of its Figure 3
_KINDS = {"initially": COLOURS[1], "chunked": COLOURS[0]}
_BINS = 50


def figure(sources: Mapping[str, Source], scale: Scale) -> Figure:
    """Six panels: three datasets, initially above and chunked below."""
    experiments = tuple(
        Experiment(
            f"figure-1-{name}",
            {"data": sources[name].label, "tau": TAU, "draws": scale.draws, "seed": 0, "bins": _BINS},
            partial(_measure, sources[name], scale.draws),
        )
        for name in DATA
    )
    panels = tuple(
        Panel(f"{name} {kind}, τ = {TAU}", f"figure-1-{name}", partial(_draw, kind)) for kind in _KINDS for name in DATA
    )
    return Figure(
        "figure-1",
        "Figure 1: waiting time of a core, before and after Algorithm 2",
        f"Distribution of max − mean of the nonzeros of τ = {TAU} cores in {scale.draws:,} drawn iterations: τ-nice "
        "sampling above, τ chunks of the corrected Algorithm 2 below (the paper does not state its τ). Smaller is "
        "better. The axes of a column are the same. Note that a chunk is more work than an example: the table has "
        "the share of a core's time that is spent waiting, (max − mean)/max, as well.",
        experiments,
        panels,
        3,
        _data,
        _summary,
    )


def _measure(source: Source, draws: int, watch: Watch) -> Raw:
    problem = source.problem()
    waits: dict[str, Floats] = {}
    shares: dict[str, float] = {}
    samplings: dict[str, Sampling] = {"initially": Nice(TAU), "chunked": Chunks(TAU)}
    for k, (kind, sampling) in enumerate(samplings.items()):
        watch(k / 2, f"drawing {sampling}")
        work = work_of_cores(sampling.bind(problem), draws)
        waits[kind] = work.max(axis=1) - work.mean(axis=1)
        shares[kind] = mean_waiting_share(work)
    edges = np.linspace(0, max(wait.max() for wait in waits.values()), _BINS + 1)
    kinds = {
        kind: {
            "share": (np.histogram(wait, edges)[0] / draws).tolist(),
            "mean": float(wait.mean()),
            "median": float(np.median(wait)),
            "waiting_share": shares[kind],
        }
        for kind, wait in waits.items()
    }
    return {"data": source.label, "edges": edges.tolist(), "kinds": kinds}


def mean_waiting_share(work: Floats) -> float:
    """The mean over iterations of ``(max − mean)/max``, the part of its time that a core waits.

    Examples
    --------
    >>> mean_waiting_share(np.array([[1.0, 4.0], [2.0, 2.0]]))
    0.1875
    """
    most = work.max(axis=1)
    return float((1 - np.divide(work.mean(axis=1), most, out=np.ones_like(most), where=most > 0)).mean())


def _draw(kind: str, plot: Plot, raw: Raw) -> None:
    found = raw["kinds"][kind]
    plot.bars(raw["edges"], found["share"], f"mean {found['mean']:.1f}", _KINDS[kind])
    plot.axis.axvline(found["mean"], color="black", linewidth=0.9, linestyle=":")
    plot.label("waiting time (nonzeros)", "share of iterations", log="")
    plot.axis.set_ylim(0, 1.1 * max(max(other["share"]) for other in raw["kinds"].values()))
    plot.axis.set_xlim(0, raw["edges"][-1])


def _data(raw: Raw) -> Table:
    rows: list[tuple[Any, ...]] = []
    for kind, found in raw["kinds"].items():
        for low, high, share in zip(raw["edges"][:-1], raw["edges"][1:], found["share"], strict=True):
            rows.append((kind, TAU, low, high, share))
    return Table(("sampling", "tau", "from", "to", "share"), rows)


def _summary(raws: Mapping[str, Raw]) -> Table:
    header = (
        "data",
        "τ",
        "mean wait initially",
        "mean wait chunked",
        "share waiting initially",
        "share waiting chunked",
    )
    rows = []
    for raw in raws.values():
        before, after = raw["kinds"]["initially"], raw["kinds"]["chunked"]
        shares = [f"{100 * kind['waiting_share']:.0f} %" for kind in (before, after)]
        rows.append((raw["data"]["name"], TAU, before["mean"], after["mean"], *shares))
    return Table(header, rows)
