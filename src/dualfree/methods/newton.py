"""Full-pass second-order methods: Newton's method with a sampled Hessian, and its frugal kin for many features."""

import math
from typing import ClassVar

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.intercept import best_intercept
from dualfree.losses.builtin import BuiltIn
from dualfree.methods.base import About, Method, State
from dualfree.methods.curvature import Base, LimitedMemory, SampledHessian, Scaled
from dualfree.problem import Evaluation, Problem
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule

MOST_FEATURES = 5000  # a 200 MB Hessian; beyond, the stochastic methods are the better choice by far
_SUFFICIENT = 1e-4  # Armijo's share of the decrease that the slope promises
_ROWS_A_FEATURE = 12  # of the first sample behind a Hessian
_GROWTH = 4  # of the sample, each time that its Hessian has proved too rough
_PRODUCTS_A_NONZERO = 6.0  # products of a Hessian that take as long as one nonzero of a pass
_VISITS_A_FEATURE = 100  # of the rough start
_SHORTEST = 2.0**-40
_ROUNDING = 1e-15


class _FullPass(Method):
    """What Newton's method and L-BFGS share: one pass a trial, a line search for O(n), the gap for nothing."""

    takes_all = True
    name: ClassVar[str]

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        problem.require_convex(f"method={self.name!r}")
        if not isinstance(problem.loss, BuiltIn):
            raise ValueError(
                f"method={self.name!r} needs the second derivative of the loss, which {type(problem.loss).__name__} "
                "does not give; method='dfsdca' does not need it."
            )
        self._here: tuple[Floats, Evaluation, Floats] | None = None  # w, what is known of it, margins
        self._model: LimitedMemory | None = None

    def _new_base(self, curvatures: Floats) -> Base:
        """A model of the curvature of P from those of the losses."""
        raise NotImplementedError

    def _outgrown(self, fall: float, decrement: float) -> bool:
        """Whether a better model would pay, after a step that left `fall` of the decrement before it."""
        return False

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        w = self.problem.primal(alpha) if alpha.any() else np.zeros(self.problem.d)
        if self.problem.intercept:
            w[-1] = intercept
        return State(w, alpha)

    def advance(self, state: State, draws: Draws) -> None:
        for _ in range(draws.count):
            self._step(state)
            state.iteration += 1

    def _look(self, w: Floats) -> tuple[Floats, Evaluation, Floats]:
        return self.problem.look(w, n_threads=self.n_threads)

    def _step(self, state: State) -> None:
        w, seen, z = self._here = self._here or self._look(state.w)
        fresh = self._model is None
        model = self._model = self._model or LimitedMemory(self._new_base(self.problem.curvatures(z)))
        d = len(w) - self.problem.intercept
        direction = np.zeros(len(w))
        direction[:d] = -model.solve(seen.gradient[:d])
        slope = float(seen.gradient @ direction)
        there = self._look(w + direction)
        if not self._falls(seen, there[1], slope):
            t = self._shorter(there, direction, slope)
            there, shortened = self._look(w + t * direction), True
        else:
            shortened = False
        if not self._falls(seen, there[1], 0.0):
            self._model = None  # an old model may point the wrong way
            if not fresh:
                return
            # Where all losses are flat, a fresh one may too; but a short enough step downhill never does.
            there = self._look(w - seen.gradient / _largest_curvature(self.problem))
            if not self._falls(seen, there[1], 0.0):
                self.stalled = True
                return
        model.learn((there[0] - w)[:d], (there[1].gradient - seen.gradient)[:d])
        self._here = there
        state.w[:] = there[0]
        left = there[1].gradient[:d]
        decrement = float(left @ model.base.solve(left))
        outgrown = self._outgrown(decrement / max(-slope, 1e-300), decrement / abs(there[1].value))
        if outgrown or shortened:
            self._model = None

    def _falls(self, before: Evaluation, after: Evaluation, slope: float) -> bool:
        """Enough of a decrease; where the values differ by rounding alone, a shorter gradient will do."""
        rounding = _ROUNDING * abs(before.value)
        if abs(slope) > 4 * rounding or not abs(after.value - before.value) <= 4 * rounding:
            return bool(after.value <= before.value + _SUFFICIENT * slope)
        return float(np.linalg.norm(after.gradient)) < float(np.linalg.norm(before.gradient))

    def _shorter(self, there: tuple[Floats, Evaluation, Floats], direction: Floats, slope: float) -> float:
        """A t below 1 at which P falls enough, by halving; the margins of both ends make each try cost O(n).

        Not the minimiser on the way: with kinked losses that likes to end at a kink, again and again. The intercept
        is the best one at each t, and not on a straight line between the ends.
        """
        assert self._here is not None
        w, seen, z = self._here
        problem, loss, d = self.problem, self.problem.loss, len(w) - self.problem.intercept
        intercepts = (float(w[-1]), float(there[0][-1])) if problem.intercept else (0.0, 0.0)
        change = there[2] - z - (intercepts[1] - intercepts[0])
        t, b = 1.0, intercepts[0]
        while t > _SHORTEST:
            t *= 0.5
            at, point = z - intercepts[0] + t * change, (w + t * direction)[:d]
            b = best_intercept(loss, at, b) if problem.intercept else 0.0
            losses = loss.weighted(loss.value(at + b, loss.y))
            if float(losses.mean()) + 0.5 * problem.lam * float(point @ point) <= seen.value + _SUFFICIENT * t * slope:
                break
        return t

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        if self._here is None:
            self._here = self._look(state.w)
        w, seen, z = self._here
        state.w[:] = w
        kernels.loss_derivative(self.problem.loss.native, z, state.alpha)
        np.negative(state.alpha, out=state.alpha)
        return w, seen


