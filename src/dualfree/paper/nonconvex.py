"""Theorem 1 on real data, an experiment that the paper lacks: half of the losses concave, their average convex.

Every example is taken twice, with weights 2 and −1. The second copies are concave, so Theorem 2 says nothing, but the
average ``(1/2n) Σ (2φ_i − φ_i)`` is half the convex average of before. Its optimum is therefore known exactly: that
of the convex problem with twice the λ.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np
from scipy.sparse import vstack

from dualfree.convexity import Convexity
from dualfree.losses import Logistic
from dualfree.paper.data import Source, optimum
from dualfree.paper.report import Experiment, Figure, Panel, Plot, Raw, Watch
from dualfree.paper.report.plot import COLOURS, MARKERS
from dualfree.paper.simulation import Decay, draw_decays, simulate, table_of_decays
from dualfree.problem import Problem
from dualfree.samplings import Chunks, Importance, Nice, Sampling, Uniform

DATA = ("w8a", "protein", "rcv1")
WEIGHTS = (2.0, -1.0)
SAMPLINGS: dict[str, Sampling] = {
    "uniform": Uniform(),
    "importance": Importance(theorem=1),
    "10-nice": Nice(10),
    "10 chunks": Chunks(10),
}
_SEEDS = 20


def figure(sources: Mapping[str, Source]) -> Figure:
    """One panel a dataset."""
    experiments = tuple(
        Experiment(
            f"nonconvex-{name}",
            {
                "data": sources[name].label,
                "weights": WEIGHTS,
                "lam": "1/sqrt(2n)",
                "samplings": {k: repr(s) for k, s in SAMPLINGS.items()},
                "seeds": _SEEDS,
            },
            partial(_measure, sources[name]),
        )
        for name in DATA
    )
    return Figure(
        "nonconvex",
        "Beyond the paper: Theorem 1 with non-convex losses",
        "Logistic regression in which every example occurs twice, with weights 2 and −1: half of the losses are "
        "concave, their average is convex. λ = 1/√(2n); with λ = 1/n the θ of Theorem 1 is of order 1/n², too small "
        f"for any run. D⁽ᵗ⁾/D⁽⁰⁾ with the step of Theorem 1, mean of {_SEEDS} runs.",
        experiments,
        tuple(Panel(name, f"nonconvex-{name}", _draw) for name in DATA),
        3,
        lambda raw: table_of_decays([Decay.of(decay) for decay in raw["decays"]]),
    )


def twice(source: Source) -> tuple[Problem, Problem]:
    """The problem with both copies of each example, and the convex one with the same optimum."""
    X, y = source.dataset
    n = 2 * len(y)
    lam = 1 / np.sqrt(n)
    loss = Logistic(np.concatenate([y, y]), weight=np.repeat(WEIGHTS, len(y)))
    problem = Problem(vstack([X, X], format="csr"), loss, lam)
    problem.convexity = Convexity(True, lam, "the two losses of an example add up to a convex one")
    return problem, Problem(X, Logistic(y), 2 * lam)


def _measure(source: Source, watch: Watch) -> Raw:
    watch(0.0, "the optimum")
    problem, convex = twice(source)
    w = optimum(convex).w
    best = w, -problem.derivatives(w)
    decays = []
    for k, (name, sampling) in enumerate(SAMPLINGS.items()):
        watch(k / len(SAMPLINGS), name)
        decays.append(simulate(name, sampling.bind(problem), best, 1, seeds=_SEEDS).raw())
    return {"data": source.label, "decays": decays, "slope": float(np.linalg.norm(problem.gradient(w)))}


def _draw(plot: Plot, raw: Raw) -> None:
    draw_decays(plot, [Decay.of(decay) for decay in raw["decays"]], list(COLOURS), MARKERS)
