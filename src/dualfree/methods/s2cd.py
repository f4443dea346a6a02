"""S2CD: full gradients now and then, and in between steps along single features."""

import math

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.methods.anchored import Anchored
from dualfree.methods.base import About, State
from dualfree.problem import Problem
from dualfree.samplings import Sampling, Serial
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule

_HARDLY_EVER = 1e-15  # the share of draws of a row without features: it must be above 0, and moves nothing


class ExampleOfPair(Serial):
    """The example of a pair (i, j) drawn with probability ``W_ij/(n L̂)``; the method draws j afterwards.

    ``W_ij = ω_i l_i A_ij² + λn/ω_j`` with ω_i the nonzeros of row i and ω_j the examples that have feature j.

    Attributes
    ----------
    total : float
        ``L̂ = (1/n) Σ W_ij``.
    of_feature : array of length d
        ``p_j``, the probability of each feature.
    share, curvature, row_sums : arrays
        ``λn/ω_j``, ``ω_i l_i`` and ``Σ_j W_ij``.

    Examples
    --------
    >>> import dualfree as df
    >>> problem = df.Problem(np.array([[1.0, 1.0], [0.0, 2.0]]), df.losses.Squared(np.ones(2)), lam=0.5)
    >>> pairs = ExampleOfPair(problem)  # W is 3, 2.5 and 4.5
    >>> pairs.total, pairs.p.round(9).tolist(), pairs.of_feature.round(9).tolist()
    (5.0, [0.55, 0.45], [0.3, 0.7])
    """

    p: Floats

    def __init__(self, problem: Problem) -> None:
        n, d = problem.n, problem.d
        self.share, self.curvature, self.row_sums, sums = np.zeros(d), np.zeros(n), np.zeros(n), np.zeros(d)
        kernels.pair_weights(
            problem.examples.native, problem.l, problem.lam, self.share, self.curvature, self.row_sums, sums
        )
        whole = float(sums.sum()) or 1.0
        self.total, self.of_feature = whole / n, sums / whole
        drawn = np.maximum(self.row_sums / whole, _HARDLY_EVER / n)
        super().__init__(drawn / drawn.sum())

    def __repr__(self) -> str:
        return "ExampleOfPair()"


class S2CD(Anchored):
    """From an anchor x, a step draws an example i and a feature j of it, with probability ``p_j q_ij = W_ij/(n L̂)``.

    ``w_j ← w_j − (h/p_j) (∇_j P(x) + (∇_j f_i(w) − ∇_j f_i(x))/(n q_ij))``, with λ shared out among the examples that
    have the feature: ``f_i(w) = φ_i(A_iᵀw) + Σ_j (λn/ω_j) w_j²/2`` over the features of row i. The probabilities are
    those of Konečný, Qu and Richtárik, ``q_ij ∝ ω_i L_ij``, except that the part of λ has no factor ω_i: the proof
    needs f_i to be smooth in the norm that W_ij weighs, and for a separable part that is enough. The length has the law
    of S2GD, and ``c = (1 − λh)^m/((1 − (1 − λh)^m)(1 − 2L̂h)) + 2L̂h/(1 − 2L̂h)`` is 1/2 for ``h = 1/(10L̂)`` and
    ``(1 − λh)^m = 1/6``.

    A visit moves one weight but goes twice over its row, for the product and to draw j, and long rows are drawn more
    often: an epoch takes 2.4 to 2.8 times as long as dfSDCA's (rcv1, cov1), and does less than one of S2GD.
    """

    name = "s2cd"
    about = About(
        title="semi-stochastic coordinate descent",
        needs="convex losses; its own sampling of pairs (example, feature)",
        memory="3n + 5d",
        cost="O(z) for one feature; a full pass between loops",
        rate="1/2 for a pass and at most log(6)·10L̂/λ steps, L̂ the mean of ωᵢlᵢ‖Aᵢ‖², plus dλ",
        origin="Konečný, Qu, Richtárik 2014",
    )
    takes = (ExampleOfPair,)
    takes_names = "None (it draws an example and a feature by probabilities of its own)"

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        self.pairs = _pairs(sampling)

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        return ExampleOfPair(problem)

    @classmethod
    def theoretical_step(cls, bound: BoundSampling) -> float:
        return 1 / (10 * max(_pairs(bound).total, bound.problem.lam))

    def theoretical_length(self) -> int:
        return math.ceil(math.log(6) / -math.log1p(-self.step * self.problem.lam))

    def steps(self, u: float) -> int:
        return self.geometric_steps(u)

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        state = super().start(alpha)
        state.memory["anchor"] = state.w.copy()
        state.memory["full"] = np.zeros(self.problem.d)
        return state

    def anchor(self, state: State) -> None:
        super().anchor(state)
        memory, of_feature = state.memory, self.pairs.of_feature
        memory["anchor"][:] = state.w
        gradient = memory["average"] + self.problem.lam * state.w
        memory["full"][:] = np.divide(gradient, of_feature, out=np.zeros_like(gradient), where=of_feature > 0)

    def inner(self, state: State, draws: Draws, first: int) -> None:
        problem, memory, pairs = self.problem, state.memory, self.pairs
        kernels.s2cd(
            problem.examples.native,
            problem.loss.native,
            self.step,
            pairs.total,
            pairs.share,
            pairs.curvature,
            pairs.row_sums,
            memory["table"],
            memory["full"],
            memory["anchor"],
            draws.indices,
            state.seed,
            first,
            state.w,
        )


def _pairs(bound: BoundSampling) -> ExampleOfPair:
    assert isinstance(bound.sampling, ExampleOfPair)  # `Primal` has refused everything else
    return bound.sampling
