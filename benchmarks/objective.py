"""The objective in plain NumPy, apart from the package that it judges: values, and slopes for the second judge."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.peers.base import Task

Floats = NDArray[np.float64]


def losses(name: str, z: Floats, y: Floats) -> Floats:
    """φ(z) for each example; the smoothed hinge is rounded over a width of 1.

    Examples
    --------
    >>> losses("smoothed-hinge", np.array([-1.0, 0.5, 2.0]), np.ones(3)).tolist()
    [1.5, 0.125, 0.0]
    """
    if name == "logistic":
        return np.logaddexp(0, -y * z)
    if name == "squared":
        return (z - y) ** 2 / 2
    short = np.maximum(0, 1 - y * z)
    if name == "squared-hinge":
        return short**2
    if name == "smoothed-hinge":
        return np.where(short >= 1, short - 0.5, short**2 / 2)
    raise ValueError(f"loss is {name!r}; it must be logistic, squared, squared-hinge or smoothed-hinge.")


def slopes(name: str, z: Floats, y: Floats) -> tuple[Floats, Floats]:
    """φ'(z) and φ''(z), the latter from one side at a kink of φ'."""
    if name == "logistic":
        p = expit(-y * z)
        return -y * p, p * (1 - p)
    if name == "squared":
        return z - y, np.ones(len(z))
    short = np.maximum(0, 1 - y * z)
    if name == "squared-hinge":
        return -2 * y * short, np.where(short > 0, 2.0, 0.0)
    return -y * np.minimum(short, 1), np.where((short > 0) & (short < 1), 1.0, 0.0)


def value(task: Task, w: Any) -> float:
    """``P(w)`` in float64, whatever w's type; infinite where w is not finite.

    Examples
    --------
    >>> value(Task(np.eye(2), np.ones(2), "squared", lam=0.5), [1.0, 0.0])
    0.5
    """
    w = np.asarray(w, dtype=np.float64).ravel()
    if not np.isfinite(w).all():
        return float("inf")
    return float(losses(task.loss, task.X @ w, task.y).mean() + task.lam / 2 * (w @ w))


def gradient(task: Task, w: Floats) -> tuple[Floats, Floats]:
    """``∇P(w)`` and the curvatures φ''."""
    first, second = slopes(task.loss, task.X @ w, task.y)
    return np.asarray(task.X.T @ first).ravel() / task.n + task.lam * w, second


def value_and_gradient(task: Task, w: Floats) -> tuple[float, Floats]:
    """``P(w)`` and ``∇P(w)`` for one product with X and one with its transpose."""
    z = task.X @ w
    slope = np.asarray(task.X.T @ slopes(task.loss, z, task.y)[0]).ravel() / task.n + task.lam * w
    return float(losses(task.loss, z, task.y).mean() + task.lam / 2 * (w @ w)), slope
