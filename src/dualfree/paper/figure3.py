"""Figure 3: standard τ-nice sampling against sampling of chunks, by the paper's proxy for time and in real seconds."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dualfree.paper import curves, runs
from dualfree.paper.data import Source
from dualfree.paper.report import Experiment, Figure, Panel, Plot, Raw, Table, Watch
from dualfree.paper.report.plot import COLOURS, MARKERS
from dualfree.paper.scale import Scale
from dualfree.samplings import BoundSampling, Chunks, Nice, Sampling
from dualfree.steps import theorem_theta

DATA = ("w8a", "dorothea", "protein")
TAUS = (5, 10, 20, 50)
TARGET = 1e-4
STANDARD, NEW = "standard (τ-nice)", "new (chunks)"
_EVERY = 0.25
_FLOOR = 1e-8


@dataclass(frozen=True)
class _Effort:
    epochs: int
    repeats: int
    threads: int


def figures(sources: Mapping[str, Source], scale: Scale) -> tuple[Figure, Figure]:
    """The twelve panels by proxy time, and the same twelve in seconds on threads; from one set of experiments."""
    effort = _Effort(scale.epochs, scale.repeats, os.cpu_count() or 1)
    experiments = tuple(_experiment(sources[name], tau, effort) for name in DATA for tau in TAUS)
    tuned = (
        f"The step of each is the best of a grid of powers of two, judged by the epochs to P(w) − P* ≤ {TARGET:g}, "
        "from Theorem 2's θ up to min p."
    )
    proxy = Figure(
        "figure-3",
        "Figure 3: new sampling against standard sampling",
        "Logistic regression, λ = 1/n. Time is the paper's proxy: at each iteration max nnz(A_i) over the τ "
        f"examples drawn, or max nnz(G_(i)) over the τ chunks drawn. {tuned} Dashed: exp(−θt) with the θ of Theorem "
        "2.",
        experiments,
        _panels(_draw_proxy),
        4,
        lambda raw: curves.table(raw["curves"], "proxy"),
        _summary,
    )
    seconds = Figure(
        "figure-3-seconds",
        "Figure 3 in real seconds on real threads",
        f"The same runs on {effort.threads} synchronous threads (solid) and on one (dotted): the same iterates, so "
        f"the curves differ in time alone. The fastest of {effort.repeats} runs, clock stopped to evaluate.",
        experiments,
        _panels(_draw_seconds),
        4,
        _data_seconds,
        _summary_seconds,
    )
    return proxy, seconds


def _panels(draw: Any) -> tuple[Panel, ...]:
    return tuple(Panel(f"{name}, τ = {tau}", f"figure-3-{name}-{tau}", draw) for name in DATA for tau in TAUS)


def _experiment(source: Source, tau: int, effort: _Effort) -> Experiment:
    settings = {"data": source.label, "tau": tau, "target": TARGET, "seed": 0, "every": _EVERY, "floor": _FLOOR}
    settings |= {"epochs": effort.epochs, "repeats": effort.repeats, "threads": effort.threads}
    return Experiment(f"figure-3-{source.name}-{tau}", settings, partial(_measure, source, tau, effort))


def _measure(source: Source, tau: int, effort: _Effort, watch: Watch) -> Raw:
    watch(0.0, "the optimum")
    problem, best = source.problem(), source.optimum().value
    samplings: dict[str, Sampling] = {STANDARD: Nice(tau), NEW: Chunks(tau)}
    raw: Raw = {"data": source.label, "tau": tau, "curves": [], "theta": {}, "tuning": {}, "timed": [], "fallback": {}}
    for k, (name, sampling) in enumerate(samplings.items()):
        bound = sampling.bind(problem)
        raw["theta"][name] = theorem_theta(bound, 2)
        used = problem.norms > 0
        raw["fallback"][name] = float((bound.v[used] / problem.norms[used] ** 2).max()) / _most_examples(bound, tau)
        run = partial(_run, bound, best, name)
        watch(k / 2, f"tuning {sampling}")
        step, raw["tuning"][name] = runs.tune(
            run, effort.epochs, raw["theta"][name], TARGET, largest=float(bound.p.min())
        )
        tuned = run(step, effort.epochs, _FLOOR)
        raw["curves"].append(tuned.raw() | {"proxy": runs.proxy_times(bound, tuned.iteration).tolist()})
        for threads in sorted({1, effort.threads}):
            watch((k + 0.7) / 2, f"timing {sampling} on {threads} threads")
            seconds = [run(step, effort.epochs, _FLOOR, threads).seconds for _ in range(effort.repeats)]
            raw["timed"].append(tuned.raw() | {"seconds": np.min(seconds, axis=0).tolist(), "threads": threads})
    return raw


def _run(
    bound: BoundSampling, best: float, name: str, step: float, epochs: float, floor: float = TARGET, threads: int = 1
) -> runs.Curve:
    return runs.run(
        bound.problem,
        best,
        name,
        epochs=epochs,
        floor=floor,
        every=_EVERY,
        sampling=bound,
        step=step,
        n_threads=threads,
    )


def _most_examples(bound: BoundSampling, tau: int) -> int:
    """The largest |S| that can be drawn."""
    if isinstance(bound.sampling, Chunks):
        return int(np.sort(bound.sampling.groups(bound.problem).sizes)[-tau:].sum())
    return tau


def _draw_proxy(plot: Plot, raw: Raw) -> None:
    curves.draw(plot, raw["curves"], "proxy", "proxy time (nonzeros)", promised=raw["theta"])
    plot.thousands()


def _draw_seconds(plot: Plot, raw: Raw) -> None:
    for curve in raw["timed"]:
        k, one = (STANDARD, NEW).index(curve["name"]), curve["threads"] == 1
        hover = [f"{a:.3g} s, {b:.2g}" for a, b in zip(curve["seconds"], curve["suboptimality"], strict=True)]
        name = f"{curve['name']}, {curve['threads']} thread{'s' * (not one)}"
        marker = None if one else MARKERS[k]
        style = ":" if one else "-"
        plot.line(curve["seconds"], curve["suboptimality"], name, COLOURS[k], marker=marker, style=style, hover=hover)
    plot.label("seconds", curves.SUBOPTIMALITY)


def _data_seconds(raw: Raw) -> Table:
    table = curves.table(raw["timed"])
    threads = [curve["threads"] for curve in raw["timed"] for _ in curve["epoch"]]
    return Table(("threads", *table.header), [(t, *row) for t, row in zip(threads, table.rows, strict=True)])


def proxies(raw: Raw) -> tuple[float, float]:
    """Proxy time to the target, by standard and by new sampling."""
    found = curves.named(raw)
    standard, new = (runs.reached(found[k]["proxy"], found[k]["suboptimality"], TARGET) for k in (STANDARD, NEW))
    return standard, new


def seconds_to_target(raw: Raw, name: str, *, most: bool) -> float:
    """Seconds to the target on most threads or on one."""
    threads = {curve["threads"] for curve in raw["timed"]}
    wanted = max(threads) if most else min(threads)
    (curve,) = [c for c in raw["timed"] if c["name"] == name and c["threads"] == wanted]
    return runs.reached(curve["seconds"], curve["suboptimality"], TARGET)


def _summary(raws: Mapping[str, Raw]) -> Table:
    rows = []
    for raw in raws.values():
        standard, new = proxies(raw)
        steps = [curves.named(raw)[name]["step"] / raw["theta"][name] for name in (STANDARD, NEW)]
        rows.append((raw["data"]["name"], raw["tau"], standard, new, standard / new, *steps))
    proxy = [f"proxy to {TARGET:g}, {kind}" for kind in ("standard", "new")]
    return Table(("data", "τ", *proxy, "standard / new", "tuned θ / theorem's, standard", "the same, new"), rows)


def _summary_seconds(raws: Mapping[str, Raw]) -> Table:
    rows = []
    for raw in raws.values():
        times = [seconds_to_target(raw, name, most=most) for name in (STANDARD, NEW) for most in (False, True)]
        rows.append((raw["data"]["name"], raw["tau"], *times, times[1] / times[3]))
    header = ("data", "τ", "standard, 1 thread", "standard, most threads", "new, 1 thread", "new, most threads")
    return Table((*header, "standard / new, most threads"), rows)
