"""LIBLINEAR by its authors."""

from benchmark_utils.solver import PeerSolver, names_of


class Solver(PeerSolver):
    """Entries of `benchmarks.peers.liblinear`."""

    name = "liblinear"
    requirements = ["pip::liblinear-official"]  # noqa: RUF012  (benchopt's form)
    parameters = {"peer": names_of("liblinear")}  # noqa: RUF012
