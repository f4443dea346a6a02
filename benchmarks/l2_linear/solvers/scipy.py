"""SciPy's L-BFGS-B."""

from benchmark_utils.solver import PeerSolver, names_of


class Solver(PeerSolver):
    """Entries of `benchmarks.peers.scipy`."""

    name = "scipy"
    parameters = {"peer": names_of("scipy")}  # noqa: RUF012  (benchopt's form)
