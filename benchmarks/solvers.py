"""Seconds to a relative suboptimality of 1e-6: dualfree against scikit-learn's own solvers, one thread each.

Logistic regression without intercept, λ = 1/n, the paper's datasets divided by max ‖A_i‖; the real files if
DUALFREE_DATA names a folder with them, else stand-ins. Each solver runs at every tolerance of a grid; its time is the
smallest median over the tolerances that reach the target, measured on the value P(w) that it ended at. A call is timed
whole: for dualfree, building the `Problem` and every evaluation of the certificate are in it.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.progress import track
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import dualfree as df
from benchmarks.machine import console, load, print_machine

TARGET = 1e-6
REPEATS = 5
TOLERANCES = 10.0 ** -np.arange(1, 9)
Fit = Callable[[Any, Any, float, float], Any]  # (X, y, λ, tol) → w


def dualfree(X: Any, y: Any, lam: float, tol: float) -> Any:
    return df.solve(df.Problem(X, df.losses.Logistic(y), lam), tol=tol, max_epochs=1000).w


def scikit_learn(**settings: Any) -> Fit:
    def fit(X: Any, y: Any, lam: float, tol: float) -> Any:
        model = LogisticRegression(C=1 / (lam * len(y)), tol=tol, fit_intercept=False, max_iter=2000, **settings)
        return model.fit(X, y).coef_[0]

    return fit


SOLVERS: dict[str, Fit] = {
    "dualfree": dualfree,
    "liblinear dual": scikit_learn(solver="liblinear", dual=True),
    "liblinear": scikit_learn(solver="liblinear"),
    "lbfgs": scikit_learn(solver="lbfgs"),
    "newton-cholesky": scikit_learn(solver="newton-cholesky"),
}


def seconds_to_target(fit: Fit, problem: df.Problem, y: Any, best: float, limit: float) -> float:
    """The smallest median over tolerances that reach the target; tolerances run from loose to tight."""
    for tol in TOLERANCES:
        times = []
        for _ in range(REPEATS):
            begun = time.perf_counter()
            w = fit(problem.examples.X, y, problem.lam, tol)
            times.append(time.perf_counter() - begun)
            if times[0] > limit:
                break
        if problem.value(np.asarray(w, dtype=np.float64)) - best <= TARGET * best:
            return statistics.median(times)
        if times[0] > limit:
            break
    return float("nan")


def measure(name: str) -> list[str]:
    data = load(name).scaled()
    problem = df.Problem(data.X, df.losses.Logistic(data.y), lam=1 / len(data.y))
    best = df.solve(problem, tol=1e-12, max_epochs=2000).certificate.value
    seconds = {}
    for solver, fit in SOLVERS.items():
        if solver == "newton-cholesky" and data.X.shape[1] > 2000:
            seconds[solver] = float("nan")  # its d × d Hessian does not fit the purpose
            continue
        seconds[solver] = seconds_to_target(fit, problem, data.y, best, limit=30.0)
    peers = [value for solver, value in seconds.items() if solver != "dualfree" and value == value]
    cells = ["-" if value != value else f"{value:.3f}" for value in seconds.values()]
    return [f"{name} ({data.provenance})", *cells, f"{min(peers) / seconds['dualfree']:.1f}"]


def main() -> None:
    table = Table(title=f"Seconds to P(w) − P* ≤ {TARGET:g} P*, logistic regression, λ = 1/n, medians of {REPEATS}")
    for heading in ("data", *SOLVERS, "best peer / dualfree"):
        table.add_column(heading, justify="left" if heading == "data" else "right")
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name in track(df.datasets.names(), description="solvers", console=console):
            table.add_row(*measure(name))
    console.print(table)
    print_machine()


if __name__ == "__main__":
    main()
