"""Softmax regression: dualfree against scikit-learn's lbfgs and saga and Cyanure's multinomial, one thread each.

Milliseconds to ``P(W) − P* ≤ 1e-6 P*`` without intercept, rows divided by the largest norm. Every solver has the
loosest tolerance of a grid with which it gets there; then all take turns, and medians are compared. The data: protein
(three classes; its stand-in where the file is not at hand) and a generated text-like set of 20 classes with the row
lengths and power-law features of rcv1.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import typer
from rich.table import Table
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import dualfree as df
from benchmarks.machine import console, print_machine
from benchmarks.timing import median_ratio, take_turns

TARGET = 1e-6
GRID = tuple(10.0**-k for k in range(2, 11))
CLASSES = 20
Fit = Callable[[Any, Any, float, float], Any]  # X, y, λ and a tolerance to W of shape (d, m)


def by_dualfree(X: Any, y: Any, lam: float, tol: float) -> Any:
    return df.solve(df.Problem(X, df.losses.Softmax(y), lam), method="auto", tol=tol, max_epochs=5000).w


def by_scikit_learn(solver: str) -> Fit:
    def fit(X: Any, y: Any, lam: float, tol: float) -> Any:
        model = LogisticRegression(C=1 / (lam * len(y)), solver=solver, tol=tol, fit_intercept=False, max_iter=20_000)
        return model.fit(X, y).coef_.T

    return fit


def by_cyanure(X: Any, y: Any, lam: float, tol: float) -> Any:
    from cyanure.estimators import Classifier

    settings = {"penalty": "l2", "lambda_1": lam, "fit_intercept": False, "tol": tol, "max_iter": 20_000}
    model = Classifier(loss="multiclass-logistic", n_threads=1, verbose=False, **settings).fit(X, y)
    return model.coef_ if model.coef_.shape[0] == X.shape[1] else model.coef_.T


def solvers() -> dict[str, Fit]:
    """The contestants that are installed."""
    found: dict[str, Fit] = {"dualfree": by_dualfree}
    found |= {f"sklearn {solver}": by_scikit_learn(solver) for solver in ("lbfgs", "saga")}
    try:
        import cyanure.estimators  # noqa: F401
    except ImportError:
        console.print("Cyanure is not installed: left out.")
    else:
        found["Cyanure"] = by_cyanure
    return found


def protein() -> tuple[Any, Any, str]:
    real = df.datasets.describe("protein").available is not None
    data = df.datasets.load("protein", standin=not real, original_labels=True)
    return data.X, data.y, f"protein ({data.provenance})"


def text() -> tuple[Any, Any, str]:
    """Rows like those of rcv1, with 20 classes that a third of the words tell apart, and noise."""
    X = df.datasets.load("rcv1", standin=True).X
    rng = np.random.default_rng(0)
    planted = rng.normal(size=(X.shape[1], CLASSES)) * (rng.random((X.shape[1], 1)) < 0.3)
    scores = X @ planted
    y = (3 * scores / scores.std() + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return X, y, f"text, {CLASSES} classes (generated)"


def loosest(fit: Fit, X: Any, y: Any, problem: df.Problem, optimum: float, limit: float) -> float | None:
    """The loosest tolerance that reaches the target, or None where it takes longer than `limit` seconds."""
    for tol in GRID:
        begun = time.perf_counter()
        W = np.ascontiguousarray(fit(X, y, problem.lam, tol), dtype=np.float64)
        if problem.value(W) - optimum <= TARGET * optimum:
            return tol
        if time.perf_counter() - begun > limit:
            return None
    return None


def measure(table: Table, name: str, X: Any, y: Any, share: float, repeats: int, limit: float) -> None:
    problem = df.Problem(X, df.losses.Softmax(y), lam=share / len(y))
    optimum = df.solve(problem, method="auto", tol=1e-10, max_epochs=50_000).certificate.value
    contestants = {}
    for title, fit in solvers().items():
        tol = loosest(fit, X, y, problem, optimum, limit)
        if tol is not None:
            contestants[title] = lambda fit=fit, tol=tol: np.asarray(fit(X, y, problem.lam, tol)) is None
    timings = take_turns(contestants, repeats, warm_up=0)
    peers = [title for title in timings if title != "dualfree"]
    best = min(peers, key=lambda title: timings[title].median, default=None)
    shown = [f"{1e3 * timings[title].median:.0f}" if title in timings else "—" for title in HEADINGS]
    ratio = "—" if best is None else f"{median_ratio(timings[best], timings['dualfree']):.2f} ({best})"
    table.add_row(name, f"{share:g}/n", *shown, ratio)


HEADINGS = ("dualfree", "sklearn lbfgs", "sklearn saga", "Cyanure")


def main(repeats: int = 5, limit: float = 20.0) -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    table = Table(title=f"Softmax regression to a relative suboptimality of {TARGET:g}, ms, medians of {repeats}")
    for heading in ("data", "λ", *HEADINGS, "best peer / dualfree"):
        table.add_column(heading, justify="left" if heading in ("data", "λ") else "right")
    with threadpool_limits(1):
        for make in (protein, text):
            X, y, name = make()
            X = sparse.csr_matrix(X / np.sqrt(X.multiply(X).sum(axis=1).max()))
            for share in (1.0, 0.1, 0.01):
                console.print(f"{name}, λ = {share:g}/n ...")
                measure(table, name, X, y, share, repeats, limit)
    console.print(table)
    print_machine()


if __name__ == "__main__":
    typer.run(main)
