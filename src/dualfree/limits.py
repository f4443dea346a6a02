"""When a run ends, and how often it is looked at."""

import math
from typing import Any, NamedTuple

from dualfree.arrays import not_negative, positive
from dualfree.result import Certificate


class Limits(NamedTuple):
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

    def regular(self) -> "Limits":
        """The same with an evaluation after each epoch, where it was left open how often to look."""
        return self if self.evaluate_every is not None else self._replace(evaluate_every=1.0)

    def less(self, epochs: float, seconds: float) -> "Limits":
        """What is left for another run: an epoch and a millisecond at least, or it could not begin."""
        within = max(self.time_limit - seconds, 1e-3)
        return self._replace(max_epochs=max(self.max_epochs - epochs, 1.0), time_limit=within)

    def goal(self, value: float) -> float:
        """The gap that is small enough at this value."""
        return max(self.tol * abs(value), self.absolute_tol)

    def reached(self, proof: Certificate) -> bool:
        """Whether a certificate is good enough."""
        return proof.measure <= self.goal(proof.value)
