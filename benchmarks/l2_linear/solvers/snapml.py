"""Snap ML."""

from benchmark_utils.solver import PeerSolver, names_of


class Solver(PeerSolver):
    """Entries of `benchmarks.peers.snapml`."""

    name = "snapml"
    requirements = ["pip::snapml"]  # noqa: RUF012  (benchopt's form)
    parameters = {"peer": names_of("snapml")}  # noqa: RUF012
