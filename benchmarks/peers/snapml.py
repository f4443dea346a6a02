"""Snap ML, on the processor."""

from typing import Any

from benchmarks.peers.base import Fit, Peer, Task, threads


def snapml(dual: bool) -> Fit:
    """Fit by ``Σ φ + (λn/2)‖w‖²``."""

    def fit(task: Task, data: Any, tol: float) -> Any:
        import snapml

        settings: dict[str, Any] = {
            "regularizer": task.lam * task.n,
            "tol": tol,
            "max_iter": 100_000,
            "n_jobs": threads(),
            "fit_intercept": False,
            "normalize": False,
            "random_state": 0,
        }
        if task.loss == "logistic":
            model = snapml.LogisticRegression(dual=dual, **settings)
        elif task.loss == "squared-hinge":
            model = snapml.SupportVectorMachine(loss="squared_hinge", **settings)
        else:
            model = snapml.LinearRegression(dual=dual, **settings)
        return model.fit(*data).coef_

    return fit


PEERS = [
    Peer("snapml dual", "snapml", "snapml", snapml(dual=True), ("logistic", "squared-hinge", "squared")),
    Peer("snapml primal", "snapml", "snapml", snapml(dual=False), ("logistic", "squared")),
]
