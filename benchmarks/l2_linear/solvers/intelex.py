"""Extension for scikit-learn."""

from benchmark_utils.solver import PeerSolver, names_of


class Solver(PeerSolver):
    """Entries of `benchmarks.peers.intelex`."""

    name = "sklearnex"
    requirements = ["pip::scikit-learn-intelex"]  # noqa: RUF012  (benchopt's form)
    parameters = {"peer": names_of("intelex")}  # noqa: RUF012
