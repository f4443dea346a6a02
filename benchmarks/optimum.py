"""P* by two methods that share no code: dualfree, and Newton's method with conjugate gradients in NumPy."""

from dataclasses import dataclass

import numpy as np

import dualfree as df
from benchmarks.objective import Floats, gradient, value
from benchmarks.peers.base import Task
from benchmarks.peers.dualfree import problem_of

TIGHT = 1e-13  # relative; about a thousand roundings of float64
SECONDS = 120.0
_NEWTON_STEPS = 100
_CG_STEPS = 2000


@dataclass(frozen=True)
class Optimum:
    """The smaller of two values of P, and by how much the other one is greater, relative to it."""

    value: float
    disagreement: float
    certified: float  # dualfree's relative gap

    @property
    def uncertainty(self) -> float:
        """A relative bound on the error of `value`, as far as the two judges tell."""
        return max(self.disagreement, TIGHT)


def find_optimum(task: Task) -> Optimum:
    """Minimise twice and compare.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> best = find_optimum(Task(rng.normal(size=(50, 3)), np.sign(rng.normal(size=50)), "logistic", lam=0.1))
    >>> best.disagreement <= 1e-12, best.certified <= 1e-12
    (True, True)
    """
    result = df.solve(problem_of(task), method="auto", tol=TIGHT, max_epochs=100_000, time_limit=SECONDS)
    values = sorted((value(task, result.w), value(task, newton_cg(task))))
    return Optimum(values[0], (values[1] - values[0]) / abs(values[0]), result.certificate.relative_gap)


def newton_cg(task: Task) -> Floats:
    """Newton's method; each step by conjugate gradients, damped until P falls."""
    w = np.zeros(task.d)
    here = value(task, w)
    for _ in range(_NEWTON_STEPS):
        slope, curvature = gradient(task, w)
        steepness = float(slope @ slope)
        if steepness <= 2 * task.lam * TIGHT * abs(here):  # ‖∇P‖²/(2λ) bounds what is left
            break
        direction = _newton_direction(task, slope, curvature)
        step, ahead = 1.0, value(task, w + direction)
        while ahead > here + 1e-4 * step * float(slope @ direction) and step > 1e-10:
            step /= 2
            ahead = value(task, w + step * direction)
        if ahead >= here:
            break
        w, here = w + step * direction, ahead
    return w


def _newton_direction(task: Task, slope: Floats, curvature: Floats) -> Floats:
    """Solve ``∇²P · direction = −∇P`` the more exactly, the smaller the gradient already is."""
    direction = np.zeros(task.d)
    residual = -slope
    search, size = residual.copy(), float(residual @ residual)
    goal = size * min(0.01, size)
    for _ in range(_CG_STEPS):
        product = np.asarray(task.X.T @ (curvature * (task.X @ search))).ravel() / task.n + task.lam * search
        step = size / float(search @ product)
        direction += step * search
        residual -= step * product
        size, before = float(residual @ residual), size
        if size <= goal:
            break
        search = residual + (size / before) * search
    return direction
