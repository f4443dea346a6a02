"""Acc-Prox-SDCA: Prox-SDCA on easier problems, whose centre moves with momentum."""

import math
from typing import Any

import numpy as np

from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation
from dualfree.methods.base import About, State
from dualfree.methods.dfsdca import apart, take_steps
from dualfree.methods.primal import smoothness
from dualfree.methods.sdca import SDCA
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule

_NUMBER = (int, float, np.integer, np.floating)
_ILL_CONDITIONED = 10.0  # times λn: where max l_i‖A_i‖² is less, its authors run Prox-SDCA as it is
_ROUNDING = 4e-16


class AccProxSDCA(SDCA):
    """Prox-SDCA solves ``P_t(w) = P(w) + (κ/2)‖w‖² − κ wᵀy``, then ``y = w + β (w − w_before)``, and so on.

    ``P_t`` has ``λ̃ = λ + κ`` in the place of λ, and its points are ``soft((1/λ̃n) Σ A_i α_i + (κ/λ̃) y, μ/λ̃)``. With
    ``ρ = λ/2 + κ``, ``η = √(λ/(2ρ))`` and ``β = (1 − η)/(1 + η)``, it is solved to a gap of ``ξ η/(2(1 + η⁻²))``, where
    ξ starts at ``(1 + η⁻²)(P(w⁰) − D(α⁰))`` and falls by ``1 − η/2`` each time; then ``P(w) − P* ≤ ξ`` after each.
    κ is ``max_i l_i‖A_i‖²/n − λ`` by default, and 0, which is Prox-SDCA itself, where that is below 9λ: acceleration
    is for small λ. A number is κ.

    The gap of P_t is looked at after each epoch of steps. That is a pass over the data, which takes the place of as
    many iterations, so that half of the epochs are steps.
    """

    name = "acc-prox-sdca"
    takes_l1 = True
    about = About(
        title="Prox-SDCA with outer momentum",
        needs="built-in convex losses; any sampling; μ ≥ 0; no intercept",
        memory="n + 2d",
        cost="O(z) for each example of the set; a full pass after each epoch of steps",
        rate="(1 − η/2)ᵗ for P(w) − P* after t centres, η = √(λ/(λ + 2κ)), κ = maxᵢ lᵢ‖Aᵢ‖²/n − λ",
        origin="Shalev-Shwartz, Zhang 2014",
    )

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        self.kappa = rule.theta
        self.lam = problem.lam + self.kappa
        self.eta = math.sqrt(problem.lam / (problem.lam + 2 * self.kappa))
        self.beta = (1 - self.eta) / (1 + self.eta)
        self.epoch_length = math.ceil(sampling.iterations_per_epoch)

    @classmethod
    def step_rule(cls, bound: BoundSampling, step: Any = None) -> StepRule:
        cls._require(bound)
        if step is None or (isinstance(step, str) and step == "theory"):
            return _rule(bound, "theory", theoretical_kappa(bound.problem))
        if isinstance(step, bool) or not isinstance(step, _NUMBER):
            raise TypeError(f"step is {step!r:.60}; method='acc-prox-sdca' takes 'theory', 'tuned' or a number κ.")
        if not (math.isfinite(step) and step >= 0):
            raise ValueError(f"step is κ = {step!r}; it must be a finite number, at least 0.")
        return _rule(bound, f"{step:g}", float(step))

    @classmethod
    def step_range(cls, bound: BoundSampling) -> tuple[float, float]:
        largest = max(theoretical_kappa(bound.problem), bound.problem.lam)
        return largest / 16, largest

    @classmethod
    def _require(cls, bound: BoundSampling) -> None:
        super()._require(bound)
        if bound.problem.intercept:
            raise ValueError("method='acc-prox-sdca' has no intercept; method='prox-sdca' and 'dfsdca' have one.")
        if bound.problem.loss.native is None:
            raise ValueError(
                f"method='acc-prox-sdca' needs a loss that runs in the kernels, but "
                f"{type(bound.problem.loss).__name__} is written in Python; method='prox-sdca' takes it."
            )

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        """From α with the centre y at its point; the excess ξ is that of a start whose gap is not known yet."""
        state, w = super().start(alpha), self.problem.primal(alpha)
        state.memory = {
            "centre": w,
            "before": w.copy(),
            "excess": np.full(1, np.nan),
            "counters": np.array([self.epoch_length, 0, 1]),  # steps up to the next look, iterations of a look, centres
        }
        state.w[:] = self._combination(state, state.w)
        return state

    def advance(self, state: State, draws: Draws) -> None:
        if self.kappa == 0:
            super().advance(state, draws)
            return
        counters, at = state.memory["counters"], 0
        if np.isnan(state.memory["excess"][0]):
            start = self.problem.evaluate(self._point(state), state.alpha)
            state.memory["excess"][0] = (1 + self.eta**-2) * start.duality_gap
        while at < draws.count:
            which = 0 if counters[0] > 0 else 1
            taken = min(int(counters[which]), draws.count - at)
            counters[which] -= taken
            if which == 0:
                part = draws.between(at, at + taken)
                state.moved += take_steps(self.problem, self.lam, self.rule, state, part, self.n_threads)
                if counters[0] == 0:
                    self._look(state)
                    counters[1] = self.epoch_length
            elif counters[1] == 0:
                counters[0] = self.epoch_length
            at += taken
        state.iteration += draws.count

    def _look(self, state: State) -> None:
        """Where the present P_t is solved well enough, go on to the next."""
        w, memory, eta = self._point(state), state.memory, self.eta
        goal = float(memory["excess"][0]) * eta / (2 * (1 + eta**-2))
        gap, value = self._inner_gap(w, state.alpha)
        if gap > max(goal, _ROUNDING * abs(value)):
            return
        centre = w + self.beta * (w - memory["before"])
        state.w += self.kappa / self.lam * (centre - memory["centre"])
        memory["centre"][:], memory["before"][:] = centre, w
        memory["excess"] *= 1 - eta / 2
        memory["counters"][2] += 1

    def _inner_gap(self, w: Floats, alpha: Floats) -> tuple[float, float]:
        """``(1/n) Σ φ_i(z_i) + φ_i*(−α_i) + α_i z_i``, all that the gap of P_t has where w is the point of α; and P."""
        loss, z = self.problem.loss, self.problem.margins(w, n_threads=self.n_threads)
        values, a = loss.weighted(loss.value(z, loss.y)), loss.project(alpha)
        return float(np.maximum(0.0, values + loss.weighted_conjugate(a) + a * z).mean()), float(values.mean())

    def _point(self, state: State) -> Floats:
        return self.problem.regulariser.point(state.w, self.lam).copy()

    def _combination(self, state: State, combination: Floats) -> Floats:
        """``(1/λ̃n) Σ A_i α_i + (κ/λ̃) y`` from ``(1/λn) Σ A_i α_i``."""
        return (self.problem.lam * combination + self.kappa * state.memory["centre"]) / self.lam

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        w = self._point(state)
        seen = self.problem.evaluate(w, state.alpha, n_threads=self.n_threads)
        if seen.combination is None or apart(state.w, self._combination(state, seen.combination)):
            state.w[:] = self._combination(state, self.problem.combination(state.alpha))
        return w, seen


def theoretical_kappa(problem: Problem) -> float:
    """``max_i l_i‖A_i‖²/n − λ``, or 0 where that is not many times λ.

    Examples
    --------
    >>> from dualfree.losses import Squared
    >>> theoretical_kappa(Problem(np.eye(2), Squared([1.0, 2.0]), lam=0.01))
    0.49
    """
    steepest = smoothness(problem) - problem.lam
    return steepest / problem.n - problem.lam if steepest > _ILL_CONDITIONED * problem.lam * problem.n else 0.0


def _rule(bound: BoundSampling, name: str, kappa: float) -> StepRule:
    """Exact steps on a problem with λ + κ; κ is what the user sees as the number of the step."""
    scale = bound.v / ((bound.problem.lam + kappa) * bound.problem.n)
    compact = scale[:1].copy() if np.ptp(scale) == 0 else scale
    return StepRule(name, compact, 0.0, kappa, None)
