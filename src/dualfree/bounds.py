"""The theorems as numbers: potentials, and the iterations after which an accuracy is proven."""

import math
from typing import NamedTuple

from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation
from dualfree.inner import inner
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling
from dualfree.steps import theorem_theta


class Bound(NamedTuple):
    """Iterations after which ``E[P(w) − P*] ≤ epsilon`` is proven.

    ``T = (1/θ) · log((L̄ + λ) E⁽⁰⁾/(λε))`` with ``L̄ = max_i l_i‖A_i‖²`` and ``1/θ = max_i (1/p_i + l_i v_i/(λ p_i n))``
    (Theorem 2; for Theorem 1 ``L_i² v_i/(λσ p_i n)`` and ``D⁽⁰⁾``, and where P is σ-strongly convex with σ < λ the rate
    is ``θσ/λ``: then ``T = (λ/σθ) · log(...)``). `covered` tells whether the theorem speaks of this
    very sampling and step; if not, the number is for comparison only.
    """

    theorem: int
    theta: float
    epsilon: float
    potential: float
    iterations: float
    epochs: float
    covered: bool


def unpromised(epsilon: float) -> Bound:
    """That of methods of which no theorem here speaks."""
    return Bound(2, math.nan, epsilon, math.nan, math.inf, math.inf, covered=False)


def potential(problem: Problem, w: Floats, alpha: Floats, w_star: Floats, alpha_star: Floats, theorem: int) -> float:
    """The potential that a theorem drives to zero.

    ``E = (λ/2)‖w−w*‖² + (1/2n) Σ ‖α_i−α_i*‖²/l_i`` (Theorem 2), and
    ``D = (λ/2)‖w−w*‖² + (σ/2n) Σ ‖α_i−α_i*‖²/L_i²`` (Theorem 1; σ is λ where the average loss is convex).
    """
    weights = problem.l if theorem == 2 else problem.L**2 / problem.convexity.sigma
    apart = w - w_star
    return 0.5 * problem.lam * inner(apart, apart) + _weighted_sum(
        problem.examples.square_sums(alpha - alpha_star), weights, problem.n
    )


def initial_potential(
    problem: Problem, w: Floats, alpha: Floats, theorem: int, evaluation: Evaluation | None = None
) -> float:
    """An upper bound on the potential at (w, α) that needs no optimum.

    With a conjugate, and α in its domain: the dual is strongly concave in exactly the metric of E, so
    ``E ≤ D(α*) − D(α) ≤ P(w) − D(α)``. (Outside, `evaluate` moves α into the domain, and its gap says nothing of α.)
    Otherwise: ``‖w−w*‖ ≤ ‖∇P(w)‖/σ``, and α_i* is near ``−φ_i'(z_i)`` by smoothness; Cauchy's ``(a+b)² ≤ 2a²+2b²``
    joins the two. `evaluation` is that of (w, α), if it is at hand.
    """
    evaluation = problem.evaluate(w, alpha) if evaluation is None else evaluation
    if theorem == 2 and (problem.in_domain(alpha) if alpha.any() else math.isfinite(evaluation.duality_gap)):
        return evaluation.duality_gap
    sigma = problem.convexity.sigma
    slope = problem.lam * inner(evaluation.gradient, evaluation.gradient) / sigma**2
    residual = problem.examples.square_sums(problem.derivatives(w) + alpha)
    if theorem == 2:
        return slope + 2 * _weighted_sum(residual, problem.l, problem.n)
    return (0.5 + sigma / problem.lam) * slope + 2 * _weighted_sum(residual, problem.L**2 / sigma, problem.n)


def _weighted_sum(squares: Floats, weights: Floats, n: int) -> float:
    """``(1/2n) Σ squares_i/weights_i``; an example of weight zero has no say in w and does not count."""
    used = weights > 0
    return float((squares[used] / weights[used]).sum()) / (2 * n)


def iteration_bound(bound: BoundSampling, epsilon: float, start: float, theorem: int, *, covered: bool = True) -> Bound:
    """The theorem's bound for one sampling, a target and a (bound on the) potential at the start."""
    problem = bound.problem
    theta = theorem_theta(bound, theorem)
    l, examples = problem.common_l, problem.examples  # noqa: E741  (the paper's name)
    alike = isinstance(l, float)
    smoothness = l * examples.largest_square_norm if alike else float((l * examples.square_norms).max())
    # Two quotients, for λε may underflow where neither λ nor ε does.
    ratio = (smoothness / problem.lam + 1) * (start / epsilon if epsilon > 0 else math.inf) if start > 0 else 0.0
    rate = theta if theorem == 2 else theta * problem.convexity.sigma / problem.lam
    iterations = math.log(ratio) / rate if ratio > 1 else 0.0
    return Bound(
        theorem,
        theta,
        epsilon,
        start,
        iterations,
        iterations / bound.iterations_per_epoch,
        covered and bound.sampling.covered and problem.mu == 0,  # the last step of the proof needs a smooth P
    )
