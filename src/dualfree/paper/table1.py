"""Table 1: examples, features and density of the data as loaded, beside the paper's numbers."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from dualfree.paper.data import Source
from dualfree.paper.report import Experiment, Figure, Raw, Table, Watch

# As printed. Erratum 7: protein has 357 features and rcv1 47,236.
PRINTED = {
    "w8a": (49_749, 300, 0.038),
    "dorothea": (800, 100_000, 0.009),
    "protein": (17_766, 358, 0.29),
    "rcv1": (20_242, 47_237, 0.002),
    "cov1": (581_012, 54, 0.22),
}
_HEADER = ("data", "provenance", "n", "n in the paper", "d", "d in the paper", "density", "density in the paper")


def figure(sources: Mapping[str, Source]) -> Figure:
    """The table, one experiment a dataset."""
    experiments = tuple(
        Experiment(f"table-1-{name}", {"data": source.label}, partial(_measure, source))
        for name, source in sources.items()
    )
    return Figure(
        "table-1",
        "Table 1: the datasets",
        "Counted in the data as loaded, beside the paper's numbers. Density is nonzeros/(n·d).",
        experiments,
        (),
        1,
        lambda raw: Table(_HEADER, [_row(raw)]),
        lambda raws: Table(_HEADER, [_row(raw) for raw in raws.values()]),
    )


def _measure(source: Source, watch: Watch) -> Raw:
    watch(0.0, "counting")
    n, d = source.dataset.X.shape
    return {"data": source.label, "n": int(n), "d": int(d), "nnz": int(source.dataset.X.nnz)}


def _row(raw: Raw) -> tuple[Any, ...]:
    n, d, density = PRINTED[raw["data"]["name"]]
    own = 100 * raw["nnz"] / (raw["n"] * raw["d"])
    label = raw["data"]
    return label["name"], label["provenance"], raw["n"], n, raw["d"], d, f"{own:.2g} %", f"{100 * density:.2g} %"
