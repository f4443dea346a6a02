"""A benchopt solver made of an entry of the table of peers."""

import warnings
from typing import Any

from benchmarks.peers import Task, install_failures, peers, peers_of
from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion


def names_of(module: str) -> list[str]:
    """The solvers of one package, for benchopt's `parameters`."""
    return [peer.name for peer in peers_of(module)]


class PeerSolver(BaseSolver):
    """Run by tolerance, as its entry says; subclasses name their package's entries in ``parameters["peer"]``."""

    sampling_strategy = "tolerance"
    stopping_criterion = SufficientProgressCriterion(eps=1e-12, patience=3, strategy="tolerance")
    peer: str

    def skip(self, task: Task) -> tuple[bool, str | None]:
        peer = peers()[self.peer]
        reason = peer.missing(install_failures()) or peer.skips(task)
        return reason is not None, reason

    def set_objective(self, task: Task) -> None:
        self.task, self.entry = task, peers()[self.peer]
        self.data = self.entry.prepare(task)
        warnings.filterwarnings("ignore")  # loose tolerances are meant

    def warm_up(self) -> None:
        self.run_once(self.entry.grid[0])

    def run(self, tolerance: float) -> None:
        self.w = self.entry.fit(self.task, self.data, tolerance)

    def get_result(self) -> dict[str, Any]:
        return {"w": self.w}
