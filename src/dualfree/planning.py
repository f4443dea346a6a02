"""The planner: for each candidate sampling the theorems' bound and the proxy time, before any run."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dualfree.arrays import Floats, not_negative, whole
from dualfree.bounds import initial_potential, iteration_bound
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling, Draws, Sampling
from dualfree.samplings.names import by_name

_TRIAL_PIECES = 200_000


@dataclass(frozen=True)
class PlanRow:
    """One sampling's forecast: `proxy` is the largest number of nonzeros on one core, per iteration and in all."""

    sampling: str
    iterations: float
    epochs: float
    proxy_per_iteration: float
    proxy: float
    covered: bool


@dataclass(frozen=True)
class Plan:
    """Forecasts, the least proxy time first."""

    rows: tuple[PlanRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[PlanRow]:
        return iter(self.rows)

    def __getitem__(self, index: int) -> PlanRow:
        return self.rows[index]

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, one row for each sampling (needs ``pip install "dualfree[tables]"``)."""
        from dualfree.optional import require

        return require("pandas", "tables").DataFrame([asdict(row) for row in self.rows])

    def __str__(self) -> str:
        lines = [f"{'sampling':<32}{'iterations':>12}{'epochs':>10}{'proxy/iter':>12}{'proxy':>12}"]
        lines += [
            f"{row.sampling:<32.32}{row.iterations:>12.4g}{row.epochs:>10.4g}{row.proxy_per_iteration:>12.4g}"
            f"{row.proxy:>12.4g}{'' if row.covered else '  (not proven)'}"
            for row in self.rows
        ]
        return "\n".join(lines)


def plan(
    problem: Problem, samplings: Sequence[Sampling | str], cores: int | None = None, tol: float = 1e-6, seed: int = 0
) -> Plan:
    """The theorems' bound for each sampling, before any run, with the proxy time of the paper.

    Parameters
    ----------
    problem : Problem
        Theorem 2 is used where every φ_i is convex, otherwise Theorem 1.
    samplings : list of Sampling or str
        The candidates; a string is read by `dualfree.samplings.by_name`.
    cores : int, optional
        Cores that share an iteration's work; by default each piece (an example, or a whole chunk or part) has one
        of its own, as in the paper. With fewer, each piece goes to the core with the least work so far.
    tol : float
        The target is ``E[P(w) − P*] ≤ tol · |P(0)|``, from w = 0.
    seed : int
        Of the trial draws from which the proxy time is estimated.

    Returns
    -------
    Plan
        Sorted by iterations times proxy time.

    Examples
    --------
    >>> import dualfree as df
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> problem = df.Problem(X, df.losses.Squared(X[:, 0]), lam=0.01)
    >>> df.plan(problem, [df.samplings.Uniform(), df.samplings.Nice(4)], cores=4)[0].sampling
    'Nice(tau=4)'
    """
    if cores is not None:
        cores = whole("cores", cores, 1)
    candidates = _candidates(samplings)
    theorem = 2 if problem.loss.all_convex else 1
    w, alpha = np.zeros(problem.d), np.zeros(problem.examples.total)
    start = initial_potential(problem, w, alpha, theorem)
    epsilon = not_negative("tol", tol) * abs(problem.value(w))
    rows = []
    for sampling in candidates:
        bound = sampling.bind(problem)
        promise = iteration_bound(bound, epsilon, start, theorem)
        per_iteration = proxy_time(bound, cores, seed)
        rows.append(
            PlanRow(
                repr(sampling),
                promise.iterations,
                promise.epochs,
                per_iteration,
                promise.iterations * per_iteration,
                promise.covered,
            )
        )
    return Plan(tuple(sorted(rows, key=lambda row: row.proxy)))


def _candidates(samplings: Any) -> list[Sampling]:
    if isinstance(samplings, (str, Sampling)) or not np.iterable(samplings):
        raise TypeError(f"samplings is {samplings!r:.60}; it must be a list, such as [Uniform(), Nice(8)].")
    candidates = [by_name(each) if isinstance(each, str) else each for each in samplings]
    if not candidates:
        raise ValueError("samplings is empty; give at least one, such as [Uniform(), Nice(8)].")
    for each in candidates:
        if not isinstance(each, Sampling):
            raise TypeError(f"samplings holds {each!r:.60}; each must be one of dualfree.samplings, such as Nice(8).")
    return candidates


def proxy_time(bound: BoundSampling, cores: int | None = None, seed: int = 0) -> float:
    """Mean over trial draws of the largest number of nonzeros that one core handles in an iteration."""
    count = int(np.clip(_TRIAL_PIECES / max(1.0, bound.mean_size), 1, 5_000))
    return float(np.mean(batch_loads(bound.draw(0, count, seed), bound.problem.examples.nonzeros, cores)))


def batch_loads(draws: Draws, nonzeros: Any, cores: int | None = None) -> Floats:
    """For each iteration, the nonzeros of the busiest core."""
    work = nonzeros[draws.indices]
    if draws.batch_start is None:
        return np.asarray(work, dtype=np.float64)
    batch_start = draws.batch_start
    if draws.part_start is not None:
        totals = np.concatenate([[0], np.cumsum(work)])
        work = np.diff(totals[draws.part_start])
        batch_start = np.searchsorted(draws.part_start, draws.batch_start)
    batches = np.split(work, batch_start[1:-1])
    return np.array([_busiest(pieces, cores) for pieces in batches], dtype=np.float64)


def _busiest(pieces: Any, cores: int | None) -> float:
    if cores is None or cores >= len(pieces):
        return float(pieces.max(initial=0))
    loads = [0] * cores
    for piece in pieces.tolist():
        heapq.heapreplace(loads, loads[0] + piece)
    return float(max(loads))
