"""What the benchmark needs to know of a solver, and the threads that it may use."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, metadata
from typing import Any

# λ, tolerance and limits in, w out. `data` is what `prepare` made of X and y.
Fit = Callable[["Task", Any, float], Any]
DECADES = tuple(10.0**-k for k in range(1, 13))
DIRECT = (1.0,)  # the grid of a solver without a tolerance
LOSSES = ("logistic", "squared-hinge", "squared", "smoothed-hinge")


@dataclass(frozen=True, eq=False)
class Task:
    """``min_w (1/n) Σ φ(x_iᵀw) + (λ/2)‖w‖²``, X a CSR matrix or C-ordered array of float64, y of ±1, no intercept.

    Examples
    --------
    >>> import numpy as np
    >>> Task(np.eye(4), np.ones(4), "logistic", lam=0.25).C
    1.0
    """

    X: Any
    y: Any
    loss: str
    lam: float

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """The number of features."""
        return int(self.X.shape[1])

    @property
    def sparse(self) -> bool:
        """Whether X is a sparse matrix."""
        return hasattr(self.X, "indptr")

    @property
    def C(self) -> float:  # noqa: N802  (liblinear's name)
        """``1/(λn)``: divided by λ, the objective is ``C Σ φ + ½‖w‖²``."""
        return 1 / (self.lam * self.n)


def as_given(task: Task) -> Any:
    """The usual `prepare`: the solver takes X and y as they are."""
    return task.X, task.y


@dataclass(frozen=True)
class Peer:
    """One solver in one setting.

    Attributes
    ----------
    name : str
        As in the tables.
    package : str
        The module to import.
    distribution : str
        What pip calls it.
    fit : callable
        ``(task, data, tol) → w``: the call that is timed.
    losses : tuple of str
        The objectives that it minimises exactly, of `LOSSES`.
    grid : tuple of float
        Its tolerances from loose to tight.
    unfit : callable
        ``task → str or None``: why it cannot run on this task.
    prepare : callable
        ``task → data``, outside the clock: for a package whose own data structure is made by slow Python.
    """

    name: str
    package: str
    distribution: str
    fit: Fit
    losses: tuple[str, ...] = ("logistic",)
    grid: tuple[float, ...] = DECADES
    unfit: Callable[[Task], str | None] = field(default=lambda task: None)
    prepare: Callable[[Task], Any] = as_given

    def missing(self, install_failures: Mapping[str, str] | None = None) -> str | None:
        """Why it is not here, or None. A package that breaks on import counts as missing."""
        try:
            import_module(self.package)
        except Exception as error:  # peers fail to import in many ways
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            noted = (install_failures or {}).get(self.distribution)
            return f"{reason} (pip: {noted})" if noted else reason
        return None

    def skips(self, task: Task) -> str | None:
        """Why it does not take part in this task, or None."""
        if task.loss not in self.losses:
            return f"it has no {task.loss} loss"
        return self.unfit(task)

    @property
    def version(self) -> str:
        """The version of its package."""
        return metadata.version(self.distribution)


@cache
def threads() -> int:
    """How many threads a solver may use, settled before its process starts: one, or what `--threads` says."""
    return int(os.environ.get("OMP_NUM_THREADS", "1"))


def few_features(most: int) -> Callable[[Task], str | None]:
    """An `unfit` for solvers that hold a d × d matrix."""

    def unfit(task: Task) -> str | None:
        return f"its d × d matrix would take {task.d**2 * 8 / 1e9:.1f} GB" if task.d > most else None

    return unfit


def dense_only(task: Task) -> str | None:
    """An `unfit` for solvers of dense data."""
    return "it takes dense X only" if task.sparse else None
