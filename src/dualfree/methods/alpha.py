"""ALPHA: accelerated descent along features, with arbitrary sampling."""

import math

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation
from dualfree.methods.base import About, State
from dualfree.methods.coordinates import CoordinateMethod
from dualfree.methods.primal import certified
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule

_LONGEST = 2.0**52  # steps before a restart, which a float counts exactly; nobody waits for it
_DERIVE_EVERY = 16  # epochs between derivations of the products, against rounding that adds up


class Alpha(CoordinateMethod):
    """``y = (1 − θ_k)x + θ_k g``; ``g_j ← g_j − p_j/(θ_k v_j) ∇_j P(y)`` for j of the set; ``x = y + (θ_k/p)Δg``.

    It begins with g = x and ``θ_0 = 1``, and ``θ_{k+1} = (√(θ_k⁴ + 4θ_k²) − θ_k²)/2``. Then
    ``E[P(x_k) − P*] ≤ 2 Σ_j (v_j/p_j²)(x_0 − w*)_j²/(k + 1)²`` (Qu and Richtárik, for smooth functions). As P is
    λ-strongly convex, that sum is at most
    ``(2/λ) max_j (v_j/p_j²) (P(x_0) − P*)``: after ``K = √(8 max_j v_j/(λp_j²))`` steps the expected suboptimality has
    halved, and the method starts again from x, every K steps. NSync is the same without acceleration.

    The three dense vectors are kept as two, of which a step moves the features of its set alone.
    """

    name = "alpha"
    about = About(
        title="accelerated coordinate descent with arbitrary sampling",
        needs="convex losses; any sampling with fixed probabilities, of features",
        memory="2n + 4d, and X by columns where it is sparse",
        cost="O(z) for each feature of the set, z the nonzeros of its column",
        rate="1/2 in √(8 maxⱼ vⱼ/(λpⱼ²)) steps; O(1/k²) between restarts",
        origin="Qu, Richtárik 2014",
    )

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        largest = float((1 / (rule.scale * sampling.p**2)).max())
        self.period = int(np.clip(math.ceil(math.sqrt(8 * largest / problem.lam)) - 1, 1, _LONGEST))

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        w = self.problem.primal(alpha)
        # u and g side by side, their products with the examples, and θ, the square of the last one, steps left.
        memory = {"pairs": np.zeros(2 * self.problem.d), "margins": np.zeros(2 * self.problem.n)}
        memory["pairs"][1::2], memory["margins"][1::2] = w, self.problem.margins(w)
        return State(w, alpha, memory={**memory, "progress": np.array([1.0, 1.0, self.period])})

    def advance(self, state: State, draws: Draws) -> None:
        memory, pairs = state.memory, state.memory["pairs"]
        kernels.accelerated_descent(
            self.features.examples.native,
            self.problem.loss.native,
            self.features.scale,
            self.problem.lam,
            self.rule.scale,
            self.sampling.p,
            draws.indices,
            draws.batch_start,
            self.period,
            memory["progress"],
            pairs,
            memory["margins"],
        )
        state.w[:] = memory["progress"][1] * pairs[::2] + pairs[1::2]
        state.iteration += draws.count

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        if state.iteration // max(1, round(self.sampling.iterations_per_epoch)) % _DERIVE_EVERY == _DERIVE_EVERY - 1:
            for part in (slice(0, None, 2), slice(1, None, 2)):
                state.memory["margins"][part] = self.problem.margins(state.memory["pairs"][part])
        return state.w, certified(self.problem, state)[1]
