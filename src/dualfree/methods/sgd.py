"""SGD with steps that shrink as 1/t."""

from dualfree._native import kernels
from dualfree.methods.base import About, State
from dualfree.methods.primal import Primal, smoothness
from dualfree.samplings.base import BoundSampling, Draws


class SGD(Primal):
    """``w ← w − η_t (φ_i'(A_iᵀw) A_i + λw)`` with ``η_t = h/(1 + hλt)`` and ``h = 1/(2L)`` by default.

    That is ``η_t = 1/(λ(t + t_0))`` with ``t_0 = 1/(hλ)``: the steps of Pegasos after a start that is not larger than
    the smoothness allows. The last iterate is the answer; nothing is averaged. With σ² the mean of ``‖∇f_i(w*)‖²`` and
    h ≤ 1/(2L), ``E‖w−w*‖² ≤ (1 − λη_t)‖w−w*‖² + 2η_t²σ²`` for one step, from which

    ``E‖w_T − w*‖² ≤ [(t_0 − 1)‖w_0 − w*‖² + (2σ²/λ²)(1/t_0 + log((t_0 + T − 1)/t_0))]/(t_0 + T − 1)``.

    So it ends in its own noise, of size ``1/T``: an accuracy of 1e-8 is not for it.
    """

    name = "sgd"
    about = About(
        title="stochastic gradient descent, steps 1/(λ(t + t₀))",
        needs="convex losses; uniform or shuffled",
        memory="none",
        cost="O(z)",
        rate="O(σ² log T/(λ² T)) for ‖w − w*‖²",
        origin="Robbins and Monro 1951; Shalev-Shwartz, Singer, Srebro 2007 (Pegasos)",
    )

    @classmethod
    def theoretical_step(cls, bound: BoundSampling) -> float:
        return 0.5 / smoothness(bound.problem)

    def advance(self, state: State, draws: Draws) -> None:
        problem = self.problem
        kernels.sgd(
            problem.examples.native,
            problem.loss.native,
            self.step,
            problem.lam,
            draws.indices,
            state.iteration,
            state.w,
        )
        state.iteration += draws.count
