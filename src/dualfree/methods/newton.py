"""Newton's method on P: full passes and a d × d system, for few features and for λ too small for stochastic steps."""

import numpy as np
from scipy import linalg

from dualfree.arrays import Floats
from dualfree.intercept import best_intercept
from dualfree.losses.builtin import BuiltIn
from dualfree.methods.base import About, Method, State
from dualfree.problem import Evaluation, Problem
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule

MOST_FEATURES = 5000  # a 200 MB Hessian; beyond, the stochastic methods are the better choice by far
_SUFFICIENT = 1e-4  # Armijo's share of the decrease that the slope promises
_SHORTEST = 2.0**-40


class Newton(Method):
    """``w ← w − t H⁻¹ ∇P(w)`` with ``H = (1/n) Σ φ_i'' A_i A_iᵀ + λI`` and t by halving until P falls enough.

    The curvature of a loss with kinks is that of one side (semismooth Newton). `α_i` is ``−φ_i'(A_iᵀw)``. Memory:
    a d × d array; an iteration is one pass for H, which costs a multiple of the nonzeros, and O(d³).
    """

    takes_all = True
    about = About(
        title="Newton's method with halved steps",
        needs="built-in convex losses; at most 5,000 features; no sampling",
        memory="d²",
        cost="O(nz² + d³) for an iteration over all rows",
        rate="quadratic near the optimum",
        origin="textbooks; for losses with kinks Qi, Sun 1993",
    )

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        problem.require_convex("method='newton'")
        if not isinstance(problem.loss, BuiltIn):
            raise ValueError(
                "method='newton' needs the second derivative of the loss, which "
                f"{type(problem.loss).__name__} does not "
                "give; method='dfsdca' does not need it."
            )
        if problem.d > MOST_FEATURES:
            raise ValueError(
                f"method='newton' would need a Hessian of {problem.d} × {problem.d}; it takes at most "
                f"{MOST_FEATURES} features, and method='dfsdca' any number."
            )

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        w = self.problem.primal(alpha)
        if self.problem.intercept:
            w[-1] = intercept
        return State(w, alpha)

    def advance(self, state: State, draws: Draws) -> None:
        for _ in range(draws.count):
            self._step(state)
            state.iteration += 1

    def _step(self, state: State) -> None:
        problem, w = self.problem, state.w
        seen = problem.evaluate(w)
        direction = -_solve(problem.hessian(w), seen.gradient)
        slope = float(seen.gradient @ direction)
        along = problem.along(w, direction)
        t = 1.0
        while t > _SHORTEST and not along(t) <= seen.value + _SUFFICIENT * t * slope:
            t *= 0.5
        if t > _SHORTEST:  # else rounding has the last word, and w stays
            w += t * direction

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        problem, w = self.problem, state.w
        z = problem.margins(w)
        if problem.intercept:
            z -= w[-1]
            w[-1] = best_intercept(problem.loss, z, float(w[-1]))
            z += w[-1]
        state.alpha[:] = -problem.loss.weighted(problem.loss.derivative(z, problem.loss.y))
        return w, problem.evaluate(w, state.alpha, z)


def _solve(hessian: Floats, gradient: Floats) -> Floats:
    """``H⁻¹ g``; without an intercept H is at least λI, with one it may be singular where all losses are flat."""
    try:
        return np.asarray(linalg.cho_solve(linalg.cho_factor(hessian), gradient))
    except linalg.LinAlgError:
        return np.asarray(linalg.lstsq(hessian, gradient)[0])
