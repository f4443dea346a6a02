"""``min_w (1/n) Σ φ(x_iᵀw) + (λ/2)‖w‖²``, without intercept."""

from typing import Any

import benchmark_utils  # noqa: F401  (makes `benchmarks` importable)
import numpy as np
from benchmarks.objective import value
from benchmarks.peers import LOSSES, Task
from benchopt import BaseObjective


class Objective(BaseObjective):
    """P(w) in float64, for each loss and λn."""

    name = "L2-regularised linear model"
    url = "https://arxiv.org/abs/1506.02227"
    min_benchopt_version = "1.6"
    parameters = {"loss": list(LOSSES), "lam_n": [1.0, 0.1, 0.01]}  # noqa: RUF012  (benchopt's form)

    def set_data(self, X: Any, y: Any) -> None:
        self.task = Task(X, y, self.loss, self.lam_n / len(y))

    def get_objective(self) -> dict[str, Any]:
        return {"task": self.task}

    def evaluate_result(self, w: Any) -> dict[str, float]:
        return {"value": value(self.task, w)}

    def get_one_result(self) -> dict[str, Any]:
        return {"w": np.zeros(self.task.d)}
