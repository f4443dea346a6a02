"""What a run returns: the answer, a certificate, a status in words, and how it got there."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation
from dualfree.problem import Problem

if TYPE_CHECKING:
    from dualfree.bounds import Bound
    from dualfree.tuning import Tuning


class Status(StrEnum):
    """Why a run ended. Equal to its plain text: ``result.status == "converged"``."""

    CONVERGED = "converged"
    MAX_EPOCHS = "max_epochs"
    TIME_LIMIT = "time_limit"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    DIVERGED = "diverged"
    STALLED = "stalled"

    @property
    def sentence(self) -> str:
        """The same for people."""
        return _SENTENCES[self]


_SENTENCES = {
    Status.CONVERGED: "The certificate is within the tolerance.",
    Status.MAX_EPOCHS: "The tolerance was not reached within max_epochs; allow more, or try dfSDCA's step='implicit'.",
    Status.TIME_LIMIT: "The tolerance was not reached within time_limit.",
    Status.STOPPED: "The callback asked to stop.",
    Status.INTERRUPTED: "Interrupted (Ctrl-C); this is the best answer up to then.",
    Status.STALLED: "Rounding allows no further progress; a larger tol can be reached.",
    Status.DIVERGED: "The iterates grew without bound; take a smaller step, such as the method's own (leave step out).",
}


class Certificate(NamedTuple):
    """A bound on ``P(w) − P*`` that does not trust the theory.

    Attributes
    ----------
    value : float
        ``P(w)``.
    duality_gap : float
        ``P(w) − D(α)``; infinite where no conjugate is known or some φ_i is not convex.
    gradient_bound : float
        ``‖∇P(w)‖²/(2σ)``, valid whenever P is σ-strongly convex; σ is λ where the average loss is convex. Infinite
        where P is not convex. With μ > 0 ``g(w) + g*(−∇f(w)) + ∇f(w)ᵀw``, f the average loss and g the penalty (see
        `regularisers.L2L1`).
    average_convex : bool
        Whether P is known to be convex (because every φ_i is, or by its eigenvalues: see `Convexity`). If not, the
        gradient bound rests on that assumption.
    guaranteed : bool
        False where P is not convex: then there is no bound, and the gradient norm is all that is known.
    gradient_norm : float
        ``‖∇P(w)‖``; infinite, as then the gradient bound is, where the duality gap was enough and nobody made a
        gradient (``method="auto"`` and its like do so to save a pass; with ``evaluate_every`` there is always one).

    Examples
    --------
    >>> Certificate(value=2.0, duality_gap=1e-6, gradient_bound=4e-6, average_convex=True).relative_gap
    5e-07
    """

    value: float
    duality_gap: float
    gradient_bound: float
    average_convex: bool
    guaranteed: bool = True
    gradient_norm: float = np.nan

    @property
    def gap(self) -> float:
        """The smaller of the two bounds."""
        return min(self.duality_gap, self.gradient_bound)

    @property
    def relative_gap(self) -> float:
        """``gap / |P(w)|``."""
        return self.gap / abs(self.value) if self.value else (0.0 if self.gap == 0 else np.inf)

    @property
    def kind(self) -> str:
        """Which bound `gap` is, or what there is in place of one."""
        if not self.guaranteed:
            return "gradient norm"
        return "duality gap" if self.duality_gap <= self.gradient_bound else "gradient bound"

    @property
    def sentence(self) -> str:
        """The certificate in words."""
        if not self.guaranteed:
            return (
                f"No guarantee: P is not convex, and other points may be better than this one with P(w) = "
                f"{self.value:.6g}. Its gradient norm is {self.gradient_norm:.3g}, and nothing else is certified."
            )
        assumed = ", if the average loss is convex between the two (assumed, not decided)"
        given = "" if self.average_convex else assumed
        return f"P(w) = {self.value:.6g} is within {self.gap:.3g} of the optimum by the {self.kind}{given}."

    @property
    def measure(self) -> float:
        """What the tolerance is for: the gap, or without a guarantee the gradient norm."""
        return self.gap if self.guaranteed else self.gradient_norm

    def beats(self, other: "Certificate") -> bool:
        """Whether the point behind this one is the better: by its gap, or without a guarantee by its value."""
        return self.gap < other.gap if self.guaranteed else self.value < other.value


def certificate(problem: Problem, evaluation: Evaluation) -> Certificate:
    """The certificate that one evaluation gives."""
    slope, known = float(evaluation.gradient_square), problem.convexity
    bound = math.inf if known.known is False else slope / (2 * known.sigma)
    proven, possible = known.known is True, known.known is not False
    return Certificate(evaluation.value, evaluation.duality_gap, bound, proven, possible, math.sqrt(slope))


class Row(NamedTuple):
    """One evaluation of a run: what callbacks receive and what the history keeps."""

    epoch: float
    iteration: int
    seconds: float
    value: float
    gap: float
    gradient_norm: float


@dataclass
class History:
    """The evaluations of a run, in order; `seconds` counts the method alone, with the clock stopped to evaluate.

    Examples
    --------
    >>> history = History([Row(0, 0, 0.0, 1.0, 0.5, 0.1), Row(1, 100, 0.01, 0.7, 0.1, 0.05)])
    >>> history.gap.tolist(), len(history)
    ([0.5, 0.1], 2)
    """

    rows: list[Row] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    def __getattr__(self, name: str) -> Floats:
        if name in Row._fields:
            return np.array([getattr(row, name) for row in self.rows], dtype=np.float64)
        raise AttributeError(f"History has no column {name!r}; it has {', '.join(Row._fields)}.")

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, one row for each evaluation (needs ``pip install "dualfree[tables]"``)."""
        from dualfree.optional import require

        return require("pandas", "tables").DataFrame(self.rows, columns=list(Row._fields))


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of `dualfree.solve`.

    Attributes
    ----------
    w, alpha : arrays of length d and n, or where there are m outputs of shape (d, m) and (n, m)
        The best point that was evaluated, with ``w = (1/λn) Σ A_i α_i`` (with μ > 0 its soft threshold at μ/λ).
    status : Status
        Why the run ended; `message` says it with its numbers.
    reason : str
        Why it was this method, where nobody asked for it by name.
    certificate : Certificate
        A bound on ``P(w) − P*``.
    history : History
        Epoch, seconds, value, gap and gradient norm at each evaluation.
    bound : Bound
        What the theory promised before the run, beside what happened.
    tuning : Tuning or None
        The trials behind ``step="tuned"``; their cost is in there and not in the history.
    """

    w: Floats
    alpha: Floats
    status: Status
    reason: str
    certificate: Certificate
    history: History
    bound: "Bound"
    method: str
    sampling: str
    step: str
    theta: float
    seed: int
    epochs: float
    iterations: int
    seconds: float
    wall_seconds: float
    tuning: "Tuning | None" = None

    @property
    def message(self) -> str:
        """How the run ended, with its numbers, and why it was this method; what diverged has no need of a reason."""
        spent = f"{self.epochs:.4g} epochs and {self.seconds:.3g} s"
        told = f"{self.status.sentence} {self.certificate.sentence} Asked: {self.bound.epsilon:.3g}; spent: {spent}."
        return told if not self.reason or self.status is Status.DIVERGED else f"{told} ({self.reason}.)"

    def __repr__(self) -> str:
        return (
            f"<Result {self.status}: P = {self.certificate.value:.8g}, gap = {self.certificate.gap:.3g}, "
            f"{self.epochs:.3g} epochs, {self.seconds:.3g} s>"
        )
