"""The theorems themselves: the potential falls as they promise, in the mean over 200 seeds, for every sampling."""

from functools import cache

import numpy as np
import pytest

import dualfree as df
from dualfree import reference
from dualfree.bounds import potential
from dualfree.paper import theorems
from dualfree.samplings import Chunks, Importance, Nice, Uniform
from dualfree.steps import step_rule
from helpers.problems import shifted_and_inverted

CONVEX, AVERAGE_CONVEX = theorems.convex_problem(), theorems.average_convex_problem()


def softmax_problem(n=48, d=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < np.linspace(0.9, 0.3, d))
    X *= rng.uniform(0.3, 1.0, size=(n, 1)) / np.sqrt((X**2).sum(axis=1).max())
    return df.Problem(X, df.losses.Softmax(rng.integers(3, size=n)), lam=1 / n)


def choice_problem(n=48, d=4, lam=1 / 48, weight=None):
    rng = np.random.default_rng(1)
    start = np.concatenate([[0], np.cumsum(rng.integers(2, 5, size=n))])
    X = rng.normal(size=(start[-1], d)) * (rng.random((start[-1], d)) < 0.6) / 3
    return df.Problem(df.Blocks(X, start), df.losses.ConditionalLogit(np.zeros(n), weight), lam=lam)


def signed_targets_problem(n=48):
    """As `AVERAGE_CONVEX`, with three targets."""
    inner = AVERAGE_CONVEX
    Y = np.column_stack([inner.loss.y, np.random.default_rng(1).normal(size=(n, 2))])
    return df.Problem(inner.examples.X, df.losses.Squared(Y, inner.loss.weight), inner.lam)


EVERY_FOURTH = np.where(np.arange(48) % 4 == 0, -0.5, 1.0)
SHAPES = {"softmax": softmax_problem(), "choice": choice_problem()}
SIGNED = {"targets": signed_targets_problem(), "choice": choice_problem(lam=0.2, weight=EVERY_FOURTH)}


@cache
def best_of(problem):
    w, alpha = theorems.optimum(problem)
    return w.ravel(), alpha


@pytest.fixture(scope="module")
def convex_optimum():
    return best_of(CONVEX)


@pytest.fixture(scope="module")
def average_convex_optimum():
    return best_of(AVERAGE_CONVEX)


def assert_promise_kept(decay, seeds=200):
    """Mean less three standard errors ≤ e^{−θt}: the theorem speaks of an expectation that the mean estimates."""
    assert len(decay.ratios) == seeds
    assert len(decay.times) >= 10
    assert (decay.mean - 3 * decay.standard_error <= decay.promised * (1 + 1e-12)).all()
    assert decay.kept
    assert decay.mean[-1] > 0  # the optimum is known to more digits than are looked at


@pytest.mark.parametrize("name", theorems.convex_samplings(CONVEX.n))
def test_theorem_2_in_expectation(name, convex_optimum):
    bound = theorems.convex_samplings(CONVEX.n)[name].bind(CONVEX)
    assert_promise_kept(theorems.simulate(name, bound, convex_optimum, theorem=2))


@pytest.mark.parametrize("sampling", theorems.convex_samplings(48))
@pytest.mark.parametrize("name", SHAPES)
def test_theorem_2_in_expectation_for_several_outputs(name, sampling):
    bound = theorems.convex_samplings(48)[sampling].bind(SHAPES[name])
    assert_promise_kept(theorems.simulate(sampling, bound, best_of(SHAPES[name]), theorem=2, seeds=60), seeds=60)


@pytest.mark.parametrize("sampling", theorems.average_convex_samplings())
@pytest.mark.parametrize("name", SIGNED)
def test_theorem_1_in_expectation_for_several_outputs(name, sampling):
    problem = SIGNED[name]
    assert not problem.loss.all_convex
    assert problem.convexity.known is True
    bound = theorems.average_convex_samplings()[sampling].bind(problem)
    assert_promise_kept(theorems.simulate(sampling, bound, best_of(problem), theorem=1, seeds=60), seeds=60)


@pytest.mark.parametrize("name", theorems.average_convex_samplings())
def test_theorem_1_in_expectation_with_negative_weights(name, average_convex_optimum):
    X, weight = AVERAGE_CONVEX.examples.X, AVERAGE_CONVEX.loss.weight
    assert (weight < 0).any()
    assert np.linalg.eigvalsh((X * weight[:, None]).T @ X / len(X)).min() >= 0
    bound = theorems.average_convex_samplings()[name].bind(AVERAGE_CONVEX)
    assert_promise_kept(theorems.simulate(name, bound, average_convex_optimum, theorem=1))


COMPONENT, COVARIANCE, SHIFT, RIGHT_SIDE = shifted_and_inverted()
COMPONENT_SAMPLINGS = {
    "uniform": Uniform(),
    "importance": Importance(theorem=1),
    "τ-nice, τ = 6": Nice(6),
    "2 of 8 chunks": Chunks(2, 8),
}


