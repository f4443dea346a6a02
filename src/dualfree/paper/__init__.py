"""The paper, reproduced: one module a figure, the list of claims, and a report that holds all of it."""

from dualfree.paper.reproduce import Outcome, reproduce
from dualfree.paper.scale import FULL, QUICK, Scale

__all__ = ["FULL", "QUICK", "Outcome", "Scale", "reproduce"]
