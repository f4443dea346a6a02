"""Cyanure."""

from benchmark_utils.solver import PeerSolver, names_of


class Solver(PeerSolver):
    """Entries of `benchmarks.peers.cyanure`."""

    name = "cyanure"
    requirements = ["pip::cyanure"]  # noqa: RUF012  (benchopt's form)
    parameters = {"peer": names_of("cyanure")}  # noqa: RUF012
