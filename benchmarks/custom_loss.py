"""What a compiled loss of one's own costs: the built-in logistic loss against its twin compiled by numba.

Same problem, same draws; seconds of the method alone per epoch. A compiled loss has a value and a derivative
and no more, so its implicit step is found by secants where the built-in one uses Newton's method.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cfunc
from rich.table import Table
from scipy import LowLevelCallable

import dualfree as df
from benchmarks.machine import console, print_machine
from benchmarks.timing import median_ratio, take_turns
from dualfree import datasets
from dualfree.losses import Logistic, Loss

REPEATS = 25
EPOCHS = 10
CASES = (("shuffled", "theorem-2"), ("shuffled", "implicit"), ("nice:16", "theorem-2"), ("nice:16", "implicit"))


@cfunc("double(double, double)", error_model="numpy")
def logistic(z: float, y: float) -> float:
    t = y * z
    return max(-t, 0.0) + math.log1p(math.exp(-abs(t)))


@cfunc("double(double, double)", error_model="numpy")
def logistic_slope(z: float, y: float) -> float:
    return -y / (1 + math.exp(y * z))


class Twin(Loss):
    """The logistic loss as a user would write and compile it."""

    compiled = (LowLevelCallable(logistic.ctypes), LowLevelCallable(logistic_slope.ctypes))

    def value(self, z: Any, y: Any) -> Any:
        return np.logaddexp(0, -y * z)

    def derivative(self, z: Any, y: Any) -> Any:
        return -y * np.exp(-np.logaddexp(0, y * z))

    def smoothness(self, y: Any) -> Any:
        return np.full(len(y), 0.25)


def problems() -> dict[str, tuple[Any, Any]]:
    """Sparse rows like those of w8a (12 nonzeros each), and dense ones."""
    sparse = datasets.load("w8a", standin=True).scaled()
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(20_000, 100))
    y = np.where(dense @ rng.normal(size=100) + rng.normal(size=20_000) > 0, 1.0, -1.0)
    return {"w8a-like CSR": (sparse.X, sparse.y), "dense, d=100": (dense / 15, y)}


def seconds_per_epoch(problem: df.Problem, sampling: str, step: str, epochs: int) -> Callable[[], float]:
    """A contestant: the seconds of the method alone, the clock being stopped while it evaluates."""

    def run() -> float:
        result = df.solve(problem, sampling=sampling, step=step, tol=0, max_epochs=epochs, evaluate_every=epochs)
        return result.seconds / result.epochs

    return run


def agreement(built_in: df.Problem, twin: df.Problem, sampling: str, step: str) -> float:
    """Largest difference of α after two epochs over the same draws."""
    one, other = (df.solve(p, sampling=sampling, step=step, tol=0, max_epochs=2) for p in (built_in, twin))
    return float(np.abs(one.alpha - other.alpha).max())


def main() -> None:
    table = Table(title="Built-in logistic loss against a compiled twin, ms per epoch (medians)")
    for heading in ("data", "sampling", "step", "built-in", "compiled", "ratio", "max |Δα|"):
        table.add_column(heading, justify="left" if heading in ("data", "sampling", "step") else "right")
    for name, (X, y) in problems().items():
        built_in, twin = (df.Problem(X, loss(y), lam=1 / len(y)) for loss in (Logistic, Twin))
        for sampling, step in CASES:
            contestants = {
                "built-in": seconds_per_epoch(built_in, sampling, step, EPOCHS),
                "compiled": seconds_per_epoch(twin, sampling, step, EPOCHS),
            }
            timings = take_turns(contestants, REPEATS)
            shown = [f"{1e3 * timings[which].median:.2f}" for which in contestants]
            ratio = median_ratio(timings["compiled"], timings["built-in"])
            table.add_row(
                name, sampling, step, *shown, f"{ratio:.2f}", f"{agreement(built_in, twin, sampling, step):.0e}"
            )
    console.print(table)
    print_machine()


if __name__ == "__main__":
    main()
