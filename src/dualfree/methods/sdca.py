"""SDCA, Prox-SDCA and Iprox-SDCA: ascent on the dual, one coordinate or one set of coordinates at a time."""

import math
from typing import Any, ClassVar

import numpy as np

from dualfree.methods.base import About
from dualfree.methods.dfsdca import DfSDCA
from dualfree.problem import Problem
from dualfree.samplings import Importance, Sampling, Uniform
from dualfree.samplings.base import BoundSampling
from dualfree.steps import StepRule, step_rule, theorem_theta

_NUMBER = (int, float, np.integer, np.floating)


class SDCA(DfSDCA):
    """α_i moves to where the dual is largest along it.

    ``α_i ← argmax_a −φ_i*(−a) − A_iᵀw a − (v_i/2λn)(a − α_i)²``: for one example (``v_i = ‖A_i‖²``) that is D(α) along
    coordinate i, for sets it is the lower bound that the ESO gives. The maximum is where
    ``a = −φ_i'(A_iᵀw + (v_i/λn)(a − α_i))``, which is dfSDCA's implicit step, so both run in the same kernel. With
    ``step="fixed"``, ``α_i ← α_i + s_i (−φ_i'(A_iᵀw) − α_i)`` with ``s_i = 1/(1 + l_i v_i/(λn))``; a number is s for
    all i.

    For independent draws and either of the named steps ``E[D* − D(α)] ≤ (1 − θ)ᵏ (D* − D(α⁰))`` with the θ of dfSDCA's
    Theorem 2: the fixed step gains at least ``θ (P(w) − D(α)) ≥ θ (D* − D(α))`` in the mean, and the exact one more.
    ``sampling="shuffled"`` is the variant that its authors call SDCA-Perm.
    """

    name: ClassVar[str] = "sdca"
    takes_l1 = False
    about = About(
        title="stochastic dual coordinate ascent",
        needs="convex losses with a conjugate; any sampling",
        memory="n",
        cost="O(z) for each example of the set",
        rate="(1 − θ)ᵏ for D* − D(α), θ = minᵢ pᵢnλ/(lᵢvᵢ + nλ)",
        origin="Shalev-Shwartz, Zhang 2013; sets: Takáč, Bijral, Richtárik, Srebro 2013",
    )

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        return Uniform()

    @classmethod
    def step_rule(cls, bound: BoundSampling, step: Any = None) -> StepRule:
        cls._require(bound)
        if step is None or (isinstance(step, str) and step == "exact"):
            rule = step_rule("implicit", bound)
            return StepRule("exact", rule.scale, 0.0, rule.theta, 2)
        if isinstance(step, str) and step == "fixed":
            rule = step_rule("per-example", bound)
            return StepRule("fixed", rule.scale, None, rule.theta, 2)
        if isinstance(step, bool) or not isinstance(step, _NUMBER):
            raise TypeError(
                f"step is {step!r:.60}; method={cls.name!r} takes 'exact', 'fixed', 'tuned' or a number s, the share "
                "of the way from α_i to −φ_i'."
            )
        if not (math.isfinite(step) and 0 < step <= 1):
            raise ValueError(f"step is s = {step!r}; it must be above 0 and at most 1.")
        return StepRule(f"{step:g}", np.full(1, float(step)), None, float(step), None)

    @classmethod
    def step_range(cls, bound: BoundSampling) -> tuple[float, float]:
        return min(1.0, theorem_theta(bound, 2) / float(bound.p.min())), 1.0

    @classmethod
    def _require(cls, bound: BoundSampling) -> None:
        loss, method = bound.problem.loss, f"method={cls.name!r}"
        bound.problem.require_convex(method)
        if not loss.has_conjugate:
            raise ValueError(
                f"{method} is ascent on the dual, which needs the conjugate of the loss; {type(loss).__name__} does "
                "not define it, and method='dfsdca' does without it."
            )


class ProxSDCA(SDCA):
    """SDCA with the L1 part of the penalty: ``ᾱ = (1/λn) Σ A_i α_i`` moves, and ``w = soft(ᾱ, μ/λ)``.

    The step is SDCA's at that w (Options I and V of its authors); for μ > 0 what it maximises is a lower bound of the
    dual also for one example, because the conjugate of the penalty is 1/λ-smooth and not quadratic. The rate is SDCA's.
    The threshold is applied to the features of the visited rows alone, so that a step costs their nonzeros.
    """

    name = "prox-sdca"
    takes_l1 = True
    about = About(
        title="SDCA with an L1 part",
        needs="convex losses with a conjugate; any sampling; μ ≥ 0",
        memory="n",
        cost="O(z) for each example of the set",
        rate="(1 − θ)ᵏ for D* − D(α), θ = minᵢ pᵢnλ/(lᵢvᵢ + nλ)",
        origin="Shalev-Shwartz, Zhang 2012 and 2014",
    )


class IproxSDCA(ProxSDCA):
    """Prox-SDCA with ``p_i ∝ 1 + l_i‖A_i‖²/(λn)``, for which θ is largest: ``1/θ = n + mean(l_i‖A_i‖²)/λ``.

    Other serial samplings with independent draws are taken too.
    """

    name = "iprox-sdca"
    about = About(
        title="Prox-SDCA with importance sampling",
        needs="convex losses with a conjugate; independent serial samplings; μ ≥ 0",
        memory="2n",
        cost="O(z)",
        rate="(1 − θ)ᵏ for D* − D(α), 1/θ = n + (1/λn) Σ lᵢ‖Aᵢ‖²",
        origin="Zhao, Zhang 2015",
    )

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        return Importance()

    @classmethod
    def _require(cls, bound: BoundSampling) -> None:
        super()._require(bound)
        if bound.sampling.largest(bound.problem) > 1 or not bound.sampling.covered:
            raise ValueError(
                f"method='iprox-sdca' draws one example at a time, independently, such as 'importance', and not by "
                f"{bound.sampling!r}; method='prox-sdca' takes any sampling."
            )