class Newton(_FullPass):
    """``w ← w − t B⁻¹ ∇P(w)``, B the Hessian of a random sample of the examples, corrected by what the steps teach.

    B is ``(1/|S|) Σ_{i ∈ S} φ_i'' A_i A_iᵀ + λI`` at some earlier point, with limited-memory BFGS updates since. Where
    it makes too little progress for its cost, it is made anew at the present point and from a sample four times as
    large, up to all examples: then this is Newton's method itself. t is 1, halved until P falls enough.
    The curvature of a loss with kinks is that of one side (semismooth Newton), the intercept is
    eliminated, `α_i` is ``−φ_i'(A_iᵀw)``. Memory: a d × d array. An iteration is one pass.
    """

    name = "newton"
    about = About(
        title="Newton's method with a sampled Hessian",
        needs="built-in convex losses; at most 5,000 features; no sampling",
        memory="n + d²",
        cost="O(z) for each row, and now and then O(z²) for some rows and O(d³)",
        rate="superlinear near the optimum",
        origin="textbooks; sampled: Byrd, Chin, Neveitt, Nocedal 2011; kinks: Qi, Sun 1993",
    )

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        if problem.d > MOST_FEATURES:
            raise ValueError(
                f"method='newton' would need a Hessian of {problem.d} × {problem.d}; it takes at most "
                f"{MOST_FEATURES} features, and method='dfsdca' any number."
            )
        self._sample = sample_size(problem)
        self._samples = 0

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        state = super().start(alpha, intercept)
        if alpha.any():
            return state
        rough = self._look(rough_start(self.problem))
        if self.problem.intercept or rough[1].value < _value_at_zero(self.problem):
            self._here = rough
            state.w[:] = rough[0]
        return state

    def _new_base(self, curvatures: Floats) -> Base:
        n = self.problem.n
        size = min(n, self._sample * _GROWTH**self._samples)
        chosen = np.random.default_rng(self._samples).choice(n, size, replace=False) if size < n else np.arange(n)
        self._samples += 1
        return SampledHessian(self.problem, curvatures, np.sort(chosen))

    def _outgrown(self, fall: float, decrement: float) -> bool:
        if fall >= 1:
            return True
        needed = math.log(max(decrement / 1e-10, 1.0))
        still = needed / -math.log(max(fall, 1e-12))
        size = min(self.problem.n, self._sample * _GROWTH**self._samples)
        return still > 2 + 2 * hessian_passes(self.problem, size)


class LBFGS(_FullPass):
    """``w ← w − t B⁻¹ ∇P(w)``, B from the last moves alone: L-BFGS, for any number of features.

    For one thread dfSDCA is the better choice nearly always; but an iteration is one pass, and passes scale with the
    threads. Memory: some 40 vectors of length d.
    """

    name = "lbfgs"
    about = About(
        title="L-BFGS",
        needs="built-in convex losses; no sampling",
        memory="n + 40d",
        cost="O(z) for each row",
        rate="linear",
        origin="Liu, Nocedal 1989",
    )

    def _new_base(self, curvatures: Floats) -> Base:
        return Scaled(self.problem)


def sample_size(problem: Problem) -> int:
    """Examples behind the first Hessian."""
    return min(problem.n, max(_ROWS_A_FEATURE * problem.d, problem.n // 50))


def hessian_passes(problem: Problem, rows: int) -> float:
    """What a Hessian of so many examples costs, in passes over the data."""
    products = rows * problem.examples.mean_square_nonzeros / 2 + problem.d**3 / 6
    return products / (_PRODUCTS_A_NONZERO * max(1, problem.examples.stored))


def _largest_curvature(problem: Problem) -> float:
    """A bound on the eigenvalues of every Hessian: the mean of those of the examples."""
    return float(np.mean(problem.l * problem.examples.square_norms)) + problem.lam


def _value_at_zero(problem: Problem) -> float:
    return float(np.mean(problem.loss.weighted(problem.loss.value(np.zeros(problem.n), problem.loss.y))))


def rough_start(problem: Problem) -> Floats:
    """A point to begin at: a fraction of an epoch of dfSDCA, with λ of at least 1/n, where its first steps are good."""
    n = problem.n
    count = min(n // 5, _VISITS_A_FEATURE * problem.d)
    w, alpha = np.zeros(problem.d), np.zeros(n)
    order = np.random.default_rng(0).choice(n, count, replace=False)
    largest = 4 * problem.examples.typical_square_norm * float(problem.l.max())
    inverse = 1 / max(problem.lam * n, largest)
    # One curvature for all: at least that of any row that is not four times as long as others.
    scale = np.array([4 * problem.examples.typical_square_norm * inverse])
    kernels.dfsdca(problem.examples.native, problem.loss.native, True, scale, inverse, order, None, alpha, w)
    if problem.intercept:
        w[-1] *= problem.examples.constant_value
    return w
