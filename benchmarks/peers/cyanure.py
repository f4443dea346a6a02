"""Cyanure: its tolerance is a relative duality gap."""

from typing import Any

from benchmarks.peers.base import Fit, Peer, Task, threads

# Cyanure's squared hinge is half of ours, so λ is halved too.
LOSS = {"logistic": ("logistic", 1.0), "squared-hinge": ("sqhinge", 0.5), "squared": ("square", 1.0)}


def cyanure(solver: str, gap_interval: int) -> Fit:
    """Fit by ``(1/n) Σ φ + (λ/2)‖w‖²``, looking at the gap every so many epochs."""

    def fit(task: Task, data: Any, tol: float) -> Any:
        from cyanure.estimators import Classifier, Regression

        loss, share = LOSS[task.loss]
        settings: dict[str, Any] = {
            "penalty": "l2",
            "lambda_1": task.lam * share,
            "fit_intercept": False,
            "solver": solver,
            "tol": tol,
            "max_iter": 100_000,
            "duality_gap_interval": gap_interval,
            "n_threads": threads(),
            "verbose": False,
        }
        model = Regression(**settings) if task.loss == "squared" else Classifier(loss=loss, **settings)
        return model.fit(*data).coef_

    return fit


PEERS = [
    Peer(f"Cyanure {solver}{label}", "cyanure", "cyanure", cyanure(solver, interval), tuple(LOSS))
    for solver in ("auto", "miso", "qning-miso")
    for interval, label in ((5, ""), (1, ", gap each epoch"))
]
