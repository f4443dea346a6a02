"""What the primal stochastic methods share: their requirements, their step sizes, and how a point is certified."""

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation
from dualfree.methods.base import Method, State
from dualfree.methods.requirements import require_plain
from dualfree.problem import Problem
from dualfree.samplings import Sampling, Shuffled, Uniform
from dualfree.samplings.base import BoundSampling
from dualfree.steps import StepRule

_NUMBER = (int, float, np.integer, np.floating)


class Primal(Method):
    """A method that moves w along stochastic gradients ``φ_i'(A_iᵀw) A_i + λw``; α serves the certificate alone.

    ``step`` is ``"theory"`` (the default), ``"tuned"``, or a number h, the step size itself, below 1/λ. Below, L stands
    for ``max_i l_i‖A_i‖² + λ``: each ``f_i(w) = φ_i(A_iᵀw) + (λ/2)‖w‖²`` is L-smooth and λ-strongly convex.
    """

    name: ClassVar[str]
    takes: ClassVar[tuple[type[Sampling], ...]] = (Uniform, Shuffled)
    takes_names: ClassVar[str] = "'uniform' or 'shuffled'"

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        self.step = rule.theta

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        return Uniform()

    @classmethod
    def step_rule(cls, bound: BoundSampling, step: Any = None) -> StepRule:
        cls._require(bound)
        if step is None or (isinstance(step, str) and step == "theory"):
            return _rule("theory", cls.theoretical_step(bound))
        largest = 1 / bound.problem.lam
        if isinstance(step, bool) or not isinstance(step, _NUMBER):
            raise TypeError(
                f"step is {step!r:.60}; method={cls.name!r} takes 'theory', 'tuned' or a number, its step size h."
            )
        if not (math.isfinite(step) and 0 < step < largest):
            raise ValueError(f"step is h = {step!r}; it must be above 0 and below 1/λ = {largest:.6g}.")
        return _rule(f"{step:g}", float(step))

    @classmethod
    def step_range(cls, bound: BoundSampling) -> tuple[float, float]:
        return cls.theoretical_step(bound), 0.5 / bound.problem.lam

    @classmethod
    @abstractmethod
    def theoretical_step(cls, bound: BoundSampling) -> float:
        """The step size that the proof of the method's rate asks for."""

    @classmethod
    def _require(cls, bound: BoundSampling) -> None:
        method = f"method={cls.name!r}"
        require_plain(method, bound.problem)
        if not isinstance(bound.sampling, cls.takes):
            raise ValueError(
                f"{method} is defined for sampling={cls.takes_names}, not for {bound.sampling!r}; method='dfsdca' "
                "takes any sampling."
            )

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        return State(self.problem.primal(alpha), alpha)

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        return state.w, certified(self.problem, state)[1]


def certified(problem: Problem, state: State) -> tuple[Floats, Evaluation]:
    """The products with the present w, and its evaluation with ``α_i = −φ_i'(A_iᵀw)``, which costs a pass."""
    z = problem.margins(state.w)
    state.alpha[:] = -problem.loss.weighted(problem.loss.derivative(z, problem.loss.y))
    return z, problem.evaluate(state.w, state.alpha, z)


def smoothness(problem: Problem) -> float:
    """``L = max_i l_i‖A_i‖² + λ``, for which every f_i is L-smooth.

    Examples
    --------
    >>> from dualfree.losses import Logistic
    >>> smoothness(Problem(np.array([[2.0], [1.0]]), Logistic([0, 1]), lam=0.5))
    1.5
    """
    return float((problem.l * problem.norms**2).max()) + problem.lam


def _rule(name: str, step: float) -> StepRule:
    return StepRule(name, np.full(1, step), None, step, None)