@pytest.mark.parametrize("name", COMPONENT_SAMPLINGS)
def test_theorem_1_in_expectation_on_the_leading_component(name):
    """Every single loss is concave; P is convex by its penalty alone, so that the rate is θσ/λ."""
    u = np.linalg.solve(SHIFT * np.eye(4) - COVARIANCE, RIGHT_SIDE) - RIGHT_SIDE / SHIFT
    best = u, -COMPONENT.derivatives(u)
    assert np.abs(COMPONENT.gradient(u)).max() < 1e-12
    assert COMPONENT.convexity.sigma == pytest.approx(SHIFT - np.linalg.eigvalsh(COVARIANCE)[-1], rel=1e-9)
    bound = COMPONENT_SAMPLINGS[name].bind(COMPONENT)
    decay = theorems.simulate(name, bound, best, theorem=1)
    assert decay.theta == pytest.approx(step_rule("theorem-1", bound).theta * COMPONENT.convexity.sigma / COMPONENT.lam)
    assert_promise_kept(decay)


def test_theta_of_theorem_1_with_sigma_is_the_formula():
    sigma, lam, n = COMPONENT.convexity.sigma, COMPONENT.lam, COMPONENT.n
    for sampling in COMPONENT_SAMPLINGS.values():
        bound = sampling.bind(COMPONENT)
        expected = (bound.p * n * lam * sigma / (COMPONENT.L**2 * bound.v + n * lam * sigma)).min()
        assert step_rule("theorem-1", bound).theta == pytest.approx(expected, rel=1e-12)
    best = COMPONENT_SAMPLINGS["importance"].bind(COMPONENT)
    scores = 1 + COMPONENT.L**2 * best.v / (lam * sigma * n)
    np.testing.assert_allclose(best.p, scores / scores.sum(), rtol=1e-12)


def test_the_bound_of_theorem_1_with_sigma_is_kept():
    """`solve` with the step of Theorem 1 needs no more epochs than were promised, from a start that it bounds."""
    result = df.solve(COMPONENT, step="theorem-1", tol=1e-8, max_epochs=20_000)
    w = np.linalg.solve(SHIFT * np.eye(4) - COVARIANCE, RIGHT_SIDE)
    assert result.status == "converged"
    assert result.bound.covered
    assert result.epochs <= result.bound.epochs
    np.testing.assert_allclose(result.w + RIGHT_SIDE / SHIFT, w, atol=1e-3 * np.abs(w).max())
    u = w - RIGHT_SIDE / SHIFT
    start = potential(COMPONENT, np.zeros(4), np.zeros(COMPONENT.n), u, -COMPONENT.derivatives(u), theorem=1)
    assert start <= result.bound.potential


def test_the_check_finds_a_broken_promise(convex_optimum):
    """A rate four times too good, such as a wrong θ would claim, does not pass."""
    bound = theorems.convex_samplings(CONVEX.n)["uniform"].bind(CONVEX)
    honest = theorems.simulate("uniform", bound, convex_optimum, theorem=2)
    boast = theorems.Decay("boast", 2, 4 * honest.theta, honest.times, honest.ratios)
    assert not boast.kept


@pytest.mark.parametrize("problem", [CONVEX, AVERAGE_CONVEX, *SHAPES.values(), *SIGNED.values()])
def test_optimum_has_no_gradient_left(problem):
    w, alpha = best_of(problem)
    assert np.abs(problem.gradient(w)).max() < 1e-9
    np.testing.assert_allclose(problem.primal(alpha).ravel(), w, atol=1e-9)


@pytest.mark.parametrize("theorem", [1, 2])
def test_theta_and_potential_equal_the_reference(theorem, convex_optimum):
    X, n = CONVEX.examples.X, CONVEX.n
    slow = reference.ReferenceProblem(X, CONVEX.loss.y, np.ones(n), reference.logistic(), CONVEX.lam)
    rng = np.random.default_rng(0)
    w, alpha = rng.normal(size=CONVEX.d), rng.normal(size=n)
    found = potential(CONVEX, w, alpha, *convex_optimum, theorem)
    assert found == pytest.approx(slow.potential(w, alpha, *convex_optimum, theorem), rel=1e-12)
    for sampling in theorems.convex_samplings(n).values():
        bound = sampling.bind(CONVEX)
        theta = step_rule(f"theorem-{theorem}", bound).theta
        assert theta == pytest.approx(reference.theta(slow, bound.p, bound.v, theorem), rel=1e-12)


@pytest.mark.parametrize("name", SHAPES)
def test_theta_and_potentials_of_several_outputs_are_the_formulas(name):
    problem = SHAPES[name]
    examples, lam, n = problem.examples, problem.lam, problem.n
    rng = np.random.default_rng(0)
    (w, w_star), (alpha, alpha_star) = rng.normal(size=(2, problem.d)), rng.normal(size=(2, examples.total))
    each = [((alpha - alpha_star)[examples.positions(np.array([i]))] ** 2).sum() for i in range(n)]
    weights = {1: problem.L**2 / lam, 2: problem.l}
    for theorem, weight in weights.items():
        expected = lam / 2 * ((w - w_star) ** 2).sum() + (each / weight).sum() / (2 * n)
        assert potential(problem, w, alpha, w_star, alpha_star, theorem) == pytest.approx(expected, rel=1e-12)
        for sampling in theorems.convex_samplings(n).values():
            bound = sampling.bind(problem)
            theta = (bound.p * n * lam / (weight * bound.v + n * lam)).min()
            assert step_rule(f"theorem-{theorem}", bound).theta == pytest.approx(theta, rel=1e-12)
