"""QUARTZ: a primal-dual method with arbitrary sampling."""

from typing import Any

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation
from dualfree.methods.base import About, Method, State
from dualfree.methods.dfsdca import apart
from dualfree.methods.requirements import require_fixed, require_plain
from dualfree.problem import Problem
from dualfree.samplings import Sampling, Uniform
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule, step_rule


class Quartz(Method):
    """``w ← (1 − θ)w + θᾱ``; for i of the set ``α_i ← (1 − θ/p_i)α_i − (θ/p_i)φ_i'(A_iᵀw)``; ``ᾱ = (1/λn) Σ A_i α_i``.

    With ``θ = min_i p_i nλ/(l_i v_i + nλ)``, the default, which is dfSDCA's of Theorem 2,
    ``E[P(w_k) − D(α_k)] ≤ (1 − θ)^k (P(w_0) − D(α_0))``: here the duality gap itself is bounded (Qu, Richtárik and
    Zhang, Theorem 7). ``step`` is ``"theory"``, ``"tuned"``, or a number θ in (0, min p_i]. The dense move of w is
    factored out: a step costs the nonzeros of its rows, with two numbers for each feature.
    """

    name = "quartz"
    about = About(
        title="primal-dual method with arbitrary sampling",
        needs="convex losses; any sampling with fixed probabilities",
        memory="n + d",
        cost="O(z) for each example of the set",
        rate="(1 − θ)ᵏ for the duality gap, θ as dfSDCA's",
        origin="Qu, Richtárik, Zhang 2015",
    )

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        return Uniform()

    @classmethod
    def step_rule(cls, bound: BoundSampling, step: Any = None) -> StepRule:
        require_plain("method='quartz'", bound.problem)
        require_fixed("method='quartz'", bound.sampling)
        if isinstance(step, str) and step != "theory":
            raise TypeError(f"step is {step!r}; method='quartz' takes 'theory', 'tuned' or a number θ.")
        if step is not None and not isinstance(step, str):
            rule = step_rule(step, bound)
            return StepRule(rule.name, rule.scale, None, rule.theta, None)
        rule = step_rule("theorem-2", bound)
        return StepRule("theory", rule.scale, None, rule.theta, None)

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        w = self.problem.primal(alpha)
        return State(w, alpha, memory={"combination": w.copy()})

    def advance(self, state: State, draws: Draws) -> None:
        problem = self.problem
        kernels.quartz(
            problem.examples.native,
            problem.loss.native,
            self.rule.theta,
            self.rule.scale,
            1 / (problem.lam * problem.n),
            draws.indices,
            draws.batch_start,
            state.alpha,
            state.memory["combination"],
            state.w,
        )
        state.iteration += draws.count

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        """The present w with the present α; ᾱ is derived anew where rounding has taken it off."""
        seen, kept = self.problem.evaluate(state.w, state.alpha), state.memory["combination"]
        if seen.combination is None or apart(kept, seen.combination):
            kept[:] = self.problem.primal(state.alpha)
        return state.w, seen
