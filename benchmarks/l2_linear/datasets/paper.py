"""The paper's five datasets: real where DUALFREE_DATA has them, else generated stand-ins of the same shape."""

from benchmark_utils.dataset import NamedDataset
from benchmarks.data import PAPER


class Dataset(NamedDataset):
    """One of the five."""

    name = "paper"
    parameters = {"dataset": list(PAPER)}  # noqa: RUF012  (benchopt's form)
