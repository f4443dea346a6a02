"""dfSDCA, Algorithm 1 of the paper: dual-free SDCA with arbitrary sampling."""

from typing import Any, ClassVar

import numpy as np

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.evaluation import Evaluation
from dualfree.inner import norm
from dualfree.intercept import best_intercept
from dualfree.losses.builtin import BuiltIn
from dualfree.methods.base import About, Glance, Method, Passed, State
from dualfree.methods.drift import Drift
from dualfree.methods.glances import Glances
from dualfree.methods.rescaling import Rescaling, can_rescale
from dualfree.methods.safeguard import Safeguard
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.samplings.restless import RestlessBound
from dualfree.steps import StepRule, implicit_alpha

_DRIFT = 1e-10  # relative distance of w from (1/λn) Σ A_i α_i beyond which w is derived anew
_MEND_EVERY = 16  # epochs between looks at that where they cost a pass of their own


class DfSDCA(Method):
    """For all i of the drawn set, all at the same w.

    ``g_i = φ_i'(A_iᵀw) + α_i``, ``α_i ← α_i − (θ/p_i) g_i``, ``w ← w − Σ θ/(nλp_i) A_i g_i``; or the implicit step
    in place of θ/p_i. It keeps ``w = (1/λn) Σ A_i α_i``. Memory: α and w alone. With μ > 0 it is the same with
    ``ᾱ = (1/λn) Σ A_i α_i`` in the place of w, and ``w = soft(ᾱ, μ/λ)``.
    """

    takes_l1 = True
    about = About(
        title="dual-free SDCA, any sampling",
        needs="smooth losses whose average is convex; any sampling; μ ≥ 0",
        memory="n",
        cost="O(z) for each example of the set",
        rate="(1 − θ)ᵏ, θ = minᵢ pᵢnλ/(lᵢvᵢ + nλ) for convex losses",
        origin="Csiba, Richtárik 2015; Shalev-Shwartz 2015",
    )

    takes_outputs = True
    copies: ClassVar[bool] = False  # whether threads share α, see `Rescaling`

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        if problem.intercept and not problem.loss.all_convex:
            raise ValueError(
                "method='dfsdca' has no theorem for negative weights with an intercept, which is not penalised; "
                "method='newton' and method='lbfgs' take them."
            )
        wanted = rule.name == "safeguarded" or problem.convexity.known is False
        self._guard = Safeguard(problem) if wanted else None
        self._glances = Glances(problem)
        self._rescaling = self._rescaling_or_refusal() if rule.name == "rescaled" else None

    def start(self, alpha: Floats, intercept: Any = 0.0) -> State:
        from_zero = not alpha.any()
        w = memory.zeros(self.problem.d) if from_zero else self.problem.combination(alpha).ravel()
        state = State(w, alpha, centre=intercept, drift=Drift(at=0 if from_zero else -1), from_zero=from_zero)
        if self._guard is not None:
            self._guard.keep(state)
        return state

    def advance(self, state: State, draws: Draws) -> None:
        if self.problem.loss.native is None:
            self._advance_in_python(state, draws)
        else:
            moved = take_steps(self.problem, self.problem.lam, self.rule, state, draws, self.n_threads)
            state.drift.add(state.iteration, state.iteration + draws.count, len(draws.indices), moved)
            state.moved += moved
        state.iteration += draws.count

    @property
    def takes_rounds(self) -> bool:
        own = type(self).advance is DfSDCA.advance  # and not the steps of a method that derives from this one
        return own and self.problem.loss.native is not None and self.problem.mu == 0 and self.problem.examples.rounds

    def advance_by_rounds(self, state: State, rounds: Any) -> list[Passed]:
        step = native_step(self.problem, self.problem.lam, self.rule)
        rescaling = None if self._rescaling is None else self._rescaling.told(state)
        outlook = self._glances.by_kernel(rounds.terms)
        moved, unit, sure, became, looks = self.problem.examples.dfsdca_rounds(
            *step, rounds.native, rescaling, state.centre, state.alpha, state.w, outlook
        )
        asked = rounds.end(unit, sure, len(moved))
        take_in(state, asked, moved, moved)
        if self._rescaling is not None:
            self._rescaling.take_in(state, became)
        return self._glances.take_in(state, asked, moved, looks)

    def _rescaling_or_refusal(self) -> Rescaling:
        bound, loss = self.sampling, self.problem.loss
        if isinstance(bound, RestlessBound) and self.takes_rounds and can_rescale(self.problem):
            return Rescaling(bound, self.copies)
        raise ValueError(
            "step='rescaled' takes method='dfsdca' or 'dfsdca-copies', sampling='restless', a built-in loss of one "
            f"output and no L1 part, not {type(self).__name__} with {bound.sampling!r}, {type(loss).__name__} and "
            f"mu={self.problem.mu:g}; step='implicit' takes all of them."
        )

    @property
    def ends_epochs(self) -> bool:
        return self._guard is not None or self.problem.intercept

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        if self.problem.intercept:
            return self._evaluate_with_intercept(state)
        point = self.problem.point(state.w)
        seen = self.problem.evaluate(point, state.alpha, self._glances.margins(state), n_threads=self.n_threads)
        if seen.combination is not None and not _drifted(state.w, seen):
            return point, seen
        if not self._mend(state):
            return point, seen
        point = self.problem.point(state.w)
        return point, self.problem.evaluate(point, state.alpha, n_threads=self.n_threads)

    def glance(self, state: State) -> Glance | None:
        return self._glances.at_all(state, self.n_threads)

    def peek(self, state: State) -> Glance | None:
        return self._glances.at_some(state)

    def evaluate_zero(self, state: State) -> tuple[Floats, Evaluation]:
        problem, loss = self.problem, self.problem.loss
        if not isinstance(loss, BuiltIn) or not loss.has_conjugate:
            return self.evaluate(state)
        seen = problem.evaluate_zero()
        if not problem.intercept:
            return state.w, seen
        point, zero = memory.copy(state.w), np.zeros(problem.examples.total)
        state.centre = point[problem.free] = best_intercept(loss, zero, state.centre)
        value = float(loss.values(problem.examples.shift(zero, state.centre)).mean())
        return point, seen._replace(value=value, duality_gap=seen.duality_gap - seen.value + value)

    def _evaluate_with_intercept(self, state: State) -> tuple[Floats, Evaluation]:
        """Evaluate with the best b for this w."""
        epoch = state.iteration // max(1, round(self.sampling.iterations_per_epoch))
        if epoch % _MEND_EVERY == 0:
            self._mend(state)
        problem, free = self.problem, self.problem.free
        point, moved = problem.point(state.w.copy()), problem.examples.constant_value * state.w[free]
        point[free] = 0.0
        z = problem.examples.margins(point, n_threads=self.n_threads)
        point[free] = best_intercept(problem.loss, z, state.centre + moved)
        if state.iteration == 0:  # w is what it was given as, and the best b is the best centre to begin with
            state.centre = point[free] - moved
        z = problem.examples.shift(z, point[free])
        return point, problem.evaluate(point, state.alpha, z, n_threads=self.n_threads)

    def end_epoch(self, state: State) -> None:
        """Move the centre to the present intercept: one step of the method of multipliers."""
        if self._guard is not None:
            self.rule = self._guard.check(state, self.rule)
            self.stalled = self._guard.exhausted
        if self.problem.intercept:
            state.centre = state.centre + self.problem.examples.constant_value * state.w[self.problem.free]

    def _mend(self, state: State) -> bool:
        """Derive w anew where rounding, which adds up over long runs, has taken it off ``(1/λn) Σ A_i α_i``."""
        derived = self.problem.combination(state.alpha).ravel()
        if not apart(state.w, derived):
            return False
        state.w[:] = derived
        state.drift = Drift()
        return True

    def _advance_in_python(self, state: State, draws: Draws) -> None:
        """The same for a loss written in Python: one call of it for each batch."""
        start = np.arange(draws.count + 1) if draws.batch_start is None else draws.batch_start
        examples, inverse = self.problem.examples, 1 / (self.problem.lam * self.problem.n)
        for first, last in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
            batch = draws.indices[first:last]
            if len(batch) == 0:
                continue
            at = examples.positions(batch)
            z = examples.margins(self.problem.point(state.w), batch, state.centre)
            delta = self._delta(batch, z, state.alpha[at])
            state.alpha[at] += delta
            examples.combine(inverse * delta, batch, out=state.w)

    def _delta(self, batch: Indices, z: Floats, alpha: Floats) -> Floats:
        loss = self.problem.loss
        scale = np.broadcast_to(self.rule.scale, (self.problem.n,))[batch]
        if self.rule.implicit:
            return implicit_alpha(loss, batch, z, alpha, scale) - alpha
        return -self.problem.examples.spread(scale, batch) * (loss.derivatives(z, batch) + alpha)


