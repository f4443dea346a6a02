"""dualfree with method="auto"."""

from benchmark_utils.solver import PeerSolver, names_of


class Solver(PeerSolver):
    """Entries of `benchmarks.peers.dualfree`."""

    name = "dualfree"
    parameters = {"peer": names_of("dualfree")}  # noqa: RUF012  (benchopt's form)
