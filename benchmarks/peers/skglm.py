"""skglm: its L-BFGS on the logistic and quadratic data fits."""

from typing import Any

from benchmarks.peers.base import Peer, Task


def fit(task: Task, data: Any, tol: float) -> Any:
    """Fit by ``(1/n) Σ φ + (λ/2)‖w‖²``."""
    from skglm import GeneralizedLinearEstimator, datafits, penalties, solvers

    loss = datafits.Logistic() if task.loss == "logistic" else datafits.Quadratic()
    solver = solvers.LBFGS(max_iter=100_000, tol=tol)
    return GeneralizedLinearEstimator(loss, penalties.L2(task.lam), solver).fit(*data).coef_


PEERS = [Peer("skglm L-BFGS", "skglm", "skglm", fit, ("logistic", "squared"))]
