"""dfSDCA, Algorithm 1 of the paper: dual-free SDCA with arbitrary sampling."""

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.methods.base import Method, State
from dualfree.samplings.base import Draws
from dualfree.steps import implicit_alpha


class DfSDCA(Method):
    """For all i of the drawn set, all at the same w.

    ``g_i = φ_i'(A_iᵀw) + α_i``, ``α_i ← α_i − (θ/p_i) g_i``, ``w ← w − Σ θ/(nλp_i) A_i g_i``; or the implicit step
    in place of θ/p_i. It keeps ``w = (1/λn) Σ A_i α_i``. Memory: α and w alone.
    """

    def start(self, alpha: Floats) -> State:
        return State(self.problem.primal(alpha), alpha)

    def advance(self, state: State, draws: Draws) -> None:
        problem, loss = self.problem, self.problem.loss
        if loss.native is None:
            self._advance_in_python(state, draws)
        else:
            kernels.dfsdca(
                problem.examples.native,
                loss.native,
                self.rule.implicit,
                self.rule.scale,
                1 / (problem.lam * problem.n),
                draws.indices,
                draws.batch_start,
                state.alpha,
                state.w,
            )
        state.iteration += draws.count

    def _advance_in_python(self, state: State, draws: Draws) -> None:
        """The same for a loss written in Python: one call of it for each batch."""
        start = np.arange(draws.count + 1) if draws.batch_start is None else draws.batch_start
        examples, inverse = self.problem.examples, 1 / (self.problem.lam * self.problem.n)
        for first, last in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
            batch = draws.indices[first:last]
            if len(batch) == 0:
                continue
            delta = self._delta(batch, examples.margins(state.w, batch), state.alpha[batch])
            state.alpha[batch] += delta
            examples.combine(inverse * delta, batch, out=state.w)

    def _delta(self, batch: Indices, z: Floats, alpha: Floats) -> Floats:
        loss = self.problem.loss
        scale = np.broadcast_to(self.rule.scale, (self.problem.n,))[batch]
        if self.rule.implicit:
            return implicit_alpha(loss, batch, z, alpha, scale) - alpha
        derivative = loss.weighted(np.asarray(loss.derivative(z, loss.y[batch]), dtype=np.float64), batch)
        return -scale * (derivative + alpha)
