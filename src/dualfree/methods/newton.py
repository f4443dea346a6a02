"""Newton's method with a sampled Hessian, and its frugal kin for many features, L-BFGS."""

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.examples import Rows
from dualfree.methods.base import About, State
from dualfree.methods.curvature import Base, RootDiagonal, SampledHessian, Scaled
from dualfree.methods.full_pass import FullPass
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule

MOST_FEATURES = 5000  # a 200 MB Hessian; beyond, the stochastic methods are the better choice by far
_ROWS_A_FEATURE = (12, 40)  # of the first sample behind a Hessian
_MORE = 2.0  # passes that more of them may cost
_GROWTH = 4  # of the sample, each time that its Hessian has proved too rough
_FACTOR = 0.01  # what a Cholesky factor costs for each of d³, in entries of a pass
_VISITS_A_FEATURE = 200  # of the rough start, but not more than half an epoch
# Its λn is no smaller than so many times the curvature of an example: with fewer visits, and with as many as that.
_CAUTION = (4.0, 16.0)
_FEWEST, _PASSES = 2.0, 0.3  # beside the Hessian: once, and for each factor e of the tolerance
ROOT = 0.45  # power of the condition number that the full-pass methods feel


class Newton(FullPass):
    """``w ← w − t B⁻¹ ∇P(w)``, B the Hessian of a random sample of the examples, corrected by what the steps teach.

    B is ``(1/|S|) Σ_{i ∈ S} φ_i'' A_i A_iᵀ + λI`` at some earlier point, with limited-memory BFGS updates since. Where
    it makes too little progress for its cost, it is made anew at the present point and from a sample four times as
    large, up to all examples: then this is Newton's method itself. t is 1, halved until P falls enough.
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

    @cached_property
    def _sample(self) -> int:
        return plan(self.problem, self.tol).sample

    def start(self, alpha: Floats, intercept: Any = 0.0) -> State:
        state = super().start(alpha, intercept)
        all_at_once = self.problem.loss.quadratic and self._sample == self.problem.n  # the first step is the last
        if alpha.any() or not self.problem.loss.all_convex or all_at_once:
            return state
        rough = self._look(rough_start(self.problem))
        if self.problem.intercept or rough.evaluation.value < self.problem.loss.at_zero(self.problem.examples.total)[0]:
            self._here = rough
            state.w[:] = rough.w
        else:
            self._used.append(rough)
        return state

    def _new_base(self, margins: Floats) -> Base:
        chosen = spread_sample(self.problem.n, self._size(self._growths), self._samples)
        self._samples += 1
        return SampledHessian(self.problem, margins, chosen, self._here)

    def _size(self, growths: int) -> int:
        if growths > 0 and self.problem.loss.quadratic:
            return self.problem.n  # the curvature is the same everywhere: to know it is to be done
        return int(min(self.problem.n, self._sample * _GROWTH**growths))

    def _outgrown(self, fall: float, decrement: float, steps: int) -> bool:
        if fall < 1:
            if steps == 1:  # far from the optimum it is not the sample that limits a step
                return False
            still = math.log(max(10 * decrement / max(self.tol, 1e-12), 1.0)) / -math.log(max(fall, 1e-12))
            if still <= 2 + 2 * hessian_passes(self.problem, self._size(self._growths + 1)):
                return False
        self._growths += 1
        return True


class LBFGS(FullPass):
    """``w ← w − t B⁻¹ ∇P(w)``, B from the last moves and a diagonal: L-BFGS, for any number of features.

    For one thread dfSDCA is the better choice nearly always; but an iteration is one pass, and passes scale with the
    threads. Memory: some 40 vectors of length d.
    """

    name = "lbfgs"
    needs_convex = False  # moves along which P is not convex are not remembered, and the line search never climbs
    about = About(
        title="L-BFGS",
        needs="built-in losses; no sampling",
        memory="n + 40d",
        cost="O(z) for each row",
        rate="linear",
        origin="Liu, Nocedal 1989",
    )

    takes_outputs = True

    def _new_base(self, margins: Floats) -> Base:
        problem = self.problem
        plain = type(problem.examples) is Rows and problem.loss.all_convex
        return RootDiagonal(problem, margins) if plain else Scaled(problem)


class Plan(NamedTuple):
    """Examples behind the first Hessian, and passes beside it."""

    sample: int
    passes: float


def plan(problem: Problem, tol: float) -> Plan:
    """How to begin, by what it will cost: where the curvature never changes, all examples may be best, and one step."""
    sample, digits = sample_size(problem), math.log(1 / min(max(tol, 1e-14), 0.1))
    passes = _FEWEST + _PASSES * digits * float((1 + problem.hardness) ** ROOT)
    if problem.loss.quadratic:
        saved = passes - _FEWEST + hessian_passes(problem, sample)
        if hessian_passes(problem, problem.n) <= saved:
            return Plan(problem.n, _FEWEST)
    return Plan(sample, passes)


def sample_size(problem: Problem) -> int:
    """Examples that tell the curvature: some for each feature, more where they cost little beside a pass.

    All of them where some are concave, for of a sample these may be too many.
    """
    if not problem.loss.all_convex:
        return problem.n
    examples = problem.examples
    affordable = int(_MORE * examples.products / max(1.0, examples.hessian_entries))
    least, most = _ROWS_A_FEATURE
    return min(problem.n, max(least * examples.d, min(most * examples.d, affordable), problem.n // 50))


def spread_sample(n: int, size: int, seed: int) -> Indices:
    """One example of each of `size` runs of about n/size, at random: in order, and none twice.

    Examples
    --------
    >>> spread_sample(10, 5, seed=0) // 2
    array([0, 1, 2, 3, 4])
    """
    starts = (np.arange(size + 1) * (n / size)).astype(np.int64)  # whole numbers would take ten times as long
    starts[-1] = n
    lengths = np.diff(starts)
    within = (np.random.default_rng(seed).random(size) * lengths).astype(np.int64)
    return np.asarray(starts[:-1] + np.minimum(within, lengths - 1))


def hessian_passes(problem: Problem, rows: int) -> float:
    """What a Hessian of so many examples costs, in passes over the data."""
    entries = rows * problem.examples.hessian_entries + _FACTOR * problem.d**3
    return entries / max(1, problem.examples.products)


def rough_start(problem: Any) -> Floats:
    """A point to begin at: a fraction of an epoch of dfSDCA, with a λ that is large enough for its first steps."""
    n = problem.n
    count = min(n // 2, _VISITS_A_FEATURE * problem.d)
    w, alpha = memory.zeros(problem.d), memory.zeros(problem.examples.total)
    draws = Draws(spread_sample(n, count, 0)[kernels.draw_permutation(0, 0, count)])
    typical = problem.examples.typical_square_norm
    caution = _CAUTION[count == _VISITS_A_FEATURE * problem.d]
    inverse = 1 / max(problem.lam * n, caution * typical * float(problem.l.max()))
    # One curvature for all: at least that of any row that is not four times as long as others.
    scale = np.array([4 * typical * inverse])
    problem.examples.dfsdca(problem.loss.native, True, scale, inverse, draws, 0.0, alpha, w)
    if problem.intercept:
        w[problem.free] *= problem.examples.constant_value
    return w
