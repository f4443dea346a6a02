"""What cross-validation keeps of a fold, its grid of C, and its progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from dualfree.arrays import Floats
from dualfree.linear_model.base import split_intercept
from dualfree.result import Result


class FoldPath:
    """The scores, coefficients and results of one fold; NaN where Ctrl-C came first."""

    def __init__(self, grid: int, parts: int, d: int) -> None:
        self.scores = np.full(grid, np.nan)
        self.coefficients = np.full((grid, parts, d + 1), np.nan)
        self.results: list[Result] = []

    def add(self, k: int, results: list[Result], score: float) -> None:
        """Note what came out for the k-th C."""
        coefficients, intercepts = split_intercept(results, self.coefficients.shape[2] - 1, np.float64)
        self.coefficients[k] = np.column_stack([coefficients, intercepts])
        self.scores[k] = score
        # Of the runs only their ends are needed later; their α would add up to folds × grid × n numbers.
        self.results += [replace(result, alpha=result.alpha[:0].copy()) for result in results]


def grid_of(Cs: Any) -> Floats:
    """The values of C in increasing order, from themselves or from their number."""
    if isinstance(Cs, Integral):
        return np.logspace(-4, 4, int(Cs))
    grid: Floats = np.sort(np.asarray(Cs, dtype=np.float64).ravel())
    if not (len(grid) and np.isfinite(grid).all() and grid[0] > 0):
        raise ValueError(f"Cs is {Cs!r:.60}; it must hold finite numbers above 0, or be their number.")
    return grid


@contextmanager
def progress_of(wanted: bool, steps: int) -> Iterator[Callable[[], None]]:
    """A bar with one step for each fit; silent where it is not wanted."""
    if not wanted:
        yield lambda: None
        return
    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("folds × Cs", total=steps)
        yield lambda: bar.advance(task)
