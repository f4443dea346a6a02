"""What a method is to the loop: a state to start from, and a way to advance it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from numpy.typing import NDArray

from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation
from dualfree.methods.drift import Drift
from dualfree.problem import Problem
from dualfree.samplings import Sampling, Shuffled, Uniform
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule, default_step, step_rule, theorem_theta


@dataclass
class State:
    """Where a run stands: ``w``, ``α`` and the number of iterations behind them. NumPy owns all of it.

    With μ > 0, w is ``ᾱ = (1/λn) Σ A_i α_i``, from which the point ``soft(ᾱ, μ/λ)`` follows.
    With an intercept, the last entry of w is u, and the intercept is ``centre + κu`` (see `dualfree.intercept`).
    `memory` holds what a method keeps besides, and `seed` is the run's, for what a method draws besides examples.
    `moved` adds up the squared moves of α, for methods that know them: a sign of progress that costs nothing; `drift`
    is their account since the start.
    """

    w: Floats
    alpha: Floats
    iteration: int = 0
    centre: Any = 0.0  # one number, or one for each output
    memory: dict[str, NDArray[Any]] = field(default_factory=dict)
    seed: int = 0
    moved: float = 0.0
    drift: Drift = field(default_factory=Drift)
    from_zero: bool = False  # whether it is known that the run began at α = 0

    def copy(self) -> "State":
        """An independent copy."""
        memory = {name: array.copy() for name, array in self.memory.items()}
        return replace(self, w=self.w.copy(), alpha=self.alpha.copy(), memory=memory, drift=replace(self.drift))


class Glance(NamedTuple):
    """``P(w)``, the duality gap if w is ``ᾱ``, and a bound on the gap whatever w is: infinite where there is none."""

    value: float
    gap: float
    proven: float


class Passed(NamedTuple):
    """A glance on the way: at which iteration, and what α had moved since the last question."""

    iteration: int
    moved: float
    glance: Glance


@dataclass(frozen=True)
class About:
    """A method in words: the row that ``dualfree methods`` and ``docs/methods.md`` show.

    `needs` are its requirements, `memory` is what it keeps beyond X, y and w, `cost` is that of a step that visits a
    row of z nonzeros, `rate` is what is proven, and `origin` is where it comes from.
    """

    title: str
    needs: str
    memory: str
    cost: str
    rate: str
    origin: str


class Method(ABC):
    """A method on one problem, with one sampling and one step rule."""

    about: ClassVar[About]

    takes_all: ClassVar[bool] = False
    """Whether an iteration visits all examples and finds its own step: then there is no sampling and step to choose."""

    derives_alpha: ClassVar[bool] = False
    """Whether α follows from w: then nobody writes on the state's, and `derive_alpha` has it at the end."""

    takes_l1: ClassVar[bool] = False
    """Whether the penalty may have a part ``μ‖w‖₁``."""

    whole_epochs: ClassVar[bool] = False
    """Whether its answer depends on where calls of `advance` end: then each is an epoch, however long that takes."""

    sparing: ClassVar[bool] = False
    """Whether there are as few evaluations as it takes where the user does not say how many: it is all about time."""

    resumable: ClassVar[bool] = True
    """Whether all that a run remembers is in its `State`, so that a checkpoint holds it."""

    n_threads: int = 1
    """Threads that the method may use; the answer does not depend on it."""

    tol: float = 1e-6
    """The relative gap that is asked for: what an investment in later steps may be weighed against."""

    takes_outputs: ClassVar[bool] = False
    """Whether it takes examples with several outputs: multi-output ones and blocks."""

    stalled: bool = False
    """Whether rounding allows no further progress."""

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        self.problem = problem
        self.sampling = sampling
        self.rule = rule

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        """What is drawn where the user does not say."""
        return Shuffled() if problem.loss.all_convex else Uniform()

    @classmethod
    def bind(cls, sampling: Sampling | BoundSampling, problem: Problem) -> BoundSampling:
        """The sampling on what the method draws from: the examples, for most."""
        if isinstance(sampling, Sampling):
            return sampling.bind(problem)
        if sampling.problem is not problem:
            raise ValueError(
                f"sampling is {sampling.sampling!r} bound to another problem, so its p and v do not belong to this "
                "one; bind it to this problem, or give the sampling itself."
            )
        return sampling

    @classmethod
    def step_rule(cls, bound: BoundSampling, step: Any = None) -> StepRule:
        """The rule that `step` names (None: the method's own default), checked."""
        return step_rule(default_step(bound.problem) if step is None else step, bound)

    @classmethod
    def step_range(cls, bound: BoundSampling) -> tuple[float, float]:
        """The numbers between which ``step="tuned"`` looks: the theory's, and the largest that makes sense."""
        if bound.sampling.adapts:
            raise ValueError(
                f"step is 'tuned', but the probabilities of sampling={bound.sampling!r} change during the run, and "
                "steps of the grid rest on them; take step='implicit' or 'per-example'."
            )
        return theorem_theta(bound, 2 if bound.problem.loss.all_convex else 1), float(bound.p.min())

    @abstractmethod
    def start(self, alpha: Floats, intercept: Any = 0.0) -> State:
        """The state that belongs to α (and to an intercept, where there is one)."""

    @abstractmethod
    def advance(self, state: State, draws: Draws) -> None:
        """Take the iterations in `draws`, in place."""

    @property
    def takes_rounds(self) -> bool:
        """Whether it has a kernel that draws by itself, and learns whom to visit: see `BoundSampling.rounds`."""
        return False

    def advance_by_rounds(self, state: State, rounds: Any) -> "list[Passed]":
        """Take these rounds, in place; what was seen on the way, but for what is seen at the end."""
        raise TypeError(f"{type(self).__name__} has no kernel that draws by itself.")

    @property
    def ends_epochs(self) -> bool:
        """Whether `end_epoch` does anything, so that no call of a kernel may go beyond the end of one."""
        return True

    def end_epoch(self, state: State) -> None:  # noqa: B027  (most methods have nothing to do)
        """What the method wants done once an epoch, whether or not there is an evaluation; nothing by default."""

    def take_up(self, state: State) -> None:  # noqa: B027  (most methods keep nothing beside their state)
        """Make anew what the method keeps beside a state, which was read from a checkpoint; nothing by default."""

    def evaluate_zero(self, state: State) -> tuple[Floats, Evaluation]:
        """`evaluate` where α and w are zero, without a pass over the data where that can be had."""
        return self.evaluate(state)

    def write_alpha(self, state: State, out: Floats) -> None:
        """The α of the point that was evaluated last; nothing where it follows from w, and `derive_alpha` has it."""
        out[:] = state.alpha

    def derive_alpha(self, w: Floats, out: Floats) -> None:  # noqa: B027  (most methods have an α)
        """At the end, the α of the best point, where `write_alpha` has none; nothing by default."""

    def glance(self, state: State) -> Glance | None:
        """What `evaluate` will say if the state is sound, where that is cheaper to have; None where it is not."""
        return None

    def peek(self, state: State) -> Glance | None:
        """About what `glance` would say, for a fraction of its cost; None where there is no such thing."""
        return None

    @abstractmethod
    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        """The point w of the problem that the state stands for, and what is known of it.

        A method sees to its own invariants here: it may correct rounding in the state.
        """
