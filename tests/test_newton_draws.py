"""Newton's method in one call with Hessians from some examples, held to the same sums written down with NumPy."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree._native import kernels
from dualfree.at_once import draws_of
from dualfree.methods.newton_plan import rough_start
from helpers.off_centre import LOSSES, make_data

N, D = 300, 7
LAYOUTS = {"dense": np.asarray, "crowded": sparse.csr_array, "sparse": lambda X: sparse.csr_array(X * (X > 0.9))}


def make_problem(name="logistic", lam=0.1, layout="dense", intercept=False, weight=None):
    X, y = make_data(name, n=N, d=D, centre=0.5)
    X = X * np.random.default_rng(1).uniform(0.2, 2.0, size=(N, 1))  # rows of unlike lengths
    return df.Problem(LAYOUTS[layout](X), LOSSES[name](y, weight=weight), lam, intercept=intercept)


def rows_of(problem):
    X = problem.examples.X
    X = np.asarray(X.todense() if sparse.issparse(X) else X)
    return np.hstack([X, np.full((N, int(problem.intercept)), problem.examples.constant_value)])


def literal_hessian(problem, w, draws):
    """``(1/n) Σ_{k ≤ draws} (S/draws) A_i A_iᵀ/‖A_i‖² + λI``, i where ``s_1 + ... + s_i`` passes (k − ½) S/draws."""
    rows = rows_of(problem)
    curvature = np.empty(N)
    kernels.loss_curvature(problem.loss.native, rows @ w, curvature)
    squares = (rows**2).sum(1)
    passed = np.cumsum(curvature * squares)
    step = passed[-1] / draws
    drawn = np.searchsorted(passed, (np.arange(draws) + 0.5) * step)
    weights = np.bincount(drawn, minlength=N) * step / np.where(squares > 0, squares, 1)
    penalty = np.diag(np.arange(problem.d) < problem.free.start) * problem.lam
    return rows.T @ (weights[:, None] * rows) / N + penalty


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_is_by_the_drawn_examples(name, layout, intercept, weighted):
    weight = np.random.default_rng(0).uniform(0.0, 2.0, size=N) if weighted else None
    problem = make_problem(name, layout=layout, intercept=intercept, weight=weight)
    start = df.solve(problem, max_epochs=4, tol=0.0).w  # near enough for a whole step
    scale = np.ones(problem.d)
    scale[problem.free] = problem.examples.constant_value  # the last weight as the kernel has it, in these units
    inner = start / scale
    g = rows_of(problem).T @ problem.derivatives(start) / N
    g[: problem.free.start] += problem.lam * start[: problem.free.start]
    expected = (inner - np.linalg.solve(literal_hessian(problem, inner, 40), g)) * scale
    w = start.copy()
    assert problem.value(expected) < problem.value(w)  # else the step would be halved
    _, steps, stuck = problem.newton_steps(w, 0.0, 1, draws=40)
    assert (steps, stuck) == (1, False)
    np.testing.assert_allclose(w[:D], expected[:D], rtol=1e-9, atol=1e-12)  # the intercept is the best one


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("draws", [1, 20, 299])
def test_there_are_more_draws_until_it_ends(name, layout, draws):
    problem = make_problem(name, lam=1e-3, layout=layout)
    w = rough_start(problem, gently=True)
    look, steps, stuck = problem.newton_steps(w, 1e-9, 100, draws=draws)
    assert not stuck
    assert 0 < steps < 60
    assert look.evaluation.duality_gap <= 1e-9 * look.evaluation.value
    best = df.solve(problem, method="lbfgs", tol=1e-11, max_epochs=2000).certificate.value
    assert problem.value(w) == pytest.approx(best, rel=2e-9)


def test_as_many_draws_as_examples_are_all_of_them():
    problem = make_problem()
    one, other = np.zeros(D), np.zeros(D)
    problem.newton_steps(one, 1e-9, 100)
    problem.newton_steps(other, 1e-9, 100, draws=N)
    np.testing.assert_array_equal(one, other)


def test_a_hessian_that_should_do_for_the_last_step_is_kept():
    problem = make_problem("squared")
    exact = np.linalg.solve(problem.hessian(np.zeros(N)) + np.triu(problem.hessian(np.zeros(N)), 1).T, np.ones(D))
    assert np.isfinite(exact).all()
    start, w = np.zeros(D), np.zeros(D)
    problem.newton_steps(w, 0.0, 1, draws=150)
    first = w.copy()
    left = np.linalg.norm(problem.gradient(first)) / np.linalg.norm(problem.gradient(start))
    gap = np.linalg.norm(problem.gradient(first)) ** 2 / (2 * problem.lam)
    tol = 2 * left**2 * gap / problem.value(first)  # another such step would be enough
    w = np.zeros(D)
    problem.newton_steps(w, tol, 2, draws=150)
    kept = first - np.linalg.solve(literal_hessian(problem, start, 150), problem.gradient(first))
    np.testing.assert_allclose(w, kept, rtol=1e-9, atol=1e-12)


def test_who_has_many_examples_draws_some():
    rng = np.random.default_rng(0)
    for n, d, loss, expected in [
        (10_000, 20, df.losses.Logistic, 200),
        (10_000, 80, df.losses.Logistic, 640),
        (40_000, 5, df.losses.Logistic, 800),
        (1_000, 80, df.losses.Logistic, 1_000),
        (4_000, 20, df.losses.Logistic, 4_000),
        (10_000, 20, df.losses.Squared, 10_000),
    ]:
        X = rng.normal(size=(n, d))
        assert draws_of(df.Problem(X, loss(np.sign(X[:, 0])), 1.0)) == expected
    X = sparse.random_array((10_000, 80), density=0.1, format="csr", rng=rng)
    assert draws_of(df.Problem(X, df.losses.Logistic(np.sign(X @ np.ones(80) - 4)), 1.0)) == 1280


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", ["logistic", "squared-hinge", "huber"])
def test_a_fit_by_draws_ends_where_others_do(name, intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 30)) * rng.pareto(3.0, size=(6_000, 1)) + 0.3
    y = np.sign(X[:, 0] + rng.normal(size=6_000))
    problem = df.Problem(X, LOSSES[name](y), 1e-5, intercept=intercept)
    result = df.solve(problem, method="auto", tol=1e-8)
    assert result.status == "converged"
    assert "one call" in result.message
    assert draws_of(problem) < problem.n
    other = df.solve(problem, method="newton", tol=1e-8)
    assert other.certificate.value == pytest.approx(result.certificate.value, rel=3e-8)
    np.testing.assert_allclose(result.alpha, -problem.derivatives(result.w), atol=1e-12)
    np.testing.assert_array_equal(df.solve(problem, method="auto", tol=1e-8).w, result.w)
