"""dualfree as a user calls it: ``method="auto"``, certificate included."""

from typing import Any

import dualfree as df
from benchmarks.peers.base import LOSSES, Peer, Task, threads

LOSS = {
    "logistic": df.losses.Logistic,
    "squared-hinge": df.losses.SquaredHinge,
    "squared": df.losses.Squared,
    "smoothed-hinge": df.losses.SmoothedHinge,
}


def problem_of(task: Task) -> df.Problem:
    """The task as a problem of dualfree's."""
    return df.Problem(task.X, LOSS[task.loss](task.y), task.lam, n_threads=threads())


def fit(task: Task, data: Any, tol: float) -> Any:
    return df.solve(problem_of(task), method="auto", tol=tol, max_epochs=100_000, n_threads=threads()).w


PEERS = [Peer("dualfree", "dualfree", "dualfree", fit, LOSSES)]
