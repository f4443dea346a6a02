"""Bounds: the potential is bounded without an optimum, and certificates bound the suboptimality."""

import copy
from functools import cache

import numpy as np
import pytest

import dualfree as df
from dualfree.bounds import initial_potential, iteration_bound, potential
from dualfree.paper.theorems import average_convex_problem, optimum
from dualfree.result import certificate
from dualfree.samplings.base import BoundSampling
from dualfree.steps import step_rule, theorem_theta
from helpers.problems import LOSSES, make_loss
from helpers.vectors import EVERY_LOSS, every_twins


@cache
def solved(name, weighted):
    problem, _ = every_twins(name, seed=5, n=20, weighted=weighted)
    w, alpha = optimum(problem)
    return problem, w.ravel(), alpha


def starts(problem, alpha_star):
    """Zero, points in and far out of the conjugates' domains, the optimum's neighbourhood, and the optimum."""
    rng = np.random.default_rng(0)
    size = problem.examples.total
    yield np.zeros(size)
    for scale in (0.1, 1.0, 30.0):
        yield scale * rng.normal(size=size)
    yield alpha_star + 1e-4 * rng.normal(size=size)
    yield alpha_star.copy()


def without_conjugate(problem):
    """The same problem with a loss that keeps its conjugate to itself."""
    silent, kind = copy.copy(problem), type(problem.loss)
    silent.loss = copy.copy(problem.loss)
    silent.loss.__class__ = type("Silent", (kind,), {"has_conjugate": False})
    return silent


@pytest.mark.parametrize("theorem", [1, 2])
@pytest.mark.parametrize("conjugate", [True, False])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", EVERY_LOSS)
def test_initial_potential_bounds_the_potential(name, weighted, conjugate, theorem):
    problem, w_star, alpha_star = solved(name, weighted)
    known = problem if conjugate else without_conjugate(problem)
    assert known.loss.has_conjugate == conjugate
    for alpha in starts(problem, alpha_star):
        w = problem.primal(alpha).ravel()
        true = potential(problem, w, alpha, w_star, alpha_star, theorem)
        assert initial_potential(known, w, alpha, theorem) >= true * (1 - 1e-9) - 1e-15


@pytest.mark.parametrize("theorem", [1, 2])
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_initial_potential_where_the_residuals_are_all_there_is(name, theorem):
    """With rows near zero w stays near zero, the gradient is small, and only the α part can bound the potential."""
    full, _, _ = solved(name, False)
    used = full.norms > 0
    tiny = df.Problem(1e-6 * full.examples.X[used], make_loss(name, full.loss.y[used]), full.lam)
    problem = without_conjugate(tiny)
    alpha_star = -problem.derivatives(np.zeros(problem.d))
    for alpha in starts(problem, alpha_star):
        w = problem.primal(alpha)
        true = potential(problem, w, alpha, problem.primal(alpha_star), alpha_star, theorem)
        assert initial_potential(problem, w, alpha, theorem) >= true * (1 - 1e-4) - 1e-9


def test_initial_potential_with_negative_weights():
    problem = average_convex_problem()
    w_star, alpha_star = optimum(problem)
    for alpha in starts(problem, alpha_star):
        w = problem.primal(alpha)
        true = potential(problem, w, alpha, w_star, alpha_star, 1)
        assert initial_potential(problem, w, alpha, 1) >= true * (1 - 1e-9) - 1e-15


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", EVERY_LOSS)
def test_certificate_bounds_the_suboptimality_everywhere(name, weighted):
    problem, w_star, alpha_star = solved(name, weighted)
    best = problem.value(w_star)
    rng = np.random.default_rng(1)
    for alpha in starts(problem, alpha_star):
        for w in (problem.primal(alpha).ravel(), rng.normal(size=problem.d), w_star):
            proof = certificate(problem, problem.evaluate(w, alpha))
            apart = proof.value - best
            slack = 1e-14 * (1 + abs(best))
            assert proof.duality_gap >= apart - slack
            assert proof.gradient_bound >= apart - slack
            assert proof.gap == min(proof.duality_gap, proof.gradient_bound)
    at_optimum = certificate(problem, problem.evaluate(w_star, alpha_star))
    assert at_optimum.gap < 1e-12


