"""SAG and SAGA: the last derivative of each example is remembered, and their average corrects the step."""

from abc import abstractmethod

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation
from dualfree.methods.base import About, State
from dualfree.methods.primal import Primal, smoothness
from dualfree.samplings.base import BoundSampling, Draws

_DERIVE_EVERY = 16  # epochs between derivations of the average from the table, against rounding that adds up


class _Averaged(Primal):
    """``w ← w − h (gain (φ_i'(A_iᵀw) − t_i) A_i + g + λw)``, then t_i takes the new derivative.

    ``g = (1/n) Σ t_i A_i`` follows the table, which starts as ``t_i = −α_i``: zero without a warm start. λw is exact:
    no table is kept for it.
    """

    @abstractmethod
    def _gain(self) -> float:
        """What a step gives to the change of one example's derivative."""

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        state = super().start(alpha)
        state.memory = {"table": -alpha, "average": -self.problem.lam * state.w}
        return state

    def advance(self, state: State, draws: Draws) -> None:
        problem = self.problem
        kernels.variance_reduced(
            problem.examples.native,
            problem.loss.native,
            self.step,
            problem.lam,
            self._gain(),
            1 / problem.n,
            draws.indices,
            draws.batch_start,
            state.memory["table"],
            state.memory["average"],
            state.w,
        )
        state.iteration += draws.count

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        if state.iteration // self.problem.n % _DERIVE_EVERY == _DERIVE_EVERY - 1:
            state.memory["average"][:] = self.problem.examples.combine(state.memory["table"]) / self.problem.n
        return super().evaluate(state)


class SAG(_Averaged):
    """The step uses the average after the change (gain 1/n): biased, of small variance. ``h = 1/(16L)`` by default.

    Theorem 1 of Schmidt, Le Roux and Bach: ``E[P(w_k)] − P* ≤ (1 − min(λ/(16L), 1/(8n)))^k C_0``, for a table of
    the whole gradients of f_i. Here, as they advise for implementations, the table is that of the losses and λw is
    exact.
    """

    name = "sag"
    about = About(
        title="stochastic average gradient",
        needs="convex losses; uniform or shuffled",
        memory="n + d",
        cost="O(z)",
        rate="(1 − min(λ/(16L), 1/(8n)))ᵏ",
        origin="Le Roux, Schmidt, Bach 2012; Schmidt, Le Roux, Bach 2017",
    )

    def _gain(self) -> float:
        return 1 / self.problem.n

    @classmethod
    def theoretical_step(cls, bound: BoundSampling) -> float:
        return 1 / (16 * smoothness(bound.problem))


class SAGA(_Averaged):
    """The step uses the average before the change (gain 1), so it is unbiased. ``h = 1/(3L)`` by default.

    ``E‖w_k − w*‖² ≤ (1 − min(1/(4n), λ/(3L)))^k (‖w_0 − w*‖² + c H_0)``, with H the mean of
    ``‖(t_i − φ_i'(A_iᵀw*)) A_i‖²`` and ``c = n(3L − λ)/(9L³)``: the rate of Defazio, Bach and Lacoste-Julien. Their
    potential asks for a table of derivatives at points; H in its place lets the table start from any numbers, by the
    same chain of inequalities.
    """

    name = "saga"
    about = About(
        title="SAG without its bias",
        needs="convex losses; uniform or shuffled",
        memory="n + d",
        cost="O(z)",
        rate="(1 − min(λ/(3L), 1/(4n)))ᵏ",
        origin="Defazio, Bach, Lacoste-Julien 2014",
    )

    def _gain(self) -> float:
        return 1.0

    @classmethod
    def theoretical_step(cls, bound: BoundSampling) -> float:
        return 1 / (3 * smoothness(bound.problem))
