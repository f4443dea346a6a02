"""Figure 2, left: dfSDCA with uniform serial sampling against SGD, SAG and S2GD on rcv1, each with its best step."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from dualfree.methods import METHODS
from dualfree.paper import curves, runs
from dualfree.paper.data import Source
from dualfree.paper.report import Experiment, Figure, Panel, Plot, Raw, Table, Watch
from dualfree.paper.report.plot import COLOURS, MARKERS
from dualfree.paper.scale import Scale
from dualfree.samplings import BoundSampling, Uniform
from dualfree.steps import theorem_theta

DATA = "rcv1"
EPOCHS = 30
TUNED_BY = 10  # epochs after which the steps of the grid are compared
TARGET = 1e-4
FINE = 1e-8
PAPER_SECONDS = {"dfSDCA": 0.47, "SGD": 0.58, "SAG": 0.79, "S2GD": 0.46}
_METHODS = {"dfSDCA": "dfsdca", "SGD": "sgd", "SAG": "sag", "S2GD": "s2gd"}


def figure(sources: Mapping[str, Source], scale: Scale) -> Figure:
    """Three panels: epochs, seconds, and the tuning."""
    source, name = sources[DATA], "figure-2-left"
    settings = {
        "data": source.label,
        "lam": "1/n",
        "epochs": EPOCHS,
        "tuned_by": TUNED_BY,
        "repeats": scale.repeats,
        "seed": 0,
    }
    experiment = Experiment(name, settings, partial(_measure, source, scale.repeats))
    return Figure(
        name,
        "Figure 2, left: state of the art on rcv1",
        "Logistic regression, λ = 1/n. dfSDCA with uniform serial sampling against SGD, SAG and S2GD, all native "
        "methods of this library on the same loop. Each has its best step of a grid of powers of two, judged by "
        f"P(w) − P* after {TUNED_BY} epochs; the grid grew until its best point was inside. An epoch is n visits of "
        f"an example; S2GD's full gradients count. Seconds are those of the fastest of {scale.repeats} runs, one "
        "thread, clock stopped to evaluate.",
        (experiment,),
        (
            Panel("rcv1, by epochs", name, partial(_draw, "epoch", "epochs")),
            Panel("rcv1, by seconds", name, partial(_draw, "seconds", "seconds")),
            Panel("the tuning", name, _draw_tuning),
        ),
        3,
        _data,
        _summary,
    )


def _measure(source: Source, repeats: int, watch: Watch) -> Raw:
    problem, best = source.problem(), source.optimum().value
    bound = Uniform().bind(problem)
    found, tuning = [], {}
    for k, (name, method) in enumerate(_METHODS.items()):
        trial = partial(_trial, bound, best, name, method)
        watch(k / len(_METHODS), f"tuning {name}")
        unit, largest = METHODS[method].step_range(bound)
        step, trials = runs.tune(trial, TUNED_BY, unit, largest=largest)
        tuning[name] = {"unit": unit, "trials": trials}
        timed = []
        for again in range(repeats):
            watch((k + 0.5 + 0.5 * again / repeats) / len(_METHODS), f"timing {name}, step {step:.3g}")
            timed.append(trial(step, EPOCHS))
        seconds = np.min([curve.seconds for curve in timed], axis=0).tolist()
        found.append(timed[0].raw() | {"seconds": seconds})
    return {"data": source.label, "curves": found, "tuning": tuning, "theta": theorem_theta(bound, 2)}


def _trial(bound: BoundSampling, best: float, name: str, method: str, step: float, epochs: float) -> runs.Curve:
    return runs.run(bound.problem, best, name, epochs=epochs, floor=-np.inf, method=method, sampling=bound, step=step)


def _draw(across: str, name: str, plot: Plot, raw: Raw) -> None:
    curves.draw(plot, raw["curves"], across, name, promised={"dfSDCA": raw["theta"]})
    plot.axis.set_ylim(bottom=max(1e-12, plot.axis.get_ylim()[0]))


def _draw_tuning(plot: Plot, raw: Raw) -> None:
    for k, (name, tuned) in enumerate(raw["tuning"].items()):
        steps = [trial["step"] / tuned["unit"] for trial in tuned["trials"]]
        ends = [trial["end"] for trial in tuned["trials"]]
        hover = [f"step {trial['step']:.3g}: {trial['end']:.2g}" for trial in tuned["trials"]]
        plot.line(steps, ends, name, COLOURS[k], marker=MARKERS[k], hover=hover)
    plot.label("step / theory's step", f"P(w) − P* after {TUNED_BY} epochs", log="xy")


def _data(raw: Raw) -> Table:
    table = curves.table(raw["curves"])
    rows = [("run", *row) for row in table.rows]
    for name, tuned in raw["tuning"].items():
        rows += [
            ("tuning", name, trial["step"], float(TUNED_BY), None, None, trial["end"]) for trial in tuned["trials"]
        ]
    return Table(("part", *table.header), rows)


def _summary(raws: Mapping[str, Raw]) -> Table:
    (raw,) = raws.values()
    rows = []
    for name, curve in curves.named(raw).items():
        times = [runs.reached(curve["seconds"], curve["suboptimality"], target) for target in (TARGET, FINE)]
        epochs = [runs.reached(curve["epoch"], curve["suboptimality"], target) for target in (TARGET, FINE)]
        shown = [value if np.isfinite(value) else None for value in (*epochs, *times)]
        rows.append((name, curve["step"], *shown, curve["seconds"][-1], PAPER_SECONDS[name]))
    header = ("method", "tuned step", f"epochs to {TARGET:g}", f"epochs to {FINE:g}", f"seconds to {TARGET:g}")
    return Table((*header, f"seconds to {FINE:g}", f"seconds for {EPOCHS} epochs", "seconds in the paper"), rows)
