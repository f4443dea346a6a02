"""The paper's data as its experiments use them: divided by max‖A_i‖, logistic loss, λ a multiple of 1/n."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dualfree import datasets
from dualfree.arrays import Floats
from dualfree.losses import Logistic
from dualfree.paper.scale import Scale
from dualfree.problem import Problem
from dualfree.solve import solve


@dataclass(frozen=True)
class Optimum:
    """The best point known: ``P(w)`` is within `gap` of the least value, certified."""

    value: float
    gap: float
    w: Floats
    alpha: Floats


class Source:
    """One dataset of the paper at the size of a scale. Nothing is read before it is asked for.

    Examples
    --------
    >>> from dualfree.paper.scale import QUICK
    >>> source = Source("w8a", QUICK)
    >>> source.label["provenance"], source.problem().n
    ('stand-in', 4000)
    """

    def __init__(self, name: str, scale: Scale) -> None:
        self.name = name
        self.rows = None if scale.rows is None else scale.rows[name]
        self._optima: dict[float, Optimum] = {}

    @cached_property
    def label(self) -> dict[str, Any]:
        """What the dataset says of itself: it goes into the settings of every experiment that uses it."""
        about = datasets.describe(self.name)
        real = self.rows is None and about.available is not None
        return {
            "name": self.name,
            "provenance": about.available if real else "stand-in",
            "n": self.rows or about.n,
            "d": about.d,
            "difference": about.difference if real else None,
            "source": about.source,
        }

    @cached_property
    def dataset(self) -> datasets.Dataset:
        """The data, scaled: the real file if it is on this machine, else a stand-in."""
        return datasets.load(self.name, standin=self.label["provenance"] == "stand-in", n=self.rows).scaled()

    def problem(self, multiple: float = 1.0) -> Problem:
        """Logistic regression with ``λ = multiple/n``."""
        data = self.dataset
        return Problem(data.X, Logistic(data.y), multiple / len(data.y))

    def optimum(self, multiple: float = 1.0) -> Optimum:
        """The optimum of `problem(multiple)`, to about 1e-13 of its value; computed once."""
        if multiple not in self._optima:
            self._optima[multiple] = optimum(self.problem(multiple))
        return self._optima[multiple]


def optimum(problem: Problem) -> Optimum:
    """The optimum of a convex problem, as exact as rounding lets it be certified."""
    best = solve(problem, method="auto", tol=1e-13, max_epochs=3000, evaluate_every=5)
    raise_if_interrupted(best)
    return Optimum(best.certificate.value, best.certificate.gap, best.w, -problem.derivatives(best.w))


def raise_if_interrupted(result: Any) -> None:
    """`solve` answers Ctrl-C with what it has; half a run must not be kept as the result of an experiment."""
    if result.status == "interrupted":
        raise KeyboardInterrupt


def all_sources(scale: Scale) -> dict[str, Source]:
    """Each dataset by name."""
    return {name: Source(name, scale) for name in datasets.names()}
