"""Figure 2, right: dfSDCA on cov1 with uniform, importance and four random serial samplings."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from dualfree.paper import curves, runs
from dualfree.paper.data import Source
from dualfree.paper.report import Experiment, Figure, Panel, Plot, Raw, Table, Watch
from dualfree.paper.scale import Scale
from dualfree.samplings import Importance, RandomSerial, Sampling, Uniform
from dualfree.steps import theorem_theta

DATA = "cov1"
SAMPLINGS: dict[str, Sampling] = {
    "uniform": Uniform(),
    "importance": Importance(),
    **{f"random {c}": RandomSerial(c, seed=c) for c in (2, 5, 10, 50)},  # the paper does not say which c
}
TARGET = 1e-6
_FLOOR = 1e-9
_SEEDS = 5


def figure(sources: Mapping[str, Source], scale: Scale) -> Figure:
    """One panel, a curve for each sampling."""
    source, name = sources[DATA], "figure-2-right"
    settings: dict[str, Any] = {"data": source.label, "samplings": {k: repr(s) for k, s in SAMPLINGS.items()}}
    settings |= {"epochs": scale.epochs, "floor": _FLOOR, "seeds": _SEEDS}
    return Figure(
        name,
        "Figure 2, right: serial samplings on cov1",
        "dfSDCA with the step of Theorem 2, logistic regression, λ = 1/n. “random c” has probabilities drawn such "
        f"that max p / min p < c. Solid: the mean of {_SEEDS} runs; dashed: exp(−θt) from the same start, the rate of "
        "the theorem.",
        (Experiment(name, settings, partial(_measure, source, scale.epochs)),),
        (Panel("cov1, various samplings", name, _draw),),
        1,
        lambda raw: curves.table(raw["curves"]),
        _summary,
    )


def _measure(source: Source, epochs: int, watch: Watch) -> Raw:
    watch(0.0, "the optimum")
    problem, best = source.problem(), source.optimum().value
    found, theta = [], {}
    for k, (name, sampling) in enumerate(SAMPLINGS.items()):
        bound = sampling.bind(problem)
        theta[name] = theorem_theta(bound, 2)
        part = lambda share, text, k=k: watch((k + share) / len(SAMPLINGS), text)  # noqa: E731
        choice: dict[str, Any] = {
            "epochs": epochs,
            "floor": _FLOOR,
            "sampling": bound,
            "step": "theorem-2",
            "watch": part,
        }
        seeds = [runs.run(problem, best, name, seed=seed, **choice) for seed in range(_SEEDS)]
        found.append(runs.mean_curve(seeds).raw())
    return {"data": source.label, "curves": found, "theta": theta, "n": problem.n}


def _draw(plot: Plot, raw: Raw) -> None:
    curves.draw(plot, raw["curves"], "epoch", "epochs", promised=raw["theta"])


def _summary(raws: Mapping[str, Raw]) -> Table:
    (raw,) = raws.values()
    rows = []
    for name, curve in curves.named(raw).items():
        rate, fit = runs.linear_fit(curve["iteration"], curve["suboptimality"])
        epochs = runs.reached(curve["epoch"], curve["suboptimality"], TARGET)
        theta = raw["theta"][name]
        rows.append((name, epochs if epochs < float("inf") else None, 1 / theta / raw["n"], rate / theta, fit))
    return Table(("sampling", f"epochs to {TARGET:g}", "1/(θn)", "measured rate / θ", "R² of the linear fit"), rows)
