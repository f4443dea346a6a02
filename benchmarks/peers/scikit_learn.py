"""scikit-learn's solvers."""

from collections.abc import Callable
from typing import Any

from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from benchmarks.peers.base import DIRECT, Fit, Peer, Task, few_features

MOST_ITERATIONS = 100_000
LARGEST_MATRIX = 5000


def logistic(**settings: Any) -> Fit:
    """Fit by ``C Σ log(1 + exp(−y z)) + ½‖w‖²``."""

    def fit(task: Task, data: Any, tol: float) -> Any:
        model = LogisticRegression(C=task.C, tol=tol, fit_intercept=False, max_iter=MOST_ITERATIONS, **settings)
        return model.fit(*data).coef_[0]

    return fit


def squared_hinge(dual: bool) -> Fit:
    """Fit by ``C Σ max(0, 1 − y z)² + ½‖w‖²``."""

    def fit(task: Task, data: Any, tol: float) -> Any:
        model = LinearSVC(C=task.C, dual=dual, tol=tol, fit_intercept=False, max_iter=MOST_ITERATIONS)
        return model.fit(*data).coef_[0]

    return fit


def ridge(solver: str) -> Fit:
    """Fit by ``Σ (z − y)² + λn ‖w‖²``."""

    def fit(task: Task, data: Any, tol: float) -> Any:
        limit = MOST_ITERATIONS if solver in ("lsqr", "sparse_cg", "sag", "saga") else None
        model = Ridge(alpha=1 / task.C, solver=solver, tol=tol, fit_intercept=False, max_iter=limit)
        return model.fit(*data).coef_

    return fit


def no_large_gram(task: Task) -> str | None:
    """Ridge's Cholesky solver holds the smaller of XᵀX and XXᵀ."""
    side = min(task.n, task.d)
    return f"its Gram matrix would take {side**2 * 8 / 1e9:.1f} GB" if side > LARGEST_MATRIX else None


def svd_reason(task: Task) -> str | None:
    """Ridge's SVD takes dense X, and its time grows with min(n, d)²."""
    return "it takes dense X only" if task.sparse else no_large_gram(task)


def _peer(name: str, fit: Fit, loss: str, unfit: Callable[[Task], str | None] = lambda task: None, **rest: Any) -> Peer:
    return Peer(f"sklearn {name}", "sklearn", "scikit-learn", fit, (loss,), unfit=unfit, **rest)


PEERS = [
    _peer("liblinear", logistic(solver="liblinear"), "logistic"),
    _peer("liblinear dual", logistic(solver="liblinear", dual=True), "logistic"),
    _peer("lbfgs", logistic(solver="lbfgs"), "logistic"),
    _peer("newton-cholesky", logistic(solver="newton-cholesky"), "logistic", few_features(LARGEST_MATRIX)),
    _peer("newton-cg", logistic(solver="newton-cg"), "logistic"),
    _peer("sag", logistic(solver="sag"), "logistic"),
    _peer("saga", logistic(solver="saga"), "logistic"),
    _peer("LinearSVC", squared_hinge(dual=False), "squared-hinge"),
    _peer("LinearSVC dual", squared_hinge(dual=True), "squared-hinge"),
    _peer("Ridge cholesky", ridge("cholesky"), "squared", no_large_gram, grid=DIRECT),
    _peer("Ridge svd", ridge("svd"), "squared", svd_reason, grid=DIRECT),
    _peer("Ridge lsqr", ridge("lsqr"), "squared"),
    _peer("Ridge sparse_cg", ridge("sparse_cg"), "squared"),
    _peer("Ridge sag", ridge("sag"), "squared"),
    _peer("Ridge saga", ridge("saga"), "squared"),
]
