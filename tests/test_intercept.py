"""The unpenalised intercept: the right optimum, and a certificate that holds for (w, b) together."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge

import dualfree as df
from dualfree.feasible import balanced
from dualfree.intercept import best_intercept
from helpers.off_centre import LOSSES, OUTPUTS, make_data, make_loss

EVERY = (*LOSSES, *OUTPUTS)
SAMPLINGS = ["shuffled", "uniform", "importance", "nice:4", "chunks:2", "independent:0.05", "buckets:4"]


def make_problem(name, lam=0.05, weight=None, layout=np.asarray, **options):
    X, y = make_data(name, **options)
    return df.Problem(layout(X), make_loss(name, X, y, weight), lam, intercept=True)


def optimum(problem):
    def slope(w):
        return problem.gradient(w).ravel()

    found = minimize(problem.value, np.zeros(problem.d), jac=slope, method="BFGS", options={"gtol": 1e-10})
    return found.fun, found.x


def told_apart(problem, w):
    """A flat w; of the intercepts of a softmax only the differences matter."""
    w = np.array(w, dtype=float).ravel()
    if isinstance(problem.loss, df.losses.Softmax):
        w[problem.free] -= w[problem.free].mean()
    return w


@pytest.mark.parametrize("name", EVERY)
def test_gradient_by_differences(name):
    problem = make_problem(name)
    w = np.random.default_rng(1).normal(size=problem.d)
    step = 1e-6 * np.eye(problem.d)
    differences = [(problem.value(w + e) - problem.value(w - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(problem.gradient(w).ravel(), differences, atol=1e-6)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix, lambda X: np.asfortranarray(X)])
def test_the_intercept_is_not_penalised(layout):
    problem = make_problem("logistic", layout=layout)
    w = np.zeros(problem.d)
    w[-1] = 5.0
    expected = np.logaddexp(0, -5.0 * problem.loss.y).mean()
    assert problem.value(w) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("name", EVERY)
def test_every_loss_and_sampling_reaches_the_optimum(name, sampling):
    problem = make_problem(name, lam=0.2)
    value, w = optimum(problem)
    result = df.solve(problem, sampling=sampling, tol=1e-10, max_epochs=20_000, evaluate_every=5)
    assert result.status == "converged", result.message
    assert result.certificate.value == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(told_apart(problem, result.w), told_apart(problem, w), atol=2e-4)


@pytest.mark.parametrize("step", ["theorem-2", "per-example", "implicit", "tuned", 1e-3])
def test_every_step(step):
    problem = make_problem("logistic", lam=0.2)
    result = df.solve(problem, sampling="uniform", step=step, tol=1e-9, max_epochs=50_000, evaluate_every=5)
    assert result.status == "converged"
    assert result.certificate.value == pytest.approx(optimum(problem)[0], rel=1e-8)


@pytest.mark.parametrize("name", EVERY)
def test_the_certificate_holds_at_every_evaluation(name):
    problem = make_problem(name, lam=0.02)
    best, _ = optimum(problem)
    history = df.solve(problem, tol=1e-7, max_epochs=3000).history
    assert (history.gap >= history.value - best - 1e-9).all()
    assert (history.value >= best - 1e-9).all()


@pytest.mark.parametrize("name", EVERY)
def test_the_duality_gap_holds_at_any_point(name):
    problem = make_problem(name)
    best, _ = optimum(problem)
    rng = np.random.default_rng(2)
    for _ in range(20):
        w, alpha = rng.normal(size=problem.d), rng.normal(size=problem.examples.total)
        seen = problem.evaluate(w, alpha)
        assert seen.duality_gap >= seen.value - best - 1e-9
        assert problem.dual_value(balanced(problem.loss, problem.loss.project(alpha))) <= best + 1e-9
        assert problem.dual_value(np.abs(alpha) + 1.0) == -np.inf


def test_agreement_with_scikit_learn():
    X, y = make_data("logistic", n=200)
    weight = np.random.default_rng(0).uniform(0.2, 2.0, size=200)
    for C in (0.01, 1.0, 10.0):
        theirs = LogisticRegression(C=C, tol=1e-12, solver="newton-cholesky", max_iter=1000).fit(X, y, weight)
        problem = df.Problem(X, df.losses.Logistic(y, weight=weight), 1 / (C * 200), intercept=True)
        ours = df.solve(problem, tol=1e-13, max_epochs=50_000).w
        np.testing.assert_allclose(ours, np.r_[theirs.coef_[0], theirs.intercept_], rtol=1e-5, atol=1e-6)
    X, y = make_data("squared", n=200)
    theirs = Ridge(alpha=2.0).fit(X, y)
    ours = df.solve(df.Problem(X, df.losses.Squared(y), 2.0 / 200, intercept=True), tol=1e-13, max_epochs=50_000).w
    np.testing.assert_allclose(ours, np.r_[theirs.coef_, theirs.intercept_], rtol=1e-5, atol=1e-6)


def test_a_loss_in_python_has_an_intercept_too():
    class LogCosh(df.losses.Loss):
        def value(self, z, y):
            return np.logaddexp(z - y, y - z) - np.log(2)

        def derivative(self, z, y):
            return np.tanh(z - y)

        def smoothness(self, y):
            return np.ones_like(y)

    X, y = make_data("huber", n=30, centre=1.0)
    problem = df.Problem(X, LogCosh(y), 0.5, intercept=True)
    result = df.solve(problem, sampling="nice:10", tol=1e-8, max_epochs=5000)
    assert result.status == "converged"
    assert result.certificate.value == pytest.approx(optimum(problem)[0], rel=1e-8)


@pytest.mark.parametrize("name", ["logistic", "softmax"])
def test_warm_start_ends_at_once(name):
    problem = make_problem(name)
    first = df.solve(problem, tol=1e-8, max_epochs=5000)
    again = df.solve(problem, tol=1e-8, warm_start=first)
    assert again.epochs == 0
    np.testing.assert_allclose(again.w, first.w, rtol=1e-6)
    other = df.Problem(problem.examples.X, problem.loss, 0.04, intercept=True)
    assert df.solve(other, tol=1e-8, max_epochs=5000, warm_start=first).status == "converged"


def test_zero_weights_are_absent():
    X, y = make_data("logistic")
    weight = np.where(np.arange(len(y)) < 50, 1.0, 0.0)
    some = df.Problem(X, df.losses.Logistic(y, weight=weight), 0.05, intercept=True)
    fewer = df.Problem(X[:50], df.losses.Logistic(y[:50]), 0.05 * len(y) / 50, intercept=True)
    np.testing.assert_allclose(
        df.solve(some, tol=1e-12, max_epochs=9000).w, df.solve(fewer, tol=1e-12, max_epochs=9000).w, rtol=1e-4
    )


def test_what_is_refused():
    X, y = make_data("huber")
    with pytest.raises(ValueError, match=r"intercept=True needs every φ_i to be convex, but Tukey is not convex"):
        df.Problem(X, df.losses.Tukey(y), 1.0, intercept=True)
    problem = make_problem("squared")
    with pytest.raises(ValueError, match=f"w has {problem.d - 1} entries; it must have {problem.d}"):
        problem.value(np.zeros(problem.d - 1))


def test_the_theorems_do_not_claim_to_cover_it():
    assert not df.solve(make_problem("logistic"), sampling="uniform", step="theorem-2", max_epochs=2).bound.covered


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("start", [-1e6, 0.0, 3.0, 1e6])
def test_best_intercept(name, start):
    problem = make_problem(name)
    z = np.random.default_rng(5).normal(size=problem.examples.total)
    b = best_intercept(problem.loss, z, start)

    def value(at):
        return problem.loss.values(problem.examples.shift(z, at)).sum()

    steps = 1e-3 * np.eye(problem.examples.m)
    for other in (*(b - steps), *(b + steps), 0.0):
        assert value(b) <= value(other) + 1e-9
