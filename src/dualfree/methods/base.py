"""What a method is to the loop: a state to start from, and a way to advance it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dualfree.arrays import Floats
from dualfree.problem import Evaluation, Problem
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule


@dataclass
class State:
    """Where a run stands: ``w``, ``α`` and the number of iterations behind them. NumPy owns all of it.

    With an intercept, the last entry of w is u, and the intercept is ``centre + κu`` (see `dualfree.intercept`).
    `moved` adds up the squared moves of α, for methods that know them: a sign of progress that costs nothing.
    """

    w: Floats
    alpha: Floats
    iteration: int = 0
    centre: float = 0.0
    moved: float = 0.0

    def copy(self) -> "State":
        """An independent copy."""
        return State(self.w.copy(), self.alpha.copy(), self.iteration, self.centre, self.moved)


class Method(ABC):
    """A method on one problem, with one sampling and one step rule."""

    takes_all: ClassVar[bool] = False
    """Whether an iteration visits all examples and finds its own step: then there is no sampling and step to choose."""

    n_threads: int = 1
    """Threads that the method may use; the answer does not depend on it."""

    stalled: bool = False
    """Whether rounding allows no further progress."""

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        self.problem = problem
        self.sampling = sampling
        self.rule = rule

    @abstractmethod
    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        """The state that belongs to α (and to an intercept, where there is one)."""

    @abstractmethod
    def advance(self, state: State, draws: Draws) -> None:
        """Take the iterations in `draws`, in place."""

    def end_epoch(self, state: State) -> None:
        """What the method wants done once an epoch, whether or not there is an evaluation; nothing by default."""

    @abstractmethod
    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        """The point w of the problem that the state stands for, and what is known of it.

        A method sees to its own invariants here: it may correct rounding in the state.
        """
