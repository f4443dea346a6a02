"""NSync, UCDC and Hydra: plain descent along features."""

from typing import Any

from dualfree.methods.base import About
from dualfree.methods.coordinates import CoordinateMethod
from dualfree.problem import Problem
from dualfree.samplings import Distributed, Importance, RandomSerial, Sampling, Serial, Shuffled, Uniform
from dualfree.samplings.base import BoundSampling
from dualfree.steps import StepRule

_MACHINES, _EACH = 4, 8


class NSync(CoordinateMethod):
    """``w_j ← w_j − ∇_j P(w)/v_j`` for all features j of the set, all at the same w.

    With v an ESO of the sampling on the features (see `curvatures`), ``E[P(w_k) − P*] ≤ (1 − θ)^k (P(w_0) − P*)`` with
    ``θ = min_j p_j λ/v_j`` (Richtárik and Takáč, Theorem 3, P being λ-strongly convex).
    """

    name = "nsync"
    about = About(
        title="primal coordinate descent with arbitrary sampling",
        needs="convex losses; any sampling with fixed probabilities, of features",
        memory="n + 2d, and X by columns where it is sparse",
        cost="O(z) for each feature of the set, z the nonzeros of its column",
        rate="(1 − θ)ᵏ, θ = minⱼ pⱼλ/vⱼ",
        origin="Richtárik, Takáč 2013",
    )


class UCDC(CoordinateMethod):
    """One feature at a time: ``w_j ← w_j − ∇_j P(w)/L_j`` with ``L_j = (1/n) Σ_i l_i X_ij² + λ``.

    By default feature j is drawn with probability ``p_j = L_j/Σ L``, for which ``E[P(w_k) − P*]`` falls by
    ``1 − λ/Σ L`` a step; in general by ``1 − min_j p_j λ/L_j`` (Richtárik and Takáč, the strongly convex case). Popular
    features have large L_j and long columns, so an epoch takes several times as long as dfSDCA's.
    """

    name = "ucdc"
    about = About(
        title="randomised coordinate descent, one feature at a time",
        needs="convex losses; serial samplings of features",
        memory="n + 2d, and X by columns where it is sparse",
        cost="O(z), z the nonzeros of a column",
        rate="(1 − minⱼ pⱼλ/Lⱼ)ᵏ, Lⱼ = Σᵢ lᵢXᵢⱼ²/n + λ",
        origin="Richtárik, Takáč 2014",
    )
    _takes = (Importance, RandomSerial, Serial, Shuffled, Uniform)

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        return Importance()

    @classmethod
    def step_rule(cls, bound: BoundSampling, step: Any = None) -> StepRule:
        if not isinstance(bound.sampling, cls._takes):
            raise ValueError(
                f"method='ucdc' draws one feature at a time, which {bound.sampling!r} may not; method='nsync' "
                "takes any sampling."
            )
        return super().step_rule(bound, step)


class Hydra(CoordinateMethod):
    """Features in parts, one part a machine; each machine moves τ of its own, chosen at random, at the same w.

    ``w_j ← w_j − ∇_j P(w)/v_j`` with v the ESO of `dualfree.samplings.Distributed`: one for each feature, where
    Richtárik and Takáč have one factor β for all, ``v_j = β L_j``. The default is four parts and eight features of each
    (fewer where there are few); the parts' work is done one after the other here. Rate: that of NSync.
    """

    name = "hydra"
    about = About(
        title="distributed coordinate descent",
        needs="convex losses; any sampling with fixed probabilities, of features",
        memory="n + 2d, and X by columns where it is sparse",
        cost="O(z) for each feature of the set, z the nonzeros of its column",
        rate="(1 − θ)ᵏ, θ = minⱼ pⱼλ/vⱼ",
        origin="Richtárik, Takáč 2013 (Hydra)",
    )

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        parts = min(_MACHINES, problem.d)
        return Distributed(parts, min(_EACH, max(1, problem.d // (2 * parts))))
