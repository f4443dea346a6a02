"""Experiments, panels, figures and verdicts: the words in which every figure of a report is written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dualfree.paper.report.plot import Plot

Raw = dict[str, Any]
"""What an experiment found, in what JSON can hold: numbers, texts, lists and dictionaries."""

Watch = Callable[[float, str], None]
"""Called with the share of an experiment that is done, from 0 to 1, and what is under way."""


@dataclass(frozen=True)
class Experiment:
    """One computation. Its settings name everything that its results depend on, so they can be kept and found again.

    Attributes
    ----------
    name : str
        Unique in the report; it becomes part of a file's name.
    settings : mapping
        JSON can hold it.
    compute : callable
        The work; it takes a `Watch`.
    """

    name: str
    settings: Mapping[str, Any]
    compute: Callable[[Watch], Raw]


@dataclass(frozen=True)
class Table:
    """A header and rows of numbers and texts.

    Examples
    --------
    >>> Table(("a", "b"), [(1, 2.5)]).rows[0][1]
    2.5
    """

    header: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Panel:
    """One pair of axes: what it shows of which experiment."""

    title: str
    experiment: str
    draw: "Callable[[Plot, Raw], None]"


@dataclass(frozen=True)
class Figure:
    """Panels that belong together, and the numbers behind them.

    Attributes
    ----------
    name : str
        For the command line and for file names.
    title, caption : str
        For people; the caption says what was done.
    experiments : tuple of Experiment
        What must be computed for it.
    panels : tuple of Panel
        May be empty, for a table.
    columns : int
        Of panels, in print.
    data : callable
        Every number behind the panels, for one experiment.
    summary : callable, optional
        A short table to read beside the panels, from the results of all experiments by name.
    """

    name: str
    title: str
    caption: str
    experiments: tuple[Experiment, ...]
    panels: tuple[Panel, ...]
    columns: int
    data: Callable[[Raw], Table]
    summary: Callable[[Mapping[str, Raw]], Table] | None = None


@dataclass(frozen=True)
class Verdict:
    """A claim, what was measured, and whether it holds."""

    claim: str
    where: str
    measured: str
    holds: bool

    @property
    def word(self) -> str:
        """For people."""
        return "holds" if self.holds else "does not hold"
