"""Multiples of α: after a round of visits, α and w times the number at which the dual is largest."""

from typing import Any

from dualfree.arrays import largest_of
from dualfree.losses.builtin import BuiltIn
from dualfree.methods.base import State
from dualfree.methods.extrapolation import Extrapolation
from dualfree.problem import Problem
from dualfree.samplings.restless import RestlessBound

# In nonzeros of a dfSDCA step, measured (docs/performance): a look at an example's α, and a visit beside its row.
_LOOK, VISIT = 0.6, 25.0
_DISTANCE = 2.0  # how many times as much a look costs with copies: half of α comes from another core


def can_rescale(problem: Problem) -> bool:
    """Whether the kernels know the dual along the ray of all multiples of α.

    Examples
    --------
    >>> import dualfree as df
    >>> import numpy as np
    >>> [can_rescale(df.Problem(np.eye(2), df.losses.Squared(y), lam=1.0)) for y in (np.ones(2), np.ones((2, 3)))]
    [True, False]
    """
    loss = problem.loss
    return isinstance(loss, BuiltIn) and loss.has_ray and loss.outputs is None and problem.mu == 0


class Rescaling:
    """After a round: ``α ← cα`` and ``w ← cw``, c about where ``D(cα)`` is largest, one number for all examples.

    Early visits do not know of those to come. What examples share each of them finds for itself, so that all α are too
    large together; visits, which see one example at a time, take long to mend that, and one number does at once. c is
    Newton's step from 1, shortened where the loss bends so that the dual always rises.

    A look at α costs a part of a round, and where it wins too little for that, the next ones come later and later.
    `copies` says whether threads share α, each with a copy of w.

    Examples
    --------
    >>> import dualfree as df
    >>> import numpy as np
    >>> problem = df.Problem(np.ones((160, 35)), df.losses.Logistic(np.arange(160) > 80), lam=1.0)
    >>> rescaling = Rescaling(df.samplings.Restless().bind(problem))
    >>> round(rescaling.price, 3), rescaling.flatness
    (0.08, 4.0)
    """

    def __init__(self, bound: RestlessBound, copies: bool = False) -> None:
        problem = bound.problem
        work = bound.round_length * (VISIT + problem.examples.products / problem.n)  # of a round
        if copies:
            work /= _DISTANCE
        self.price = _LOOK * problem.n / work  # of a look, in rounds
        self.flatness = 1 / largest_of(problem.common_l)  # tells what visits win at least
        self._pause = (1, 1)  # rounds from one look to the next, and those that are left
        self._squares = (-1, 0.0)  # an iteration, and λn‖w‖² there
        self._line = Extrapolation(bound, work, copies)

    def told(self, state: State) -> tuple[Any, ...]:
        """What the kernel takes, see ``cpp/kernels/rescaling.hpp``."""
        at, squares = (0, 0.0) if state.from_zero and state.iteration == 0 else self._squares
        known = squares if at == state.iteration else -1.0
        return *self._pause, known, self.price, self.flatness, self._line.told

    def take_in(self, state: State, became: tuple[Any, ...], roundings: int = 1) -> None:
        """What the kernel says of the rounds that have ended with this state, in which a visit is so many roundings."""
        *pause, squares, times, growth, line = became
        self._pause, self._squares = tuple(pause), (state.iteration, squares)
        self._line.take_in(state.drift, line, roundings)
        state.drift.rescale(times, growth)
