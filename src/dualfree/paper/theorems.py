"""Theorems 1 and 2, watched: the mean potential over many seeds against the proven ``e^{−θt}``."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dualfree.arrays import Floats, Indices
from dualfree.bounds import potential
from dualfree.losses import Logistic, Squared
from dualfree.methods.dfsdca import DfSDCA
from dualfree.problem import Problem
from dualfree.samplings import (
    BoundSampling,
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
from dualfree.steps import step_rule

SEEDS = 200


@dataclass(frozen=True)
class Decay:
    """Potentials of many runs of one sampling.

    Attributes
    ----------
    name : str
        The sampling, for people.
    theorem : {1, 2}
        Whose potential and step it is.
    theta : float
        Its θ.
    times : array of T iteration numbers
        When the runs were looked at.
    ratios : array of shape (seeds, T)
        The potential divided by its value at the start.
    """

    name: str
    theorem: int
    theta: float
    times: Indices
    ratios: Floats

    @property
    def mean(self) -> Floats:
        """The mean over the seeds, an estimate of what the theorem bounds."""
        return np.asarray(self.ratios.mean(axis=0))

    @property
    def standard_error(self) -> Floats:
        """Of `mean`."""
        return np.asarray(self.ratios.std(axis=0, ddof=1) / np.sqrt(len(self.ratios)))

    @property
    def promised(self) -> Floats:
        """``e^{−θt}``."""
        return np.asarray(np.exp(-self.theta * self.times))

    @property
    def kept(self) -> bool:
        """Whether the mean less three standard errors is within the promise, at every time.

        The theorem bounds an expectation and the mean only estimates it, hence the allowance. At t = 0 both sides
        are 1.
        """
        return bool((self.mean - 3 * self.standard_error <= self.promised * (1 + 1e-12)).all())


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


def simulate(
    name: str,
    bound: BoundSampling,
    best: tuple[Floats, Floats],
    theorem: int,
    *,
    horizon: float = 7.0,
    looks: int = 15,
    seeds: int = SEEDS,
) -> Decay:
    """Runs of dfSDCA with the theorem's own θ, from zero, one for each seed.

    Parameters
    ----------
    name : str
        For people.
    bound : BoundSampling
        The sampling on its problem.
    best : pair of arrays
        ``(w*, α*)``, from `optimum`.
    theorem : {1, 2}
        Whose θ, and whose potential.
    horizon : float
        Runs end when the promise is ``e^{−horizon}``.
    looks : int
        Times at which the potential is taken, evenly spaced.
    seeds : int
        Number of runs.

    Examples
    --------
    >>> problem = convex_problem()
    >>> decay = simulate("uniform", Uniform().bind(problem), optimum(problem), theorem=2, seeds=20)
    >>> decay.ratios.shape, bool((decay.ratios[:, 0] == 1).all()), decay.kept
    ((20, 15), True, True)
    """
    problem = bound.problem
    rule = step_rule(f"theorem-{theorem}", bound)
    times = np.unique(np.linspace(0, horizon / rule.theta, looks).round().astype(np.int64))
    method = DfSDCA(problem, bound, rule)
    ratios = np.empty((seeds, len(times)))
    for seed in range(seeds):
        state = method.start(np.zeros(problem.n))
        for k, time in enumerate(times.tolist()):
            if time > state.iteration:
                method.advance(state, bound.draw(state.iteration, time - state.iteration, seed))
            ratios[seed, k] = potential(problem, state.w, state.alpha, *best, theorem)
    return Decay(name, theorem, rule.theta, times, ratios / ratios[:, :1])


def all_decays(seeds: int = SEEDS) -> Iterator[Decay]:
    """Every sampling of the figure, one after the other."""
    problem = convex_problem()
    best = optimum(problem)
    for name, sampling in convex_samplings(problem.n).items():
        yield simulate(name, sampling.bind(problem), best, theorem=2, seeds=seeds)
    problem = average_convex_problem()
    best = optimum(problem)
    for name, sampling in average_convex_samplings().items():
        yield simulate(name, sampling.bind(problem), best, theorem=1, seeds=seeds)


def decay_count() -> int:
    """How many `all_decays` yields."""
    return len(convex_samplings(convex_problem().n)) + len(average_convex_samplings())
