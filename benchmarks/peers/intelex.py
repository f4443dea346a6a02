"""Extension for scikit-learn (oneDAL): dense data only, where it takes over from scikit-learn at all."""

from typing import Any

from benchmarks.peers.base import DIRECT, Peer, Task, dense_only, threads
from benchmarks.peers.scikit_learn import MOST_ITERATIONS


def logistic(task: Task, data: Any, tol: float) -> Any:
    """Fit by ``C Σ log(1 + exp(−y z)) + ½‖w‖²``."""
    from sklearnex.linear_model import LogisticRegression

    _limit_threads()
    model = LogisticRegression(C=task.C, tol=tol, fit_intercept=False, max_iter=MOST_ITERATIONS, solver="lbfgs")
    return model.fit(*data).coef_


def ridge(task: Task, data: Any, tol: float) -> Any:
    """Fit by ``Σ (z − y)² + λn ‖w‖²``."""
    from sklearnex.linear_model import Ridge

    _limit_threads()
    return Ridge(alpha=1 / task.C, fit_intercept=False).fit(*data).coef_


def tall(task: Task) -> str | None:
    """Its Ridge hands wide data back to scikit-learn."""
    return dense_only(task) or ("its Ridge takes n ≥ d only" if task.n < task.d else None)


def _limit_threads() -> None:
    import daal4py

    daal4py.daalinit(nthreads=threads())


PEERS = [
    Peer("sklearnex lbfgs", "sklearnex", "scikit-learn-intelex", logistic, ("logistic",), unfit=dense_only),
    Peer("sklearnex Ridge", "sklearnex", "scikit-learn-intelex", ridge, ("squared",), DIRECT, unfit=tall),
]
