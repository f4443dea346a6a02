"""scikit-learn's solvers."""

from benchmark_utils.solver import PeerSolver, names_of


class Solver(PeerSolver):
    """Entries of `benchmarks.peers.scikit_learn`."""

    name = "scikit-learn"
    parameters = {"peer": names_of("scikit_learn")}  # noqa: RUF012  (benchopt's form)