def test_certificate_with_negative_weights_rests_on_the_gradient():
    problem = average_convex_problem()
    w_star, _ = optimum(problem)
    rng = np.random.default_rng(2)
    for _ in range(20):
        w = rng.normal(size=problem.d)
        proof = certificate(problem, problem.evaluate(w, np.zeros(problem.n)))
        assert proof.duality_gap == np.inf
        assert proof.gap == proof.gradient_bound >= problem.value(w) - problem.value(w_star)
        assert proof.average_convex  # by the eigenvalues of its curvature
        assert "assumed" not in proof.sentence


@pytest.mark.parametrize("theorem", [1, 2])
def test_iteration_bound_is_the_formula(theorem):
    problem, _, _ = solved("logistic", False)
    bound = df.samplings.Nice(3).bind(problem)
    promise = iteration_bound(bound, epsilon=1e-5, start=0.7, theorem=theorem)
    smoothness = (problem.l * problem.norms**2).max()
    extra = problem.l if theorem == 2 else problem.L**2 / problem.lam
    factor = (1 / bound.p + extra * bound.v / (problem.lam * bound.p * problem.n)).max()
    expected = factor * np.log((smoothness + problem.lam) * 0.7 / (problem.lam * 1e-5))
    assert promise.iterations == pytest.approx(expected, rel=1e-12)
    assert promise.theta == pytest.approx(1 / factor, rel=1e-12)
    assert promise.epochs == pytest.approx(promise.iterations * 3 / problem.n, rel=1e-12)
    assert promise.covered


def test_iteration_bound_at_the_edges():
    problem, _, _ = solved("logistic", False)
    bound = df.samplings.Shuffled().bind(problem)
    assert iteration_bound(bound, epsilon=0.0, start=1.0, theorem=2).iterations == np.inf
    assert iteration_bound(bound, epsilon=1e9, start=1.0, theorem=2).iterations == 0
    assert not iteration_bound(bound, epsilon=1e-3, start=1.0, theorem=2).covered


def test_step_rules_say_what_is_proven():
    problem, _, _ = solved("logistic", False)
    bound = df.samplings.Uniform().bind(problem)
    theta = theorem_theta(bound, 2)
    assert step_rule("theorem-2", bound).proven == 2
    assert step_rule("theorem-1", bound).proven == 1
    assert step_rule(theta, bound).proven == 2
    assert step_rule(bound.p.min(), bound).proven is None
    assert step_rule("implicit", bound).proven is None
    for wrong in (0.0, -1.0, 2 * bound.p.min(), np.nan):
        with pytest.raises(ValueError, match="above 0 and at most min p_i"):
            step_rule(wrong, bound)


class Doubtful(df.samplings.Restless):
    """The same draws with another v."""

    def eso(self, problem):
        return 2 * super().eso(problem) + np.arange(problem.n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["uniform", "shuffled", "restless", "doubtful", "windows", "importance", "nice:3"])
def test_theta_is_the_least_of_all_examples(kind, weighted):
    problem, _, _ = solved("logistic", weighted)
    if kind == "windows":  # as a store has them: one number for all p_i that is not 1/n
        p, v = np.broadcast_to(np.float64(0.25), problem.n), problem.examples.square_norms
        bound = BoundSampling(df.samplings.Shuffled(), problem, p, v, None)
    else:
        bound = (Doubtful() if kind == "doubtful" else df.samplings.by_name(kind)).bind(problem)
    for theorem, squares in ((1, problem.L**2 / problem.lam), (2, problem.l)):
        expected = (bound.p * problem.n * problem.lam / (squares * bound.v + problem.n * problem.lam)).min()
        assert theorem_theta(bound, theorem) == pytest.approx(expected, rel=1e-13)
    assert bound.mean_size == pytest.approx(bound.p.sum())


def test_huge_numbers_never_make_a_small_gap():
    """φ(z) = ∞ and α z = −∞ are not a slack of zero."""
    problem = df.Problem(np.array([[1.0], [-1.0]]), make_loss("squared", np.zeros(2)), lam=1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        seen = problem.evaluate(np.array([1e200]), np.array([-1e200, 1e200]))
    assert seen.value == np.inf
    assert seen.duality_gap == np.inf
