"""Steps to the least point of a line, which a loss of one curvature knows without a pass: conjugate gradients."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree import evaluation
from dualfree.methods import full_pass
from dualfree.methods.curvature import RootDiagonal

LAYOUTS = {"dense": np.asarray, "csr": sparse.csr_matrix, "float32": lambda X: X.astype(np.float32)}


def make_problem(layout="dense", lam=0.01, targets=None, weight=None, intercept=False, n=80, d=12):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * np.logspace(0, -2, d)
    X = np.where(rng.random((n, d)) < 0.7, X, 0.0).astype(np.float32).astype(float)
    y = 3.0 + rng.normal(size=n if targets is None else (n, targets))
    weight = rng.uniform(0.5, 2.0, size=n) if weight else None
    return df.Problem(LAYOUTS[layout](X), df.losses.Squared(y, weight=weight), lam, intercept=intercept)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "options", [{}, {"weight": True}, {"targets": 3}, {"intercept": True}, {"targets": 2, "intercept": True}]
)
@pytest.mark.parametrize("length", [0.1, 30.0])
def test_what_is_known_of_the_least_point_is_what_a_look_there_tells(layout, options, length):
    problem = make_problem(layout, **options)
    here = problem.look(0.1 * np.random.default_rng(1).normal(size=problem.d))
    there = problem.look(here.w - length * here.evaluation.gradient)
    w, way = here.w.copy(), there.w - here.w
    least = problem.least_on_line(here, there)
    again = problem.look(least.w)
    t = float(way @ (least.w - w)) / float(way @ way)
    np.testing.assert_allclose(least.w, w + t * way, atol=1e-12)
    assert abs(least.evaluation.gradient @ way) <= 1e-10 * abs(here.evaluation.gradient @ way)
    assert least.blur == pytest.approx(abs(1 - t) + abs(t))
    for known, seen in zip(least[:4:2], again[:4:2], strict=True):
        np.testing.assert_allclose(known, seen, atol=1e-10)
    np.testing.assert_allclose(least.derivatives, again.derivatives, atol=1e-10)
    for name in ("value", "duality_gap"):
        assert getattr(least.evaluation, name) == pytest.approx(getattr(again.evaluation, name), rel=1e-9)
    np.testing.assert_allclose(least.evaluation.gradient, again.evaluation.gradient, atol=1e-11)


def test_a_point_that_is_nearly_the_least_is_taken_as_it_is():
    problem = make_problem()
    here = problem.look(np.zeros(problem.d))
    there = problem.look(-here.evaluation.gradient)
    t = 1 / (1 - float(there.evaluation.gradient @ there.w) / float(here.evaluation.gradient @ there.w))
    for share, near in ((0.97, True), (1.03, True), (0.9, False), (1.1, False)):
        there = problem.look(-share * t * here.evaluation.gradient)
        assert (problem.least_on_line(here, there) is there) == near


def test_there_is_no_least_point_where_the_line_is_concave():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    loss = df.losses.Squared(X[:, 0], weight=np.where(np.arange(30) == 0, -100.0, 1.0))
    problem = df.Problem(X, loss, lam=0.1)
    here, there = problem.look(np.zeros(3)), problem.look(X[0])
    assert problem.least_on_line(here, there) is there


def conjugate_gradients(problem, solve, count):
    """The values of P at the points of the textbook's method, preconditioned, from zero."""
    hessian = problem.hessian(np.zeros(problem.n))
    hessian = np.triu(hessian) + np.triu(hessian, 1).T
    w, residual = np.zeros(problem.d), -problem.gradient(np.zeros(problem.d))
    z = solve(residual)
    way, values = z, []
    for _ in range(count):
        length = residual @ z / (way @ hessian @ way)
        w, left = w + length * way, residual - length * hessian @ way
        z_left = solve(left)
        way = z_left + left @ z_left / (residual @ z) * way
        residual, z = left, z_left
        values.append(problem.value(w))
    return np.array(values)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("blurred", [0.0, 16.0])
def test_l_bfgs_takes_the_steps_of_conjugate_gradients(monkeypatch, layout, blurred):
    monkeypatch.setattr(evaluation, "_NEAR", 0.0)
    monkeypatch.setattr(full_pass, "_BLURRED", blurred)  # how much is known without a pass of its own
    problem = make_problem(layout, lam=1e-4)
    result = df.solve(problem, method="lbfgs", tol=1e-13, max_epochs=8, evaluate_every=1.0)
    base = RootDiagonal(problem, np.zeros(problem.n))
    expected = conjugate_gradients(problem, base.solve, 8)
    least = df.solve(problem, method="newton", tol=1e-13).certificate.value
    fallen = result.history.value[1:] - least
    assert fallen[-1] < 1e-2 * fallen[0]
    np.testing.assert_allclose(fallen, expected - least, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("method", ["lbfgs", "newton"])
@pytest.mark.parametrize("options", [{}, {"intercept": True}, {"targets": 3}, {"weight": True}])
def test_the_certificate_is_that_of_a_pass(method, options):
    problem = make_problem(lam=1e-6, n=400, d=40, **options)
    result = df.solve(problem, method=method, tol=1e-9, max_epochs=500)
    assert result.status == "converged"
    gradient = problem.gradient(problem.flat_w(result.w)).ravel()[: problem.free.start]
    assert result.certificate.gap == pytest.approx(gradient @ gradient / (2 * problem.lam), rel=1e-3, abs=1e-14)
    np.testing.assert_allclose(result.alpha, -problem.derivatives(result.w).reshape(result.alpha.shape), atol=1e-9)


def test_squares_far_from_zero_take_few_passes():
    """All features share one direction, along which whole steps are far too long and others far too short."""
    rng = np.random.default_rng(0)
    X = 3 + rng.normal(size=(2000, 300))
    y = np.sign((X - 3) @ rng.normal(size=300))
    result = df.solve(df.Problem(X, df.losses.Squared(y), 0.1 / 2000), method="lbfgs", tol=1e-6, max_epochs=100)
    assert result.status == "converged"
    assert result.epochs <= 25
