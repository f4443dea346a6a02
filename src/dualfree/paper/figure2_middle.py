"""Figure 2, middle: dfSDCA on rcv1 for several λ."""

from collections.abc import Mapping
from functools import partial

from dualfree.paper import curves, runs
from dualfree.paper.data import Source
from dualfree.paper.report import Experiment, Figure, Panel, Plot, Raw, Table, Watch
from dualfree.paper.scale import Scale
from dualfree.samplings import Uniform
from dualfree.steps import theorem_theta

DATA = "rcv1"
MULTIPLES = {"λ = 10/n": 10.0, "λ = 1/n": 1.0, "λ = 0.1/n": 0.1, "λ = 0.01/n": 0.01}
TARGET = 1e-6
_LONGER = 4  # times the usual number of epochs: λ = 0.01/n is slow


def figure(sources: Mapping[str, Source], scale: Scale) -> Figure:
    """One panel, a curve for each λ."""
    source, name = sources[DATA], "figure-2-middle"
    settings = {"data": source.label, "multiples": MULTIPLES, "epochs": _LONGER * scale.epochs, "seed": 0}
    return Figure(
        name,
        "Figure 2, middle: several λ on rcv1",
        "dfSDCA with uniform serial sampling and the step of Theorem 2, logistic regression. Solid: measured; "
        "dashed: exp(−θt) from the same start, the rate of the theorem.",
        (Experiment(name, settings, partial(_measure, source, _LONGER * scale.epochs)),),
        (Panel("rcv1, different λ", name, _draw),),
        1,
        lambda raw: curves.table(raw["curves"]),
        _summary,
    )


def _measure(source: Source, epochs: int, watch: Watch) -> Raw:
    found, theta = [], {}
    for k, (name, multiple) in enumerate(MULTIPLES.items()):
        watch(k / len(MULTIPLES), f"{name}: the optimum")
        problem, best = source.problem(multiple), source.optimum(multiple).value
        bound = Uniform().bind(problem)
        theta[name] = theorem_theta(bound, 2)
        part = lambda share, text, k=k: watch((k + share) / len(MULTIPLES), text)  # noqa: E731
        curve = runs.run(problem, best, name, epochs=epochs, sampling=bound, step="theorem-2", watch=part)
        found.append(curve.raw())
    return {"data": source.label, "curves": found, "theta": theta}


def _draw(plot: Plot, raw: Raw) -> None:
    curves.draw(plot, raw["curves"], "epoch", "epochs", promised=raw["theta"])


def _summary(raws: Mapping[str, Raw]) -> Table:
    (raw,) = raws.values()
    rows = []
    for name, curve in curves.named(raw).items():
        rate, fit = runs.linear_fit(curve["iteration"], curve["suboptimality"])
        epochs = runs.reached(curve["epoch"], curve["suboptimality"], TARGET)
        rows.append((name, epochs if epochs < float("inf") else None, rate / raw["theta"][name], fit))
    return Table(("λ", f"epochs to {TARGET:g}", "measured rate / θ", "R² of the linear fit"), rows)
