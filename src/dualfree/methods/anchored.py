"""SVRG, S2GD and mS2GD: a full gradient now and then, and steps that correct it in between."""

import math
from abc import abstractmethod

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.methods.base import About, State
from dualfree.methods.primal import Primal, smoothness
from dualfree.problem import Problem
from dualfree.samplings import Nice, Sampling
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule

_LENGTH_STREAM = 2000  # of the random numbers behind the lengths, apart from those behind the samplings
_LONGEST = 2**60  # steps; beyond, nobody waits for the next full gradient, and int64 must hold their number
_PRACTICAL_EPOCHS = 2  # inner steps after a full gradient where the step is a number


class Anchored(Primal):
    """From an anchor x: ``g = (1/n) Σ φ_i'(A_iᵀx) A_i``, then m steps or fewer, then w is the next anchor.

    A step is ``w ← w − h ((1/|S|) Σ_{i∈S} (φ_i'(A_iᵀw) − φ_i'(A_iᵀx)) A_i + g + λw)``.

    The full gradient counts as the n visits that it costs: it takes the place of as many iterations, and the sets drawn
    for those are let go. With ``step="theory"`` the length m comes from the theory too, so that the expected
    suboptimality halves from anchor to anchor; with a number, it is that of two epochs.
    """

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        self.pass_length = math.ceil(self.sampling.iterations_per_epoch)
        theory = rule.name == "theory"
        self.most_steps = min(_LONGEST, self.theoretical_length() if theory else _PRACTICAL_EPOCHS * self.pass_length)

    def theoretical_length(self) -> int:
        """m, the most steps between two full gradients."""
        return math.ceil(5 / (self.step * self.problem.lam))

    @abstractmethod
    def steps(self, u: float) -> int:
        """The number of steps that follow a full gradient, from a uniform number u."""

    def geometric_steps(self, u: float) -> int:
        """T in 1..m with ``Prob(t) ∝ (1 − λh)^{m−t}``, by the inverse of its distribution."""
        decay = math.log1p(-self.problem.lam * self.step)
        before_last = math.log1p(u * math.expm1(self.most_steps * decay)) / decay if decay else u * self.most_steps
        return self.most_steps - min(int(before_last), self.most_steps - 1)

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        state = super().start(alpha)
        counters = np.zeros(3, dtype=np.int64)  # iterations left of the full pass, inner steps left, anchors so far
        state.memory = {"table": np.zeros(self.problem.n), "average": np.zeros(self.problem.d), "counters": counters}
        return state

    def advance(self, state: State, draws: Draws) -> None:
        counters, at = state.memory["counters"], 0
        while at < draws.count:
            if counters[0] == counters[1] == 0:
                self.anchor(state)
            which = 0 if counters[0] > 0 else 1
            taken = min(int(counters[which]), draws.count - at)
            if which == 1:
                self.inner(state, draws.between(at, at + taken), state.iteration + at)
            counters[which] -= taken
            at += taken
        state.iteration += draws.count

    def anchor(self, state: State) -> None:
        """Take the full gradient at w, and draw the number of steps that follow."""
        problem, memory = self.problem, state.memory
        kernels.snapshot(problem.examples.native, problem.loss.native, state.w, memory["table"], memory["average"])
        count = int(memory["counters"][2])
        memory["counters"][:] = self.pass_length, self.steps(_unit(state.seed, count)), count + 1

    def inner(self, state: State, draws: Draws, first: int) -> None:
        """Take the steps in `draws`, the first of them iteration number `first`."""
        problem, memory = self.problem, state.memory
        kernels.variance_reduced(
            problem.examples.native,
            problem.loss.native,
            self.step,
            problem.lam,
            1 / self.sampling.mean_size,
            0.0,
            draws.indices,
            draws.batch_start,
            memory["table"],
            memory["average"],
            state.w,
        )


