"""The demonstration: five ways to sample the same data, what the theory promised for each, and what happened."""

import csv
import io
import os
from collections.abc import Callable
from dataclasses import dataclass

from dualfree import datasets
from dualfree.io.streams import atomic_write
from dualfree.losses import Logistic
from dualfree.plots import Curve
from dualfree.problem import Problem
from dualfree.result import Result, Row, Status
from dualfree.solve import solve

TOL = 1e-6
# The theorem's own step where there is a theorem, so that promise and outcome can be compared.
_STEPS = {
    "uniform": "theorem-2",
    "importance": "theorem-2",
    "nice:8": "theorem-2",
    "chunks:8": "theorem-2",
    "shuffled": "implicit",
}
NAMES = tuple(_STEPS)


@dataclass(frozen=True)
class Run:
    """One sampling's run: its name here and its result."""

    name: str
    result: Result

    @property
    def curve(self) -> Curve:
        """Relative certified gap at each evaluation, and the rate that Theorem 2 promises if it covers the run."""
        history, bound = self.result.history, self.result.bound
        # After t iterations e^{−θt} of the potential is left; an epoch is iterations/epochs of them.
        rate = bound.theta * bound.iterations / bound.epochs if bound.covered else None
        gaps = history.gap / abs(history.value)
        return Curve(self.name, history.epoch.tolist(), history.seconds.tolist(), gaps.tolist(), rate)


def data(n: int | None = None) -> datasets.Dataset:
    """The data w8a scaled to ``max‖A_i‖ = 1``: the real file if it is on this machine, else its stand-in.

    Parameters
    ----------
    n : int, optional
        Take a stand-in of so many rows.

    Examples
    --------
    >>> data(n=100).provenance
    'stand-in'
    """
    real = n is None and datasets.describe("w8a").path is not None
    return datasets.load("w8a", standin=not real, n=n).scaled()


def run(dataset: datasets.Dataset, watch: Callable[[str], Callable[[Row], None]] | None = None) -> list[Run]:
    """Logistic regression with λ = 1/n by each sampling, to a relative certified gap of 1e-6.

    Parameters
    ----------
    dataset : Dataset
        What to learn from.
    watch : callable, optional
        Called with the name of each run before it starts; what it returns is called with each `Row`.

    Returns
    -------
    list of Run
        Shorter after Ctrl-C: it ends with the run that was interrupted.

    Examples
    --------
    >>> [done.result.status.value for done in run(data(n=200))]
    ['converged', 'converged', 'converged', 'converged', 'converged']
    """
    problem = Problem(dataset.X, Logistic(dataset.y), lam=1 / len(dataset.y))
    runs = []
    for name, step in _STEPS.items():
        callback = None if watch is None else watch(name)
        runs.append(Run(name, solve(problem, sampling=name, step=step, tol=TOL, callback=callback)))
        if runs[-1].result.status is Status.INTERRUPTED:
            break
    return runs


def write_csv(path: str | os.PathLike[str], runs: list[Run], source: str) -> None:
    """Every evaluation of every run, one a line; `source` says in each line which data it was."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["data", "sampling", "step", "epoch", "seconds", "value", "gap", "relative_gap"])
    for done in runs:
        for row in done.result.history:
            relative = row.gap / abs(row.value)
            writer.writerow([source, done.name, done.result.step, row.epoch, row.seconds, row.value, row.gap, relative])
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())
