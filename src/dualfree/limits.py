"""When a run ends, and how often it is looked at."""

from dataclasses import dataclass

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

    def goal(self, value: float) -> float:
        """The gap that is small enough at this value."""
        return max(self.tol * abs(value), self.absolute_tol)

    def reached(self, proof: Certificate) -> bool:
        """Whether a certificate is good enough."""
        return proof.measure <= self.goal(proof.value)
