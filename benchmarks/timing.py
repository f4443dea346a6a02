"""Timing that a busy machine does not spoil: the contestants take turns, and medians are compared."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Seconds of every repeat of one contestant."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle of the repeats."""
        return statistics.median(self.seconds)

    @property
    def best(self) -> float:
        """The repeat that was disturbed least."""
        return min(self.seconds)


def take_turns(contestants: Mapping[str, Callable[[], Any]], repeats: int, *, warm_up: int = 1) -> dict[str, Timing]:
    """Time each contestant `repeats` times, one after the other in each round, so that noise hits all alike.

    A contestant that returns a float reports its own seconds (with a clock that it stops while it evaluates); of
    any other the whole call is timed.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for round_number in range(warm_up + repeats):
        for name, run in contestants.items():
            begun = time.perf_counter()
            answer = run()
            spent = answer if isinstance(answer, float) else time.perf_counter() - begun
            if round_number >= warm_up:
                seconds[name].append(spent)
    return {name: Timing(tuple(values)) for name, values in seconds.items()}


def median_ratio(one: Timing, other: Timing) -> float:
    """Median over the rounds of one's seconds divided by the other's, in the same round."""
    return statistics.median(a / b for a, b in zip(one.seconds, other.seconds, strict=True))
