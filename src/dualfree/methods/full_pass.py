"""What the full-pass second-order methods share: one pass a trial, a line search for O(n), the gap for nothing."""

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from dualfree import memory
from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation, Look
from dualfree.inner import inner, norm
from dualfree.intercept import best_intercept
from dualfree.losses.builtin import BuiltIn
from dualfree.methods.base import Method, State
from dualfree.methods.curvature import Base, LimitedMemory
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule

_SUFFICIENT = 1e-4  # Armijo's share of the decrease that the slope promises
_SHORTEST = 2.0**-40
_ROUNDING = 1e-15
_BLURRED = 16.0  # times the rounding of a pass may be in what is known without one
_STEPS = 3  # over which the fall of the decrement is averaged, for single steps tell little


class FullPass(Method):
    """What Newton's method and L-BFGS share: one pass a trial, a line search for O(n), the gap for nothing."""

    takes_all = True
    derives_alpha = True
    resumable = False  # curvature and the last point are objects
    name: ClassVar[str]
    needs_convex: ClassVar[bool] = True  # P, not every φ_i

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        if self.needs_convex and problem.convexity.known is False:
            problem.require_convex(f"method={self.name!r}")
        if not isinstance(problem.loss, BuiltIn):
            raise ValueError(
                f"method={self.name!r} needs the second derivative of the loss, which {type(problem.loss).__name__} "
                "does not give; method='dfsdca' does not need it."
            )
        if not math.isfinite(problem.examples.typical_square_norm):
            raise ValueError("The entries of X are too large to be squared; scale X down.")
        self._here: Look | None = None
        self._used: list[Look] = []  # whose memory can be had again: fresh memory costs a fault a page
        self._model: LimitedMemory | None = None
        self._direction: Floats | None = None  # of the next step, if it is known already
        self._decrements: list[float] = []  # by the present model, at the last points

    @abstractmethod
    def _new_base(self, margins: Floats) -> Base:
        """A model of the curvature of P where the examples have these margins."""

    def _outgrown(self, fall: float, decrement: float, shortened: bool) -> bool:
        """Whether another model would pay, after steps with it, the last of which left `fall` of the decrement each.

        The last one may have been `shortened`. The decrement is ``gᵀB⁻¹g``, twice what the next step promises. By
        default no: what a step taught is kept, above all if that was too long.
        """
        return False

    def start(self, alpha: Floats, intercept: Any = 0.0) -> State:
        from_zero = memory.all_zero(alpha)
        w = memory.zeros(self.problem.d) if from_zero else self.problem.primal(alpha).ravel()
        w[self.problem.free] = intercept
        return State(w, alpha, from_zero=from_zero)

    def advance(self, state: State, draws: Draws) -> None:
        for _ in range(draws.count):
            self._step(state)
            state.iteration += 1

    def _look(self, w: Floats) -> Look:
        reuse = self._used.pop() if self._used else None
        return self.problem.look(w, n_threads=self.n_threads, reuse=reuse)

    def _step(self, state: State) -> None:
        here = self._here = self._here or self._look(state.w)
        w, seen = here.w, here.evaluation
        fresh = self._model is None
        model = self._model = self._model or LimitedMemory(self._new_base(here.margins))
        if fresh or self._direction is None:
            self._direction = self._downhill(model, here)
        direction, self._direction = self._direction, None
        slope = inner(seen.gradient, direction)
        there = self._try(here, direction)
        if not self._falls(seen, there.evaluation, slope):
            t = self._shorter(there, direction, slope)
            self._used.append(there)
            there, shortened = self._look(w + t * direction), True
        else:
            shortened = False
        if not self._falls(seen, there.evaluation, 0.0):
            self._model = None  # an old model may point the wrong way
            self._used.append(there)
            if not fresh:
                return
            # Where all losses are flat, a fresh one may too; but a short enough step downhill never does.
            there = self._look(w - seen.gradient / _largest_curvature(self.problem))
            if not self._falls(seen, there.evaluation, 0.0):
                self.stalled = True
                return
        d = self.problem.free.start
        model.learn((there.w - w)[:d], (there.evaluation.gradient - seen.gradient)[:d])
        self._used.append(here)
        self._here = there
        state.w[:] = there.w
        self._decrements = [-slope] if fresh else self._decrements[-_STEPS:]
        if there.evaluation.duality_gap > self.tol * abs(there.evaluation.value):  # else this was the last step
            self._look_ahead(model, there, shortened)

    def _try(self, here: Look, direction: Floats) -> Look:
        """A look at the end of a whole step; where the curvature is the same everywhere, at the best end.

        With what steps teach, these are then the steps of conjugate gradients, preconditioned by the base.
        """
        there = self._look(here.w + direction)
        if not self.problem.loss.quadratic:
            return there
        least = self.problem.least_on_line(here, there)
        return least if least.blur <= _BLURRED else self._look(least.w)

    def _downhill(self, model: LimitedMemory, here: Look) -> Floats:
        """``−B⁻¹ ∇P(w)``, and nothing for the intercept, which follows."""
        d = self.problem.free.start
        direction = np.zeros(len(here.w))
        direction[:d] = -model.solve(here.evaluation.gradient[:d])
        return direction

    def _look_ahead(self, model: LimitedMemory, here: Look, shortened: bool) -> None:
        """The direction of the next step, and whether that is good enough for a step."""
        direction = self._downhill(model, here)
        decrement = max(0.0, -inner(here.evaluation.gradient, direction))
        self._decrements.append(decrement)
        fall = (decrement / max(self._decrements[0], 1e-300)) ** (1 / (len(self._decrements) - 1))
        relative = decrement / max(abs(here.evaluation.value), 1e-300)
        if self._outgrown(fall, relative, shortened):
            self._model = None
        else:
            self._direction = direction

    def _falls(self, before: Evaluation, after: Evaluation, slope: float) -> bool:
        """Enough of a decrease; where the values differ by rounding alone, a shorter gradient will do."""
        rounding = _ROUNDING * abs(before.value)
        if abs(slope) > 4 * rounding or not abs(after.value - before.value) <= 4 * rounding:
            return bool(after.value <= before.value + _SUFFICIENT * slope)
        return norm(after.gradient) < norm(before.gradient)

    def _shorter(self, there: Look, direction: Floats, slope: float) -> float:
        """A t below 1 at which P falls enough, by halving; the margins of both ends make each try cost O(n).

        Not the minimiser on the way: with kinked losses that likes to end at a kink, again and again. The intercept
        is the best one at each t, and not on a straight line between the ends.
        """
        assert self._here is not None
        w, seen, z = self._here.w, self._here.evaluation, self._here.margins
        problem, loss, examples, free = self.problem, self.problem.loss, self.problem.examples, self.problem.free
        before, change, b = z, there.margins - z, w[free]
        if problem.intercept:
            before, change = examples.shift(z, -b), examples.shift(change, b - there.w[free])
        t = 1.0
        while t > _SHORTEST:
            t *= 0.5
            at, point = before + t * change, (w + t * direction)[: free.start]
            if problem.intercept:
                b = best_intercept(loss, at, b)
                at = examples.shift(at, b)
            losses = loss.values(at)
            if float(losses.mean()) + 0.5 * problem.lam * inner(point, point) <= seen.value + _SUFFICIENT * t * slope:
                break
        return t

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        if self._here is None:
            self._here = self._look(state.w)
        state.w[:] = self._here.w
        return self._here.w, self._here.evaluation

    def write_alpha(self, state: State, out: Floats) -> None:
        """Not at every point: n numbers, of which the last are kept."""

    def derive_alpha(self, w: Floats, out: Floats) -> None:
        """``α_i = −φ_i'(A_iᵀw)``: at hand, unless the best point is not the last one."""
        if self._here is None or not (self._here.w is w or np.array_equal(self._here.w, w)):
            self._here = self._look(w)
        np.negative(self._here.derivatives, out=out)


def _largest_curvature(problem: Problem) -> float:
    """A bound on the eigenvalues of every Hessian: the mean of those of the examples."""
    return float(np.mean(problem.l * problem.examples.square_norms)) + problem.lam
