"""SciPy's L-BFGS-B on the objective in NumPy: a peer for every loss, the smoothed hinge among them."""

from typing import Any

import numpy as np
from scipy.optimize import minimize

from benchmarks.objective import gradient, value_and_gradient
from benchmarks.peers.base import LOSSES, Peer, Task


def fit(task: Task, data: Any, tol: float) -> Any:
    """Fit by L-BFGS-B; the tolerance is on the gradient, relative to that at zero."""
    start = np.zeros(task.d)
    stop = tol * float(np.abs(gradient(task, start)[0]).max())
    options = {"gtol": stop, "ftol": 0.0, "maxcor": 20, "maxiter": 100_000, "maxfun": 1_000_000}
    return minimize(lambda w: value_and_gradient(task, w), start, jac=True, method="L-BFGS-B", options=options).x


PEERS = [Peer("scipy L-BFGS-B", "scipy", "scipy", fit, LOSSES)]
