"""Theorems 1 and 2 on two small problems, for every family of samplings: means over many seeds and the promise."""

from functools import partial

import numpy as np

from dualfree.arrays import Floats
from dualfree.losses import Logistic, Squared
from dualfree.paper.report import Experiment, Figure, Panel, Plot, Raw, Watch
from dualfree.paper.report.plot import COLOURS, MARKERS
from dualfree.paper.scale import Scale
from dualfree.paper.simulation import Decay, draw_decays, simulate, table_of_decays
from dualfree.problem import Problem
from dualfree.samplings import (
    Buckets,
    Chunks,
    Distributed,
    Importance,
    Independent,
    Nice,
    Partition,
    Sampling,
    SetList,
    Uniform,
)
from dualfree.solve import solve

_COLOURS = {1: COLOURS[5], 2: COLOURS[0]}


def figure(scale: Scale) -> Figure:
    """Small multiples, one a sampling."""
    cases = [(2, name) for name in convex_samplings(convex_problem().n)]
    cases += [(1, name) for name in average_convex_samplings()]
    experiments = tuple(
        Experiment(
            f"theorem-{theorem}-{''.join(c if c.isalnum() else '-' for c in name)}",
            {"theorem": theorem, "sampling": name, "seeds": scale.seeds},
            partial(_measure, theorem, name, scale.seeds),
        )
        for theorem, name in cases
    )
    panels = tuple(
        Panel(f"{name}\n(Theorem {theorem})", experiment.name, _draw)
        for (theorem, name), experiment in zip(cases, experiments, strict=True)
    )
    return Figure(
        "theorems",
        "Beyond the paper: both theorems, sampling by sampling",
        f"The potential over its start against what is proven for its expectation: mean of {scale.seeds} runs, band "
        "from 5 to 95 %. Theorem 2 on logistic regression; Theorem 1 on least squares in which every fourth loss is "
        "upside down. Both problems are small and simulated.",
        experiments,
        panels,
        3,
        lambda raw: table_of_decays([Decay.of(raw)]),
    )


def _measure(theorem: int, name: str, seeds: int, watch: Watch) -> Raw:
    watch(0.0, name)
    problem = convex_problem() if theorem == 2 else average_convex_problem()
    samplings = convex_samplings(problem.n) if theorem == 2 else average_convex_samplings()
    return simulate(name, samplings[name].bind(problem), optimum(problem), theorem, seeds=seeds).raw()


def _draw(plot: Plot, raw: Raw) -> None:
    decay = Decay.of(raw)
    named = Decay(f"mean of {len(decay.ratios)} runs", decay.theorem, decay.theta, decay.times, decay.ratios)
    draw_decays(plot, [named], [_COLOURS[decay.theorem]], MARKERS)


def convex_problem(n: int = 48, d: int = 8, seed: int = 0) -> Problem:
    """Logistic regression with rows of unequal length, some features shared and some rare; λ = 1/n as in the paper.

    Examples
    --------
    >>> convex_problem().loss.all_convex
    True
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < np.linspace(0.9, 0.2, d))
    X *= rng.uniform(0.3, 1.0, size=(n, 1))
    X /= np.sqrt((X**2).sum(axis=1).max())
    y = np.where(X @ rng.normal(size=d) + 0.2 * rng.normal(size=n) > 0, 1.0, -1.0)
    return Problem(X, Logistic(y), lam=1 / n)


def average_convex_problem(n: int = 48, d: int = 4, lam: float = 0.2, seed: int = 0) -> Problem:
    """Least squares in which every fourth loss is upside down, and only the average is convex.

    Examples
    --------
    >>> problem = average_convex_problem()
    >>> X, weight = problem.examples.X, problem.loss.weight
    >>> bool(np.linalg.eigvalsh((X * weight[:, None]).T @ X / problem.n).min() >= 0)
    True
    >>> problem.loss.all_convex
    False
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X *= rng.uniform(0.5, 1.0, size=(n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    weight = np.where(np.arange(n) % 4 == 0, -0.5, 1.0)
    return Problem(X, Squared(rng.normal(size=n), weight=weight), lam=lam)


def convex_samplings(n: int) -> dict[str, Sampling]:
    """The samplings that are watched under Theorem 2."""
    overlapping = [np.arange(k, k + 8) % n for k in range(0, n, 4)]
    return {
        "uniform": Uniform(),
        "importance": Importance(),
        "τ-nice, τ = 6": Nice(6),
        "independent, E|S| = 6": Independent(np.linspace(0.5, 1.5, n) * 6 / n),
        "2 of 8 chunks": Chunks(2, 8),
        "one of 6 blocks": Partition(6, np.arange(1, 7) / 21),
        "3 parts, 2 of each": Distributed([n // 2, n // 3, n - n // 2 - n // 3], 2),
        "one of each of 6 buckets": Buckets(6),
        "list of overlapping sets": SetList(overlapping),
    }


def average_convex_samplings() -> dict[str, Sampling]:
    """The samplings that are watched under Theorem 1."""
    return {"uniform": Uniform(), "importance": Importance(), "τ-nice, τ = 6": Nice(6)}


def optimum(problem: Problem) -> tuple[Floats, Floats]:
    """``w*`` to the last digits, and ``α_i* = −φ_i'(A_iᵀw*)``.

    Examples
    --------
    >>> problem = average_convex_problem()
    >>> w, alpha = optimum(problem)
    >>> bool(np.abs(problem.gradient(w)).max() < 1e-9), bool(np.abs(problem.primal(alpha) - w).max() < 1e-9)
    (True, True)
    """
    w = solve(problem, tol=0.0, absolute_tol=1e-20, max_epochs=20_000, evaluate_every=50).w
    return w, -problem.derivatives(w)
