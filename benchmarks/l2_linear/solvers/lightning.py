"""scikit-learn-contrib's lightning."""

from benchmark_utils.solver import PeerSolver, names_of


class Solver(PeerSolver):
    """Entries of `benchmarks.peers.lightning`."""

    name = "lightning"
    requirements = ["pip::sklearn-contrib-lightning"]  # noqa: RUF012  (benchopt's form)
    parameters = {"peer": names_of("lightning")}  # noqa: RUF012
