"""LIBLINEAR by its authors' Python interface. Its hinge (-s 3) is not smooth and has no counterpart here."""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.peers.base import Fit, Peer, Task


def prepare(task: Task) -> Any:
    """LIBLINEAR's own structure; outside the clock, for it is made in Python, which LIBLINEAR is not to blame for."""
    from liblinear import liblinearutil

    return liblinearutil.problem(task.y, csr_matrix(task.X))


def liblinear(solver: int, losses_per_half: float = 1.0) -> Fit:
    """Fit by ``C Σ φ + ½‖w‖²``; for regression φ is ``(z − y)²``, twice our squared loss."""

    def fit(task: Task, data: Any, tol: float) -> Any:
        from liblinear import liblinearutil

        options = f"-s {solver} -c {task.C / losses_per_half!r} -e {tol!r} -p 0 -q"
        model = liblinearutil.train(data, options)
        w = np.ctypeslib.as_array(model.w, (task.d,)).copy()
        # A classifier's w belongs to the class that it met first.
        return w if model.is_regression_model() or model.get_labels()[0] == 1 else -w

    return fit


def _peer(name: str, fit: Fit, loss: str) -> Peer:
    return Peer(f"liblinear {name}", "liblinear.liblinearutil", "liblinear-official", fit, (loss,), prepare=prepare)


PEERS = [
    _peer("-s 0", liblinear(0), "logistic"),
    _peer("-s 7", liblinear(7), "logistic"),
    _peer("-s 1", liblinear(1), "squared-hinge"),
    _peer("-s 2", liblinear(2), "squared-hinge"),
    _peer("-s 11", liblinear(11, losses_per_half=2.0), "squared"),
    _peer("-s 12", liblinear(12, losses_per_half=2.0), "squared"),
]
