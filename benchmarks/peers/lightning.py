"""scikit-learn-contrib's lightning: SAG, and SDCA, which has no logistic loss."""

from typing import Any

from benchmarks.peers.base import Fit, Peer, Task

SAG_LOSS = {"logistic": "log", "squared-hinge": "squared_hinge", "smoothed-hinge": "smooth_hinge"}
SDCA_LOSS = {"squared-hinge": "squared_hinge", "smoothed-hinge": "smooth_hinge", "squared": "squared"}


def lightning(kind: str) -> Fit:
    """Fit by ``(1/n) Σ φ + (α/2)‖w‖²``."""

    def fit(task: Task, data: Any, tol: float) -> Any:
        from lightning import classification, regression

        settings: dict[str, Any] = {"alpha": task.lam, "tol": tol, "max_iter": 100_000, "random_state": 0}
        if kind == "SAG":
            model = classification.SAGClassifier(loss=SAG_LOSS[task.loss], **settings)
        elif task.loss == "squared":
            model = regression.SDCARegressor(loss="squared", l1_ratio=0, **settings)
        else:
            model = classification.SDCAClassifier(loss=SDCA_LOSS[task.loss], l1_ratio=0, **settings)
        return model.fit(*data).coef_

    return fit


PEERS = [
    Peer("lightning SAG", "lightning", "sklearn-contrib-lightning", lightning("SAG"), tuple(SAG_LOSS)),
    Peer("lightning SDCA", "lightning", "sklearn-contrib-lightning", lightning("SDCA"), tuple(SDCA_LOSS)),
]
