"""Along the line through α and where it was half an epoch before: the momentum that visits one by one do not have."""

from typing import Any, cast

from dualfree import memory
from dualfree.losses.builtin import BuiltIn
from dualfree.methods.drift import Drift
from dualfree.samplings.restless import RestlessBound

# What it costs for each example and for each feature, in nonzeros of a dfSDCA step, measured (docs/performance).
_EXAMPLE, _FEATURE = 1.5, 0.4
_EVERY = (0.75, 0.375)  # of an epoch, for smooth conjugates and for those of which many α are at an end of the domain
# Epochs, and tries by their price, that pass before it begins, on one thread and with copies of w: on one, long runs
# lose nothing by that; copies, whose moves go too far together, gain more and can wait less.
_SHORT = ((4, 200), (3, 50))


class Extrapolation:
    """Now and then: ``α ← α + t (α − β)`` and w with it, β where α was the time before, t about the best number.

    Where λ is small and examples have much in common, α goes the same way for many epochs. t is Newton's step from zero
    for the dual along that line, which no pass over X is needed for: ``Σ φ_i*(−α_i)`` is a sum over examples, and
    ``‖w‖²`` one over features. An α_i that would leave the domain of φ_i* is held at its end, and w is mended by as
    many rows. The point is taken where the dual is larger there.

    Memory: n + d numbers, β and its w. Where it wins too little for its price, it is tried later and later;
    `round_work` is what a round of visits costs, in nonzeros of a step, and `copies` says whether threads share it.

    Examples
    --------
    >>> import dualfree as df
    >>> import numpy as np
    >>> problem = df.Problem(np.ones((160, 35)), df.losses.Logistic(np.arange(160) > 80), lam=1e-4)
    >>> line = Extrapolation(df.samplings.Restless().bind(problem), round_work=1200.0)
    >>> line.told[:2], line.told[3]
    ((1, 42), 6)
    """

    def __init__(self, bound: RestlessBound, round_work: float, copies: bool = False) -> None:
        problem = bound.problem
        rounds = round(problem.n / bound.round_length)
        self._unit = max(1, round(_EVERY[cast(BuiltIn, problem.loss).kinked] * rounds))
        price = (_EXAMPLE * problem.n + _FEATURE * problem.d) / round_work  # of a try, in rounds
        self.price = price / self._unit  # in the time from one to the next
        epochs, tries = _SHORT[copies]
        self._pause = (1, max(epochs * rounds, round(tries * price)))
        self._since = (False, 0.0, 0.0)  # whether there is a β, roundings of w since then, and what visits have won
        self._before = memory.empty(problem.n), memory.empty(problem.d)

    @property
    def told(self) -> tuple[Any, ...]:
        """What the kernel takes, see ``cpp/kernels/extrapolation.hpp``."""
        return *self._pause, self.price, self._unit, *self._since, *self._before

    def take_in(self, drift: Drift, became: tuple[Any, ...], roundings: int = 1) -> None:
        """What the kernel says; each visit stands for so many `roundings` of w."""
        length, left, *since, times, stretched, squares = became
        self._pause, self._since = (length, left), (since[0], since[1], since[2])
        drift.extrapolate(times * len(self._before[0]), roundings * stretched, squares)
