"""dfSDCA, Algorithm 1 of the paper: dual-free SDCA with arbitrary sampling."""

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.intercept import best_intercept
from dualfree.losses.builtin import BuiltIn
from dualfree.methods.base import About, Method, State
from dualfree.methods.safeguard import Safeguard
from dualfree.problem import Evaluation, Problem
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule, implicit_alpha

_DRIFT = 1e-10  # relative distance of w from (1/λn) Σ A_i α_i beyond which w is derived anew
_MEND_EVERY = 16  # epochs between looks at that where they cost a pass of their own


class DfSDCA(Method):
    """For all i of the drawn set, all at the same w.

    ``g_i = φ_i'(A_iᵀw) + α_i``, ``α_i ← α_i − (θ/p_i) g_i``, ``w ← w − Σ θ/(nλp_i) A_i g_i``; or the implicit step
    in place of θ/p_i. It keeps ``w = (1/λn) Σ A_i α_i``. Memory: α and w alone.
    """

    about = About(
        title="dual-free SDCA, any sampling",
        needs="smooth losses whose average is convex; any sampling",
        memory="n",
        cost="O(z) for each example of the set",
        rate="(1 − θ)ᵏ, θ = minᵢ pᵢnλ/(lᵢvᵢ + nλ) for convex losses",
        origin="Csiba, Richtárik 2015; Shalev-Shwartz 2015",
    )

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        wanted = rule.name == "safeguarded" or problem.convexity.known is False
        self._guard = Safeguard(problem) if wanted else None

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        w = self.problem.primal(alpha) if alpha.any() else np.zeros(self.problem.d)
        state = State(w, alpha, centre=intercept)
        if self._guard is not None:
            self._guard.keep(state)
        return state

    def advance(self, state: State, draws: Draws) -> None:
        problem, loss = self.problem, self.problem.loss
        if loss.native is None:
            self._advance_in_python(state, draws)
        else:
            state.moved += kernels.dfsdca(
                problem.examples.shifted(state.centre),
                loss.native,
                self.rule.implicit,
                self.rule.scale,
                1 / (problem.lam * problem.n),
                draws.indices,
                draws.batch_start,
                state.alpha,
                state.w,
                threads=self.n_threads,
            )
        state.iteration += draws.count

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        if self.problem.intercept:
            return self._evaluate_with_intercept(state)
        seen = self.problem.evaluate(state.w, state.alpha, n_threads=self.n_threads)
        if seen.combination is not None and not _apart(state.w, seen.combination):
            return state.w, seen
        if not self._mend(state):
            return state.w, seen
        return state.w, self.problem.evaluate(state.w, state.alpha, n_threads=self.n_threads)

    def evaluate_zero(self, state: State) -> tuple[Floats, Evaluation]:
        problem, loss = self.problem, self.problem.loss
        if not isinstance(loss, BuiltIn) or not loss.has_conjugate:
            return self.evaluate(state)
        zero, point = np.zeros(problem.n), state.w.copy()
        if problem.intercept:
            state.centre = point[-1] = best_intercept(loss, zero, state.centre)
        value = float(loss.weighted(loss.value(zero + state.centre, loss.y)).mean())
        gap = value + float(loss.weighted_conjugate(zero).mean())
        return point, Evaluation(value, np.full(problem.d, np.inf), gap, None)

    def _evaluate_with_intercept(self, state: State) -> tuple[Floats, Evaluation]:
        """Evaluate with the best b for this w."""
        epoch = state.iteration // max(1, round(self.sampling.iterations_per_epoch))
        if epoch % _MEND_EVERY == 0:
            self._mend(state)
        kappa, u = self.problem.examples.constant_value, float(state.w[-1])
        point = state.w.copy()
        point[-1] = 0.0
        z = self.problem.examples.margins(point, n_threads=self.n_threads)
        point[-1] = best_intercept(self.problem.loss, z, state.centre + kappa * u)
        if state.iteration == 0:  # w is what it was given as, and the best b is the best centre to begin with
            state.centre = float(point[-1]) - kappa * u
        return point, self.problem.evaluate(point, state.alpha, z + point[-1], n_threads=self.n_threads)

    def end_epoch(self, state: State) -> None:
        """Move the centre to the present intercept: one step of the method of multipliers."""
        if self._guard is not None:
            self.rule = self._guard.check(state, self.rule)
            self.stalled = self._guard.exhausted
        if self.problem.intercept:
            state.centre += self.problem.examples.constant_value * float(state.w[-1])

    def _mend(self, state: State) -> bool:
        """Derive w anew where rounding, which adds up over long runs, has taken it off ``(1/λn) Σ A_i α_i``."""
        derived = self.problem.primal(state.alpha)
        if not _apart(state.w, derived):
            return False
        state.w[:] = derived
        return True

    def _advance_in_python(self, state: State, draws: Draws) -> None:
        """The same for a loss written in Python: one call of it for each batch."""
        start = np.arange(draws.count + 1) if draws.batch_start is None else draws.batch_start
        examples, inverse = self.problem.examples, 1 / (self.problem.lam * self.problem.n)
        for first, last in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
            batch = draws.indices[first:last]
            if len(batch) == 0:
                continue
            delta = self._delta(batch, examples.margins(state.w, batch, state.centre), state.alpha[batch])
            state.alpha[batch] += delta
            examples.combine(inverse * delta, batch, out=state.w)

    def _delta(self, batch: Indices, z: Floats, alpha: Floats) -> Floats:
        loss = self.problem.loss
        scale = np.broadcast_to(self.rule.scale, (self.problem.n,))[batch]
        if self.rule.implicit:
            return implicit_alpha(loss, batch, z, alpha, scale) - alpha
        derivative = loss.weighted(np.asarray(loss.derivative(z, loss.y[batch]), dtype=np.float64), batch)
        return -scale * (derivative + alpha)


def _apart(w: Floats, other: Floats) -> bool:
    return float(np.linalg.norm(w - other)) > _DRIFT * float(np.linalg.norm(w))