class SVRG(Anchored):
    """``h = 1/(10L)`` and ``m = 5/(hλ)`` by default, for which ρ of Theorem 1 of Johnson and Zhang is 1/2.

    ``ρ = 1/(λh(1 − 2Lh)m) + 2Lh/(1 − 2Lh)``, and the next anchor is the iterate after t steps, t uniform in 0..m−1
    (their option II; the steps that it would not use are not taken). With a number for h, all m steps are taken
    (option I).
    """

    name = "svrg"
    about = About(
        title="stochastic variance reduced gradient",
        needs="convex losses; uniform or shuffled",
        memory="n + d",
        cost="O(z); a full pass between loops",
        rate="1/2 for a pass and at most 50L/λ steps",
        origin="Johnson, Zhang 2013",
    )

    @classmethod
    def theoretical_step(cls, bound: BoundSampling) -> float:
        return 1 / (10 * smoothness(bound.problem))

    def steps(self, u: float) -> int:
        return int(u * self.most_steps) if self.rule.name == "theory" else self.most_steps


class S2GD(Anchored):
    """The number t of steps is random, ``Prob(t) ∝ (1 − λh)^{m−t}`` for t = 1..m: mostly near m.

    The factor of Konečný and Richtárik, ``c = (1 − λh)^m/(β λh(1 − 2Lh)) + 2(L − λ)h/(1 − 2Lh)`` with β the sum of
    those powers, is 1/2 for ``h = 1/(8(L − λ) + 2L)`` and ``m = (8(κ − 1) + 2κ) log(4 + (2κ − 1)/(κ − 1))``, κ = L/λ.
    """

    name = "s2gd"
    about = About(
        title="semi-stochastic gradient descent",
        needs="convex losses; uniform or shuffled",
        memory="n + d",
        cost="O(z); a full pass between loops",
        rate="1/2 for a pass and at most (10κ − 8) log(4 + (2κ − 1)/(κ − 1)) steps, κ = L/λ",
        origin="Konečný, Richtárik 2013",
    )

    @classmethod
    def theoretical_step(cls, bound: BoundSampling) -> float:
        smooth = _above_lambda(bound.problem)
        return 1 / (8 * (smooth - bound.problem.lam) + 2 * smooth)

    def theoretical_length(self) -> int:
        kappa = _above_lambda(self.problem) / self.problem.lam
        return math.ceil((8 * (kappa - 1) + 2 * kappa) * math.log(4 + (2 * kappa - 1) / (kappa - 1)))

    def steps(self, u: float) -> int:
        return self.geometric_steps(u)


class MS2GD(Anchored):
    """Mini-batches of b examples and t steps, t uniform in 1..m.

    ``h = min(1/(20 L a), 1/L)`` with ``a = (n − b)/(b(n − 1))``, and ``m = 5/(hλ)``. Then the factor of Theorem 1 of
    Konečný, Liu, Richtárik and Takáč, ``ρ = 1/(mhλ(1 − 4hLa)) + 4hLa(m + 1)/(m(1 − 4hLa))``, is at most
    ``1/2 + 1/(4m)``. Their R is zero here: λ is part of every f_i.
    """

    name = "ms2gd"
    about = About(
        title="S2GD with mini-batches",
        needs="convex losses; τ-nice",
        memory="n + d",
        cost="O(τz); a full pass between loops",
        rate="1/2 + 1/(4m) for a pass and at most m = 5/(hλ) steps",
        origin="Konečný, Liu, Richtárik, Takáč 2016",
    )
    takes = (Nice,)
    takes_names = "'nice:TAU'"

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        return Nice(min(8, problem.n))

    @classmethod
    def theoretical_step(cls, bound: BoundSampling) -> float:
        n, b = bound.problem.n, bound.mean_size
        spread = (n - b) / (b * max(1, n - 1))
        return 1 / (smoothness(bound.problem) * max(20 * spread, 1.0))

    def steps(self, u: float) -> int:
        return 1 + int(u * self.most_steps)


def _above_lambda(problem: Problem) -> float:
    """L, and no less than 2λ, so that κ − 1 may be divided by; any larger L is one too."""
    return max(smoothness(problem), 2 * problem.lam)


def _unit(seed: int, count: int) -> float:
    """A uniform number that depends on (seed, count) alone."""
    return int(kernels.random_words(seed, _LENGTH_STREAM, count, 1)[0] >> np.uint64(11)) * 2.0**-53
