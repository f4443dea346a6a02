"""AdaSDCA: exact dual steps, with probabilities that follow the run."""

from typing import Any

from dualfree.methods.base import About
from dualfree.methods.dfsdca import DfSDCA
from dualfree.problem import Problem
from dualfree.samplings import Adaptive, Sampling
from dualfree.samplings.base import BoundSampling
from dualfree.steps import StepRule


class AdaSDCA(DfSDCA):
    """SDCA's exact step, which is the implicit one, with `dualfree.samplings.Adaptive`.

    With ``κ_i = |α_i + φ_i'(A_iᵀw)|`` and p in proportion to ``κ_i √(‖A_i‖² + nλ/l_i)``, one step from (w, α) gains
    ``E[D(α⁺) − D(α)] ≥ θ (P(w) − D(α))`` with ``θ = Σ κ_i²/l_i / (Σ κ_i √(1/l_i + ‖A_i‖²/(nλ)))²``, or the least p_i
    of a κ_i that is not zero where that is less (Csiba, Qu and Richtárik, with l_i of each example). Here p is taken
    anew once an epoch, not once a step: that costs a pass, so an epoch takes about twice as long as dfSDCA's.
    ``sampling=Adaptive(shrink=10)`` is AdaSDCA+, whose draws cost as much as short rows do: up to four times as long.
    """

    name = "adasdca"
    about = About(
        title="SDCA with adaptive probabilities",
        needs="convex losses; adaptive",
        memory="4n",
        cost="O(z); a pass over the data an epoch",
        rate="1 − θ for a step with fresh probabilities, θ of its docstring; none for an epoch",
        origin="Csiba, Qu, Richtárik 2015",
    )

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        return Adaptive()

    @classmethod
    def step_rule(cls, bound: BoundSampling, step: Any = None) -> StepRule:
        bound.problem.require_convex("method='adasdca'")
        if not isinstance(bound.sampling, Adaptive):
            raise ValueError(
                f"method='adasdca' is defined for sampling='adaptive', not for {bound.sampling!r}; method='dfsdca' "
                "takes any sampling."
            )
        return super().step_rule(bound, step)
