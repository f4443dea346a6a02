"""SDNA: the dual maximised exactly over the examples of the set."""

from typing import Any

import numpy as np

from dualfree._native import kernels
from dualfree.methods.base import About, State
from dualfree.methods.dfsdca import DfSDCA
from dualfree.methods.requirements import require_built_in, require_plain
from dualfree.problem import Problem
from dualfree.samplings import Nice, Sampling
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule, theorem_theta

_LARGEST_MEAN = 2000  # a system of so many unknowns is solved in about a second


class SDNA(DfSDCA):
    """``α_S ← argmax D`` over the α_i of the set S with the others held, and w follows.

    With ``K = (A_iᵀA_k)/(λn)`` over the set and z its products with w, the moves h solve
    ``h + α_S + φ'(z + Kh) = 0``: the implicit step with the whole block in place of an ESO bound of it, found by
    Newton's method. The step is exact, so ``step`` is left out. As it gains at least what any separable step does,
    ``E[D* − D(α_k)] ≤ (1 − θ)^k (D* − D(α_0))`` with dfSDCA's θ of Theorem 2, for every v that is an ESO of the
    sampling; the bound of Qu, Richtárik, Takáč and Fercoq is sharper where eigenvalues of the blocks are known.

    A set of τ rows takes τ²/2 products of rows beside the visits, and some systems of τ unknowns: an epoch takes four
    to seven times as long as dfSDCA's with the default τ = 8, twenty times with τ = 32. It needs as many epochs as
    dfSDCA with the same sets where λ = 1/n, and fewer where λ is small: on w8a at 0.01/n 36 against 73 with τ = 32.
    """

    name = "sdna"
    about = About(
        title="stochastic dual Newton ascent",
        needs="built-in convex losses; any sampling of sets of at most 2,000 on average",
        memory="n + d + τ²",
        cost="O(τz) for each example of the set of τ, and O(τ³)",
        rate="at least (1 − θ)ᵏ for D* − D, θ as dfSDCA's",
        origin="Qu, Richtárik, Takáč, Fercoq 2016",
    )

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        return Nice(min(8, problem.n))

    @classmethod
    def step_rule(cls, bound: BoundSampling, step: Any = None) -> StepRule:
        require_plain("method='sdna'", bound.problem)
        require_built_in("method='sdna'", bound.problem)
        if bound.mean_size > _LARGEST_MEAN:
            raise ValueError(
                f"method='sdna' solves a system as large as its set, and those of {bound.sampling!r} have "
                f"{bound.mean_size:.6g} examples on average; take smaller ones, or method='dfsdca'."
            )
        if step is not None:
            raise TypeError(f"step is {step!r:.60}; method='sdna' solves for its steps exactly: leave it out.")
        return StepRule("exact", np.ones(1), None, theorem_theta(bound, 2), None)

    @classmethod
    def step_range(cls, bound: BoundSampling) -> tuple[float, float]:
        raise TypeError("step is 'tuned'; method='sdna' solves for its steps exactly: leave it out.")

    def advance(self, state: State, draws: Draws) -> None:
        problem = self.problem
        state.moved += kernels.sdna(
            problem.examples.native,
            problem.loss.native,
            1 / (problem.lam * problem.n),
            draws.indices,
            draws.batch_start,
            state.alpha,
            state.w,
        )
        state.iteration += draws.count
