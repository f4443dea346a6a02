"""When a run ends, and how often it is looked at."""

import math
from dataclasses import dataclass
from typing import Any

from dualfree.arrays import not_negative, positive
from dualfree.result import Certificate


@dataclass(frozen=True)
class Limits:
    """When to stop, and how often to look."""

    tol: float
    absolute_tol: float
    max_epochs: float
    time_limit: float
    evaluate_every: float | None
    """Epochs between evaluations; None for as few as it takes (see `Lookout`)."""

    @classmethod
    def checked(cls, tol: Any, absolute_tol: Any, max_epochs: Any, time_limit: Any, evaluate_every: Any) -> "Limits":
        """From what a user gave."""
        return cls(
            not_negative("tol", tol),
            not_negative("absolute_tol", absolute_tol),
            positive("max_epochs", max_epochs),
            math.inf if time_limit is None else positive("time_limit", time_limit),
            None if evaluate_every is None else positive("evaluate_every", evaluate_every),
        )

    def goal(self, value: float) -> float:
        """The gap that is small enough at this value."""
        return max(self.tol * abs(value), self.absolute_tol)

    def reached(self, proof: Certificate) -> bool:
        """Whether a certificate is good enough."""
        return proof.measure <= self.goal(proof.value)
