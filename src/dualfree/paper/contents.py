"""The list of all figures, in the order of the report."""

from collections.abc import Sequence

from dualfree.paper import (
    erratum,
    figure1,
    figure2_left,
    figure2_middle,
    figure2_right,
    figure3,
    nonconvex,
    potentials,
    table1,
    theorems,
)
from dualfree.paper.data import all_sources
from dualfree.paper.report import Figure
from dualfree.paper.scale import Scale

NAMES = (
    "table-1",
    "figure-1",
    "figure-2-left",
    "figure-2-middle",
    "figure-2-right",
    "figure-3",
    "figure-3-seconds",
    "potentials",
    "nonconvex",
    "theorems",
    "erratum-1",
)


def all_figures(scale: Scale) -> list[Figure]:
    """Every table and figure of the report at this scale; nothing is computed yet.

    Examples
    --------
    >>> from dualfree.paper.scale import QUICK
    >>> [figure.name for figure in all_figures(QUICK)] == list(NAMES)
    True
    """
    sources = all_sources(scale)
    return [
        table1.figure(sources),
        figure1.figure(sources, scale),
        figure2_left.figure(sources, scale),
        figure2_middle.figure(sources, scale),
        figure2_right.figure(sources, scale),
        *figure3.figures(sources, scale),
        potentials.figure(sources),
        nonconvex.figure(sources),
        theorems.figure(scale),
        erratum.figure(sources, scale),
    ]


def choose(figures: Sequence[Figure], wanted: Sequence[str]) -> list[Figure]:
    """Those whose name is one of `wanted` or begins with it; all where nothing is wanted.

    Examples
    --------
    >>> from dualfree.paper.scale import QUICK
    >>> [figure.name for figure in choose(all_figures(QUICK), ["figure-3"])]
    ['figure-3', 'figure-3-seconds']
    """
    for name in wanted:
        if not any(figure.name.startswith(name) for figure in figures):
            raise ValueError(f"There is no figure called {name!r}; the names are {', '.join(f.name for f in figures)}.")
    return [figure for figure in figures if not wanted or any(figure.name.startswith(name) for name in wanted)]
