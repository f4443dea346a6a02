"""A solver's time for a target is the smallest median over its tolerances that reach the target.

Each solver runs from loose to tight tolerances until it reaches the tightest target, its grid ends, or the time limit
is spent. Between the last tolerance that missed a target and the first that reached it, one more is tried. Then the
quickest tolerance for each target, and those close to it, are repeated, the solvers taking turns.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

TARGETS = (1e-3, 1e-6, 1e-9)
FEWEST, MOST = 3, 25
SECONDS_A_CONTESTANT = 1.0  # repeats of a fit of t seconds: this divided by t, within FEWEST and MOST
# Tolerances that took so many times the quickest one's seconds may turn out to be quicker: a single short run may have
# taken half as long again by chance.
CLOSE, CLOSE_IF_SHORT, SHORT = 1.25, 2.0, 0.05


class FitFailed(Exception):  # noqa: N818
    """A fit that raised, crashed or ran out of time; the message says which."""


@dataclass
class Attempt:
    """One solver at one tolerance: the seconds of each repeat, and the largest P(w) that came back."""

    tol: float
    seconds: list[float] = field(default_factory=list)
    value: float = float("-inf")
    processor_seconds: float = 0.0

    def add(self, seconds: float, value: float, processor_seconds: float) -> None:
        """Note one repeat; the worst value of all counts."""
        self.seconds.append(seconds)
        self.value = max(self.value, value)
        self.processor_seconds += processor_seconds

    @property
    def median(self) -> float:
        """The middle of the repeats."""
        return statistics.median(self.seconds)

    def reaches(self, best: float, target: float) -> bool:
        """Whether ``P(w) − P* ≤ target · P*`` in every repeat."""
        return self.value - best <= target * abs(best)


@dataclass
class Record:
    """What one solver did in one cell, and why it went no further."""

    attempts: list[Attempt] = field(default_factory=list)
    ended: str = ""

    def reaching(self, best: float, target: float) -> list[Attempt]:
        """The attempts that reach the target, the quickest first."""
        return sorted((a for a in self.attempts if a.reaches(best, target)), key=lambda a: a.median)

    def seconds_to(self, best: float, target: float) -> float | None:
        """The smallest median over the tolerances that reach the target; None if none does."""
        reaching = self.reaching(best, target)
        return reaching[0].median if reaching else None

    def best_value(self) -> float:
        """The smallest P(w) that was reached."""
        return min((a.value for a in self.attempts), default=float("inf"))


Run = Callable[[str, Attempt, float], None]  # (solver, attempt to add a repeat to, seconds allowed)


def explore(name: str, grid: Sequence[float], best: float, limit: float, run: Run, record: Record) -> None:
    """Go from loose to tight, then between the tolerances around each target."""
    try:
        for tol in grid:
            if not _try(name, tol, limit, run, record):
                return
            if record.attempts[-1].reaches(best, TARGETS[-1]):
                record.ended = "reached the tightest target"
                break
        else:
            record.ended = "its tightest tolerance"
        for tol in between(record.attempts, best):
            if not _try(name, tol, limit, run, record):
                return
    except FitFailed as failure:
        record.ended = str(failure)


def _try(name: str, tol: float, limit: float, run: Run, record: Record) -> bool:
    """One attempt, if the time left allows one that takes as long as the last."""
    spent = sum(sum(a.seconds) for a in record.attempts)
    last = record.attempts[-1].seconds[0] if record.attempts else 0.0
    if spent + last > limit:
        record.ended = record.ended or f"time limit of {limit:g} s"
        return False
    attempt = Attempt(tol)
    run(name, attempt, limit - spent)
    record.attempts.append(attempt)
    return True


def between(attempts: Sequence[Attempt], best: float) -> list[float]:
    """Geometric middles of the tolerances around each target.

    Examples
    --------
    >>> loose, tight = Attempt(1e-2, [1.0], 2.1), Attempt(1e-4, [2.0], 2.0)
    >>> between([loose, tight], best=2.0)
    [0.001]
    """
    middles = set()
    for one, other in pairwise(attempts):
        if any(other.reaches(best, target) and not one.reaches(best, target) for target in TARGETS):
            middles.add(float(f"{(one.tol * other.tol) ** 0.5:.3g}"))
    return sorted(middles, reverse=True)


def worth_repeating(record: Record, best: float) -> list[Attempt]:
    """The quickest attempt for each target and those close to it, in the order of their tolerances."""
    chosen = {}
    for reaching in (record.reaching(best, target) for target in TARGETS):
        if reaching:
            quickest = reaching[0].median
            most = (CLOSE_IF_SHORT if quickest < SHORT else CLOSE) * quickest
            chosen.update({id(a): a for a in reaching if a.median <= most})
    return sorted(chosen.values(), key=lambda a: -a.tol)


def repeats(seconds: float) -> int:
    """How often a fit of so many seconds is measured in all.

    Examples
    --------
    >>> repeats(0.001), repeats(0.1), repeats(20.0)
    (25, 10, 3)
    """
    return round(min(MOST, max(FEWEST, SECONDS_A_CONTESTANT / max(seconds, 1e-9))))


def rounds(records: dict[str, Record], best: float) -> Iterator[list[tuple[str, Attempt]]]:
    """Who runs in each round: all who still owe a repeat, one after the other, so that noise hits all alike."""
    wanted = [(name, a, repeats(a.seconds[0])) for name, r in records.items() for a in worth_repeating(r, best)]
    for number in range(1, MOST):
        present = [(name, attempt) for name, attempt, count in wanted if number < count]
        if not present:
            return
        yield present
