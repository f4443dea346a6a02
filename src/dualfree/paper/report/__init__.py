"""What a report is made of: experiments that are cached, panels drawn from them, and one page that holds all."""

from dualfree.paper.report.parts import Experiment, Figure, Panel, Raw, Table, Verdict, Watch
from dualfree.paper.report.plot import Plot
from dualfree.paper.report.store import Store

__all__ = ["Experiment", "Figure", "Panel", "Plot", "Raw", "Store", "Table", "Verdict", "Watch"]
