"""skglm: its L-BFGS, the solver that it has for this penalty; it works on columns, and turning X counts."""

from typing import Any

import numpy as np
from scipy.sparse import csc_matrix

from benchmarks.peers.base import Peer, Task


def fit(task: Task, data: Any, tol: float) -> Any:
    """Fit by ``(1/n) Σ φ + (λ/2)‖w‖²``."""
    from skglm import datafits, penalties, solvers

    X, y = data
    columns = csc_matrix(X) if task.sparse else np.asfortranarray(X)
    loss = datafits.Logistic() if task.loss == "logistic" else datafits.Quadratic()
    return solvers.LBFGS(max_iter=100_000, tol=tol).solve(columns, y, loss, penalties.L2(task.lam))[0]


def no_sparse_quadratic(task: Task) -> str | None:
    """What its L-BFGS lacks."""
    return "its L-BFGS has no squared loss for sparse X" if task.sparse and task.loss == "squared" else None


PEERS = [Peer("skglm L-BFGS", "skglm", "skglm", fit, ("logistic", "squared"), unfit=no_sparse_quadratic)]
