"""One reproduction at the smallest size, made once for all tests that look at it."""

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dualfree.paper import Outcome, Scale, reproduce
from dualfree.paper.contents import all_figures

# dorothea needs enough rows for the 50 chunks of Figure 3.
TINY = Scale(
    "tiny",
    {"w8a": 1500, "dorothea": 400, "protein": 500, "rcv1": 500, "cov1": 2000},
    draws=500,
    seeds=20,
    epochs=15,
    repeats=1,
)


@dataclass(frozen=True)
class Report:
    """A finished reproduction; `folder` lives as long as the tests."""

    folder: Path
    outcome: Outcome
    panels: int

    @property
    def page(self) -> Path:
        return self.outcome.page


@cache
def tiny_report() -> Report:
    keep = tempfile.TemporaryDirectory(prefix="dualfree-report-")
    _KEPT.append(keep)
    folder = Path(keep.name)
    panels = sum(len(figure.panels) for figure in all_figures(TINY))
    return Report(folder, reproduce(folder, TINY, command="dualfree reproduce"), panels)


_KEPT: list[object] = []  # the folder is removed when the tests end
