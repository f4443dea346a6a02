"""The scale of Huber regression: a search in one number, with a solve for each that it tries."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import brentq

from dualfree.arrays import Floats
from dualfree.linear_model.base import Fitted, Part
from dualfree.linear_model.ridge import column
from dualfree.linear_model.tasks import Task
from dualfree.losses import Huber
from dualfree.result import Result, Status

_SMALLEST_SCALE = 1e-6  # of the spread of y: a fit without residuals would send the scale to zero


class ScaleProfile:
    """The minimum over (w, b) as a function of the scale σ: its derivative, and the point behind it."""

    def __init__(self, estimator: Any, X: Any, y: Floats, weight: Floats | None, fitted: Fitted, task: Task) -> None:
        self.estimator, self.X, self.y, self.weight, self.fitted, self.task = estimator, X, y, weight, fitted, task
        self.s = np.ones(len(y)) if weight is None else weight
        mean = self.s @ y / self.s.sum()
        self.spread = float(np.sqrt(self.s @ (y - mean) ** 2 / self.s.sum())) or float(np.abs(y).max()) or 1.0
        self.epochs = 0.0
        self.result: Result | None = None
        self._start = estimator._warm_starts(len(y), 1)[0]
        self.sigma: float = self.spread if self._start is None else float(estimator.scale_)

    def minimise(self) -> None:
        """Bracket the root of the derivative in log σ, find it, and solve there."""
        t, floor = np.log(self.sigma), np.log(_SMALLEST_SCALE * self.spread)
        direction = -1 if self.slope(t) > 0 else 1
        while True:
            before, t = t, max(t + direction * np.log(4), floor)
            slope = self.slope(t)
            if slope * direction >= 0:
                break
            if t == floor:
                return
        width = np.sqrt(self.estimator.tol) / 10
        self.slope(brentq(self.slope, min(before, t), max(before, t), xtol=width))

    def slope(self, log_sigma: float) -> float:
        """``Σ s_i (1 − min(u_i², ε²))`` with u the residuals in units of σ, at the minimum over (w, b)."""
        sigma, estimator = float(np.exp(log_sigma)), self.estimator
        loss = Huber(self.y, estimator.epsilon * sigma, self.weight)
        part = Part(loss, estimator.alpha * sigma / len(self.y), partial(column, 0))
        start = self._start
        if start is not None:
            # w = (1/λn) Σ A_i α_i with λ proportional to σ: scaled like this, w and the clipped residuals stay.
            start = replace(start, alpha=start.alpha * (sigma / self.sigma))
        with self.task.begin("scale") as task:
            watchers = task.evaluations(lambda w: self.fitted([w]) | {"scale_": sigma})
            self._start = self.result = estimator._solve_part(self.X, part, start, watchers)
        self.sigma = sigma
        self.epochs += self.result.epochs
        if self.result.status == Status.INTERRUPTED:
            raise KeyboardInterrupt
        u = self.residuals() / sigma
        return float(self.s @ (1 - np.minimum(u**2, estimator.epsilon**2)))

    def residuals(self) -> Floats:
        """``Xw + b − y`` at the last point."""
        assert self.result is not None
        w, d = self.result.w, self.X.shape[1]
        return np.asarray(self.X @ w[:d] + (w[d] if len(w) > d else 0.0) - self.y)
