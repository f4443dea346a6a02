"""How large a reproduction is: the paper's own size, or small enough for two minutes."""

from collections.abc import Mapping
from dataclasses import dataclass

from dualfree import datasets


@dataclass(frozen=True)
class Scale:
    """Sizes and efforts of all experiments.

    Attributes
    ----------
    name : str
        For people.
    rows : mapping or None
        Rows of each dataset's stand-in; None for the paper's data at their full size.
    draws : int
        Iterations behind each histogram of waiting times.
    seeds : int
        Runs behind each mean of the theorems' figure.
    epochs : int
        The longest run of an experiment whose rate is not known beforehand.
    repeats : int
        Runs behind each measured time, of which the fastest counts.
    """

    name: str
    rows: Mapping[str, int] | None
    draws: int
    seeds: int
    epochs: int
    repeats: int

    def __post_init__(self) -> None:
        if self.rows is not None and set(self.rows) != set(datasets.names()):
            raise ValueError(f"rows must name each of {', '.join(datasets.names())}.")


FULL = Scale("full", None, draws=20_000, seeds=200, epochs=60, repeats=3)
QUICK = Scale(
    "quick",
    {"w8a": 4000, "dorothea": 400, "protein": 2000, "rcv1": 3000, "cov1": 10_000},
    draws=5_000,
    seeds=100,
    epochs=60,
    repeats=1,
)
