"""The theorems themselves: the potential falls as they promise, in the mean over 200 seeds, for every sampling."""

import numpy as np
import pytest

from dualfree import reference
from dualfree.bounds import potential
from dualfree.paper import theorems
from dualfree.steps import step_rule

CONVEX, AVERAGE_CONVEX = theorems.convex_problem(), theorems.average_convex_problem()


@pytest.fixture(scope="module")
def convex_optimum():
    return theorems.optimum(CONVEX)


@pytest.fixture(scope="module")
def average_convex_optimum():
    return theorems.optimum(AVERAGE_CONVEX)


def assert_promise_kept(decay):
    """Mean less three standard errors ≤ e^{−θt}: the theorem speaks of an expectation that the mean estimates."""
    assert len(decay.ratios) == 200
    assert len(decay.times) >= 10
    assert (decay.mean - 3 * decay.standard_error <= decay.promised * (1 + 1e-12)).all()
    assert decay.kept
    assert decay.mean[-1] > 0  # the optimum is known to more digits than are looked at


@pytest.mark.parametrize("name", theorems.convex_samplings(CONVEX.n))
def test_theorem_2_in_expectation(name, convex_optimum):
    bound = theorems.convex_samplings(CONVEX.n)[name].bind(CONVEX)
    assert_promise_kept(theorems.simulate(name, bound, convex_optimum, theorem=2))


@pytest.mark.parametrize("name", theorems.average_convex_samplings())
def test_theorem_1_in_expectation_with_negative_weights(name, average_convex_optimum):
    X, weight = AVERAGE_CONVEX.examples.X, AVERAGE_CONVEX.loss.weight
    assert (weight < 0).any()
    assert np.linalg.eigvalsh((X * weight[:, None]).T @ X / len(X)).min() >= 0
    bound = theorems.average_convex_samplings()[name].bind(AVERAGE_CONVEX)
    assert_promise_kept(theorems.simulate(name, bound, average_convex_optimum, theorem=1))


def test_the_check_finds_a_broken_promise(convex_optimum):
    """A rate four times too good, such as a wrong θ would claim, does not pass."""
    bound = theorems.convex_samplings(CONVEX.n)["uniform"].bind(CONVEX)
    honest = theorems.simulate("uniform", bound, convex_optimum, theorem=2)
    boast = theorems.Decay("boast", 2, 4 * honest.theta, honest.times, honest.ratios)
    assert not boast.kept


@pytest.mark.parametrize("problem", [CONVEX, AVERAGE_CONVEX], ids=["convex", "average-convex"])
def test_optimum_has_no_gradient_left(problem):
    w, alpha = theorems.optimum(problem)
    assert np.abs(problem.gradient(w)).max() < 1e-9
    np.testing.assert_allclose(problem.primal(alpha), w, atol=1e-9)


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
