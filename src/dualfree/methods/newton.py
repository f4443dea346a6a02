"""Newton's method with a sampled Hessian, and its frugal kin for many features, L-BFGS."""

import math
from functools import cached_property
from typing import Any

from dualfree.arrays import Floats
from dualfree.examples import Rows
from dualfree.methods.base import About, State
from dualfree.methods.curvature import Base, RootDiagonal, SampledHessian, Scaled
from dualfree.methods.full_pass import FullPass
from dualfree.methods.newton_plan import (
    MOST_FEATURES,
    all_curved,
    curved_sample,
    hessian_passes,
    plan_newton,
    rough_start,
    spread_sample,
)
from dualfree.methods.strata import sampled_hessian
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling
from dualfree.steps import StepRule

_GROWTH = 4  # of the sample, each time that its Hessian has proved too rough
_DISTINCT = 2  # times as many examples are behind so many more draws, for those with much curvature are drawn again
_MOST_DRAWS = 8  # for each example: those with an eighth of the mean curvature are all there
_DOUBT = 0.25  # passes that a new Hessian must save beside its price


class Newton(FullPass):
    """``w ← w − t B⁻¹ ∇P(w)``, B the Hessian of a random sample of the examples, corrected by what the steps teach.

    B is ``Σ_{i ∈ S} c_i A_i A_iᵀ + λI`` at some earlier point, with limited-memory BFGS updates since. Examples are
    drawn by their curvature ``φ_i''``, and c is such that the sum has the right mean (see `curved_sample`). Where
    B makes too little progress for its cost, it is made anew at the present point and from a sample four times as
    large: with all examples this is Newton's method itself. t is 1, halved until P falls enough.
    The curvature of a loss with kinks is that of one side (semismooth Newton), the intercept is
    eliminated, `α_i` is ``−φ_i'(A_iᵀw)``. Memory: a d × d array. An iteration is one pass.
    """

    name = "newton"
    takes_outputs = True
    about = About(
        title="Newton's method with a sampled Hessian",
        needs="built-in losses, P convex; at most 5,000 weights; no sampling",
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
                f"{MOST_FEATURES} weights, and method='dfsdca' any number."
            )
        self._samples = self._growths = 0
        self._price = 0.0  # passes that a better Hessian than the present one would cost

    @cached_property
    def _sample(self) -> int:
        return plan_newton(self.problem, self.tol).sample

    def start(self, alpha: Floats, intercept: Any = 0.0) -> State:
        state = super().start(alpha, intercept)
        all_at_once = self.problem.loss.quadratic and self._sample == self.problem.n  # the first step is the last
        if not state.from_zero or not self.problem.loss.all_convex or all_at_once:
            return state
        rough = self._look(rough_start(self.problem))
        if self.problem.intercept or rough.evaluation.value < self.problem.loss.at_zero(self.problem.examples.total)[0]:
            self._here = rough
            state.w[:] = rough.w
        else:
            self._used.append(rough)
        return state

    def _new_base(self, margins: Floats) -> Base:
        problem, size, seed = self.problem, self._size(self._growths), self._samples
        threads = self.n_threads
        self._samples += 1
        self._price = hessian_passes(problem, min(problem.n, self._size(self._growths + 1)))
        if type(problem.examples) is not Rows or (size == problem.n and not problem.loss.all_convex):
            hessian = problem.hessian(margins, spread_sample(problem.n, size, seed), n_threads=threads)
            return SampledHessian(problem, hessian, rough=size < problem.n, n_threads=threads)
        if size == problem.n:
            every = all_curved(problem, margins)
            self._price = hessian_passes(problem, len(every.indices))
            hessian = problem.weighted_hessian(every.weights, every.indices, n_threads=threads)
            return SampledHessian(problem, hessian, rough=True, n_threads=threads)
        sample = curved_sample(problem, margins, size, seed)
        if self._by_curvature:  # and what is drawn next will be much like this
            more = min(problem.n, _DISTINCT * len(sample.indices))
            self._price = hessian_passes(problem, more, problem.examples.hessian_entries_of(sample.indices))
        hessian = sampled_hessian(problem, margins, sample, self._here, threads)
        return SampledHessian(problem, hessian, rough=True, n_threads=threads)

    @property
    def _by_curvature(self) -> bool:
        """Whether examples are drawn by their curvature: it must differ, and be one number for each."""
        return type(self.problem.examples) is Rows and not self.problem.loss.quadratic

    def _size(self, growths: int) -> int:
        """Examples of a sample after so many growths; or draws, of which one example may be several."""
        n, first = self.problem.n, self._sample
        if first == n or (growths > 0 and self.problem.loss.quadratic):
            return n  # where the curvature is the same everywhere, to know it is to be done
        return int(min(_MOST_DRAWS * n if self._by_curvature else n, first * _GROWTH**growths))

    def _outgrown(self, fall: float, decrement: float, shortened: bool) -> bool:
        # With a curvature that never changes, nothing but the sample can make a step too long.
        if fall < 1 and not (shortened and self.problem.loss.quadratic):
            digits = math.log(max(10 * decrement / max(self.tol, 1e-12), 1.0))
            # Far from the optimum a new Hessian leaves about the square of what this one does, and near it what is due
            # to its sample.
            size = self._size(self._growths + 1)
            blurred = 0.0 if size == self.problem.n else self.problem.d / size
            better = min(fall, max(fall * fall, blurred))
            saved = digits / -math.log(max(fall, 1e-12)) - max(1.0, digits / -math.log(max(better, 1e-12)))
            if saved <= self._price + _DOUBT:
                return shortened  # then the curvature is another here, and a sample of the same size will do
        self._growths += 1
        return True


class LBFGS(FullPass):
    """``w ← w − t B⁻¹ ∇P(w)``, B from the last moves and a diagonal: L-BFGS, for any number of features.

    For one thread dfSDCA is the better choice nearly always; but an iteration is one pass, and passes scale with the
    threads. Memory: 100 vectors of length d, and where d is more than 20,000, 40.
    """

    name = "lbfgs"
    needs_convex = False  # moves along which P is not convex are not remembered, and the line search never climbs
    about = About(
        title="L-BFGS",
        needs="built-in losses; no sampling",
        memory="n + 100d; 40d where d > 20,000",
        cost="O(z) for each row",
        rate="linear",
        origin="Liu, Nocedal 1989",
    )

    takes_outputs = True

    def _new_base(self, margins: Floats) -> Base:
        problem = self.problem
        plain = type(problem.examples) is Rows and problem.loss.all_convex
        return RootDiagonal(problem, margins) if plain else Scaled(problem)
