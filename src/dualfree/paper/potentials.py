"""The theory beside the practice on the paper's own data: the potential of Theorem 2 under its bound."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from dualfree.methods.dfsdca import DfSDCA
from dualfree.paper.data import Source
from dualfree.paper.report import Experiment, Figure, Panel, Plot, Raw, Watch
from dualfree.paper.report.plot import COLOURS, MARKERS
from dualfree.paper.simulation import Decay, draw_decays, simulate, table_of_decays
from dualfree.problem import Problem
from dualfree.samplings import Chunks, Importance, Nice, Sampling, Uniform
from dualfree.steps import step_rule

SAMPLINGS: dict[str, Sampling] = {
    "uniform": Uniform(),
    "importance": Importance(),
    "10-nice": Nice(10),
    "10 chunks": Chunks(10),
}
_SEEDS = 10


def figure(sources: Mapping[str, Source]) -> Figure:
    """One panel a dataset."""
    experiments = tuple(
        Experiment(
            f"potentials-{name}",
            {"data": source.label, "samplings": {k: repr(s) for k, s in SAMPLINGS.items()}, "seeds": _SEEDS},
            partial(_measure, source),
        )
        for name, source in sources.items()
    )
    return Figure(
        "potentials",
        "Beyond the paper: Theorem 2 on the paper's data",
        f"E⁽ᵗ⁾/E⁽⁰⁾ with the step of Theorem 2, logistic regression, λ = 1/n: mean of {_SEEDS} runs. The theorem "
        "says that the expectation stays under exp(−θt); against θt this is one line for all samplings.",
        experiments,
        tuple(Panel(name, f"potentials-{name}", _draw) for name in sources),
        3,
        lambda raw: table_of_decays([Decay.of(decay) for decay in raw["decays"]]),
    )


def _measure(source: Source, watch: Watch) -> Raw:
    watch(0.0, "the optimum")
    problem, best = source.problem(), source.optimum()
    decays = []
    for k, (name, sampling) in enumerate(SAMPLINGS.items()):
        watch(k / len(SAMPLINGS), name)
        decays.append(simulate(name, sampling.bind(problem), (best.w, best.alpha), 2, seeds=_SEEDS).raw())
    return {"data": source.label, "decays": decays, "drift": _drift(problem)}


def _drift(problem: Problem) -> float:
    """Relative distance of w from ``(1/λn) Σ A_i α_i`` after five epochs of uniform sampling."""
    bound = Uniform().bind(problem)
    method = DfSDCA(problem, bound, step_rule("theorem-2", bound))
    state = method.start(np.zeros(problem.n))
    method.advance(state, bound.draw(0, 5 * problem.n, 0))
    return float(np.linalg.norm(state.w - problem.primal(state.alpha)) / np.linalg.norm(state.w))


def _draw(plot: Plot, raw: Raw) -> None:
    draw_decays(plot, [Decay.of(decay) for decay in raw["decays"]], list(COLOURS), MARKERS)
