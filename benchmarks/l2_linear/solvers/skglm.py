"""skglm."""

from benchmark_utils.solver import PeerSolver, names_of


class Solver(PeerSolver):
    """Entries of `benchmarks.peers.skglm`."""

    name = "skglm"
    requirements = ["pip::skglm"]  # noqa: RUF012  (benchopt's form)
    parameters = {"peer": names_of("skglm")}  # noqa: RUF012
