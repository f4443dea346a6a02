"""Erratum 1: what the misprint in Algorithm 2 does to the chunks, and to the waiting that they were to cure."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Indices
from dualfree.chunking import chunks
from dualfree.paper.data import Source
from dualfree.paper.figure1 import DATA, TAU, mean_waiting_share
from dualfree.paper.report import Experiment, Figure, Panel, Plot, Raw, Table, Watch
from dualfree.paper.report.plot import BLACK, COLOURS
from dualfree.paper.runs import work_of_cores
from dualfree.paper.scale import Scale
from dualfree.samplings import Chunks

KINDS = {"corrected": ("s + u ≤ m", COLOURS[0]), "printed": ("g + u ≤ m", COLOURS[5])}
_RATIO = 1.1  # of neighbouring edges of the histogram


def figure(sources: Mapping[str, Source], scale: Scale) -> Figure:
    """One panel a dataset of Figure 1."""
    experiments = tuple(
        Experiment(
            f"erratum-1-{name}",
            {"data": sources[name].label, "tau": TAU, "draws": scale.draws, "ratio": _RATIO, "seed": 0},
            partial(_measure, sources[name], scale.draws),
        )
        for name in DATA
    )
    return Figure(
        "erratum-1",
        "Beyond the paper: the effect of erratum 1",
        "Nonzeros of the chunks of Algorithm 2: as printed, where the test adds a number of examples to a number of "
        "nonzeros, and corrected. The line is m = max nnz(A_i), which no chunk was to exceed.",
        experiments,
        tuple(Panel(name, f"erratum-1-{name}", _draw) for name in DATA),
        3,
        _data,
        _summary,
    )


def nonzeros_of_chunks(nnz: ArrayLike, sizes: Indices) -> Indices:
    """Nonzeros in each of the contiguous chunks of the given sizes.

    Examples
    --------
    >>> nonzeros_of_chunks([4, 1, 2, 3], np.array([1, 3])).tolist()
    [4, 6]
    """
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.add.reduceat(np.asarray(nnz, dtype=np.int64), start)


def _measure(source: Source, draws: int, watch: Watch) -> Raw:
    problem = source.problem()
    nnz = problem.examples.nonzeros
    limit = int(nnz.max())
    kinds: dict[str, dict[str, Any]] = {}
    for k, kind in enumerate(KINDS):
        watch(k / 2, kind)
        sizes = chunks(nnz, literal=kind == "printed")
        totals = nonzeros_of_chunks(nnz, sizes)
        work = work_of_cores(Chunks(min(TAU, len(sizes)), sizes).bind(problem), draws)
        kinds[kind] = {
            "count": len(sizes),
            "largest": int(totals.max()),
            "waiting_share": mean_waiting_share(work),
            "totals": totals,
        }
    most = max(kind["largest"] for kind in kinds.values())
    steps = np.arange(np.ceil(np.log(1 / limit) / np.log(_RATIO)) - 1, np.log(most / limit) / np.log(_RATIO) + 1)
    edges = (limit + 0.5) * _RATIO**steps  # one of them at the limit
    for found in kinds.values():
        totals = np.clip(found.pop("totals"), edges[0], None)
        found["share"] = (np.histogram(totals, edges)[0] / found["count"]).tolist()
    return {"data": source.label, "limit": limit, "edges": edges.tolist(), "kinds": kinds}


def _draw(plot: Plot, raw: Raw) -> None:
    for kind, (test, colour) in KINDS.items():
        plot.bars(raw["edges"], raw["kinds"][kind]["share"], f"{kind}, {test}", colour)
    plot.axis.axvline(raw["limit"], color=BLACK, linestyle="--", linewidth=1, label="m, the longest row")
    plot.label("nonzeros in a chunk", "share of the chunks", log="x")
    shares = np.sum([kind["share"] for kind in raw["kinds"].values()], axis=0)
    seen = np.flatnonzero(shares > 1e-3)
    plot.axis.set_xlim(raw["edges"][seen[0]], raw["edges"][seen[-1] + 1] * _RATIO)


def _data(raw: Raw) -> Table:
    rows: list[tuple[Any, ...]] = []
    for kind, found in raw["kinds"].items():
        for low, high, share in zip(raw["edges"][:-1], raw["edges"][1:], found["share"], strict=True):
            rows.append((kind, low, high, share, raw["limit"]))
    return Table(("algorithm", "from", "to", "share", "limit"), rows)


def _summary(raws: Mapping[str, Raw]) -> Table:
    rows = []
    for raw in raws.values():
        for kind, found in raw["kinds"].items():
            share = f"{100 * found['waiting_share']:.0f} %"
            rows.append((raw["data"]["name"], kind, found["count"], found["largest"], raw["limit"], share))
    return Table(("data", "Algorithm 2", "chunks", "largest", "m", f"share waiting, τ = {TAU}"), rows)