def take_in(state: State, asked: list[int], moved: list[float], walked: list[float], roundings: int = 1) -> None:
    """Note what α `moved` from one question to the next, at the iterations `asked`, and what its visits had `walked`.

    Each visit stands for so many `roundings` of w.
    """
    for k, iteration in enumerate(asked):
        state.drift.add(state.iteration, iteration, roundings * (iteration - state.iteration), walked[k])
        state.moved = moved[k] if k > 0 else state.moved + moved[k]
        state.iteration = iteration


def native_step(problem: Problem, lam: float, rule: StepRule) -> tuple[Any, float | None, Floats, float]:
    """The step as the kernels take it, with `lam` for λ."""
    return problem.loss.native, rule.slack, rule.scale, 1 / (lam * problem.n)


def take_steps(problem: Problem, lam: float, rule: StepRule, state: State, draws: Draws, n_threads: int) -> float:
    """The steps of `draws` in the kernel, with `lam` for λ; the sum of the squared moves of α."""
    step = native_step(problem, lam, rule)
    return steps_on(problem.examples, step, problem.mu / lam, draws, state, state.alpha, n_threads)


def steps_on(
    examples: Any, step: tuple[Any, ...], threshold: float, draws: Draws, state: State, alpha: Floats, n_threads: int
) -> float:
    """The same on examples of which `alpha` is the α; `threshold` is μ/λ."""
    if threshold == 0:
        return float(examples.dfsdca(*step, draws, state.centre, alpha, state.w, n_threads=n_threads))
    visits = (draws.indices, draws.batch_start, alpha, state.w)
    return float(kernels.proximal(examples.shifted(state.centre), *step, threshold, *visits, threads=n_threads))


def _drifted(w: Floats, seen: Evaluation) -> bool:
    if seen.squares is not None:
        return seen.squares.apart > _DRIFT**2 * seen.squares.w
    return seen.combination is not None and apart(w, seen.combination)


def apart(w: Floats, other: Floats) -> bool:
    """Whether two vectors that should be equal differ by more than rounding may do."""
    return norm(w - other) > _DRIFT * norm(w)
