"""What a method is to the loop: a state to start from, and a way to advance it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from dualfree.arrays import Floats
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule


@dataclass
class State:
    """Where a run stands: ``w``, ``α`` and the number of iterations behind them. NumPy owns all of it."""

    w: Floats
    alpha: Floats
    iteration: int = field(default=0)

    def copy(self) -> "State":
        """An independent copy."""
        return State(self.w.copy(), self.alpha.copy(), self.iteration)


class Method(ABC):
    """A method on one problem, with one sampling and one step rule."""

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        self.problem = problem
        self.sampling = sampling
        self.rule = rule

    @abstractmethod
    def start(self, alpha: Floats) -> State:
        """The state that belongs to α."""

    @abstractmethod
    def advance(self, state: State, draws: Draws) -> None:
        """Take the iterations in `draws`, in place."""
