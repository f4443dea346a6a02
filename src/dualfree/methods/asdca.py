"""ASDCA: accelerated SDCA with mini-batches."""

import math
from typing import Any

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation
from dualfree.methods.base import About, State
from dualfree.methods.dfsdca import apart
from dualfree.methods.primal import Primal, smoothness
from dualfree.problem import Problem
from dualfree.samplings import Nice, Sampling, Uniform
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule

_NUMBER = (int, float, np.integer, np.floating)


class ASDCA(Primal):
    """Steps at a point between w and ᾱ, as in Nesterov's method: more examples a step cost fewer epochs of speed.

    ``u = (1 − θ) w + θ ᾱ``; for the τ drawn i ``α_i ← (1 − θ) α_i − θ φ_i'(A_iᵀu)``; ``ᾱ = (1/λn) Σ A_i α_i``; then
    ``w ← (1 − θ) w + θ ᾱ``. With ``γ = 1/max_i l_i‖A_i‖²`` the theory's step is
    ``θ = (1/4) min(1, √(γλn/τ), γλn, (γλn)^{2/3}/τ^{1/3})``, for which
    ``E[τ (P(w) − P*) + n (D* − D(α))] ≤ (1 − θτ/n)ᵏ`` times the same at the start. A number is θ, above 0 and below 1.

    w is kept as ``s v + r ᾱ``, so that a step costs the nonzeros of its rows. Memory: two vectors beside w.
    """

    name = "asdca"
    about = About(
        title="accelerated SDCA with mini-batches",
        needs="convex losses; τ-nice or uniform",
        memory="n + 3d",
        cost="O(τz)",
        rate="(1 − θτ/n)ᵏ, θ = ¼ min(1, √(γλn/τ), γλn, (γλn)^⅔/τ^⅓), 1/γ = maxᵢ lᵢ‖Aᵢ‖²",
        origin="Shalev-Shwartz, Zhang 2013 (NIPS)",
    )
    takes = (Nice, Uniform)
    takes_names = "'nice:TAU' or 'uniform'"

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        return Nice(min(8, problem.n))

    @classmethod
    def step_rule(cls, bound: BoundSampling, step: Any = None) -> StepRule:
        cls._require(bound)
        if step is None or (isinstance(step, str) and step == "theory"):
            theta = cls.theoretical_step(bound)
            return StepRule("theory", np.full(1, theta), None, theta, None)
        if isinstance(step, bool) or not isinstance(step, _NUMBER):
            raise TypeError(f"step is {step!r:.60}; method='asdca' takes 'theory', 'tuned' or a number θ.")
        if not (math.isfinite(step) and 0 < step < 1):
            raise ValueError(f"step is θ = {step!r}; it must be above 0 and below 1.")
        return StepRule(f"{step:g}", np.full(1, float(step)), None, float(step), None)

    @classmethod
    def step_range(cls, bound: BoundSampling) -> tuple[float, float]:
        return cls.theoretical_step(bound), 0.5

    @classmethod
    def theoretical_step(cls, bound: BoundSampling) -> float:
        """The largest θ of the theorem."""
        problem, tau = bound.problem, bound.mean_size
        steepest = smoothness(problem) - problem.lam
        condition = problem.lam * problem.n / steepest if steepest > 0 else math.inf
        return 0.25 * min(1.0, math.sqrt(condition / tau), condition, math.cbrt(condition**2 / tau))

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        state = super().start(alpha)
        state.memory = {"combination": state.w.copy()}
        return state

    def advance(self, state: State, draws: Draws) -> None:
        problem = self.problem
        kernels.asdca(
            problem.examples.native,
            problem.loss.native,
            self.step,
            1 / (problem.lam * problem.n),
            draws.indices,
            draws.batch_start,
            state.alpha,
            state.memory["combination"],
            state.w,
        )
        state.iteration += draws.count

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        """The present w, certified with the method's own α."""
        seen, combination = self.problem.evaluate(state.w, state.alpha), state.memory["combination"]
        if seen.combination is None or apart(combination, seen.combination):
            combination[:] = self.problem.combination(state.alpha)
        return state.w, seen
