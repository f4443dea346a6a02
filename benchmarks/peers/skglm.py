"""skglm: L-BFGS and coordinate descent with Anderson acceleration; it works on columns, and turning X counts."""

from typing import Any

import numpy as np
from scipy.sparse import csc_matrix

from benchmarks.peers.base import Peer, Task


def _arguments(task: Task, data: Any) -> tuple[Any, Any, Any]:
    from skglm import datafits

    X, y = data
    turned = csc_matrix(X) if task.sparse else np.asfortranarray(X)
    return turned, y, datafits.Logistic() if task.loss == "logistic" else datafits.Quadratic()


def lbfgs(task: Task, data: Any, tol: float) -> Any:
    """Fit by ``(1/n) Σ φ + (λ/2)‖w‖²``."""
    from skglm import penalties, solvers

    solver = solvers.LBFGS(max_iter=100_000, tol=tol)
    return solver.solve(*_arguments(task, data), penalties.L2(task.lam))[0]


def descent(task: Task, data: Any, tol: float) -> Any:
    """Fit by the elastic net's penalty without its ℓ1 part."""
    from skglm import penalties, solvers

    solver = solvers.AndersonCD(max_iter=1000, max_epochs=100_000, p0=task.d, tol=tol, fit_intercept=False)
    return solver.solve(*_arguments(task, data), penalties.L1_plus_L2(task.lam, 0.0))[0]


def no_sparse_quadratic(task: Task) -> str | None:
    """What its L-BFGS lacks."""
    return "its L-BFGS has no squared loss for sparse X" if task.sparse and task.loss == "squared" else None


PEERS = [
    Peer("skglm L-BFGS", "skglm", "skglm", lbfgs, ("logistic", "squared"), unfit=no_sparse_quadratic),
    Peer("skglm AndersonCD", "skglm", "skglm", descent, ("logistic", "squared")),
]
