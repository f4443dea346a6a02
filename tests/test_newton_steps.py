"""Newton's method on few data: all steps in one call of a kernel, held to the step written down with NumPy."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree._native import kernels
from dualfree.methods.newton_plan import one_call
from helpers.off_centre import LOSSES, make_data


def with_long_indices(X):
    X = sparse.csr_matrix(X)
    return sparse.csr_matrix((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)


LAYOUTS = {
    "dense": np.asarray,
    "by columns": np.asfortranarray,
    "single": lambda X: X.astype(np.float32),
    "csr": sparse.csr_matrix,
    "long indices": with_long_indices,
    "one value": lambda X: sparse.csr_matrix((X != 0).astype(float)),
}


def make_problem(name="logistic", lam=0.1, n=60, d=5, layout="dense", weight=None):
    X, y = make_data(name, n=n, d=d, centre=1.0)
    return df.Problem(LAYOUTS[layout](X / np.sqrt(d)), LOSSES[name](y, weight=weight), lam)


def literal_step(problem, w, t=1.0):
    """``w − t (∇²P(w))⁻¹ ∇P(w)``."""
    X = problem.examples.X
    X = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=float)
    curvature = np.empty(problem.n)
    kernels.loss_curvature(problem.loss.native, X @ w, curvature)
    hessian = X.T @ (curvature[:, None] * X) / problem.n + problem.lam * np.eye(problem.d)
    return w - t * np.linalg.solve(hessian, problem.gradient(w))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_is_newton_s(name, layout, weighted):
    weight = np.random.default_rng(0).uniform(0.0, 2.0, size=60) if weighted else None
    problem = make_problem(name, layout=layout, weight=weight)
    w = df.solve(problem, max_epochs=2, tol=0.0).w  # near enough for a whole step with all losses
    expected = literal_step(problem, w)
    assert problem.value(expected) < problem.value(w)  # else the step would be halved
    look, steps, stuck = problem.newton_steps(w, 0.0, 1)
    assert (steps, stuck) == (1, False)
    np.testing.assert_allclose(w, expected, rtol=1e-10, atol=1e-12)
    again = problem.look(w)
    np.testing.assert_array_equal(look.w, w)
    assert look.evaluation.value == pytest.approx(again.evaluation.value, rel=1e-13)
    assert look.evaluation.duality_gap == pytest.approx(again.evaluation.duality_gap, rel=1e-6, abs=1e-20)
    np.testing.assert_allclose(look.evaluation.gradient, again.evaluation.gradient, atol=1e-14)
    np.testing.assert_allclose(look.margins, again.margins, atol=1e-13)
    np.testing.assert_allclose(look.derivatives, again.derivatives, atol=1e-13)


@pytest.mark.parametrize("d", [1, 3, 7, 8, 9, 16, 31, 33, 63, 64])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 200])
def test_tiles_and_lines_of_any_length(n, d):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    problem = df.Problem(X, df.losses.Squared(rng.normal(size=n)), 0.1)
    w = rng.normal(size=d)
    expected = literal_step(problem, w)
    _, steps, stuck = problem.newton_steps(w, 1e-12, 5)
    assert steps <= 2
    assert not stuck
    np.testing.assert_allclose(w, expected, atol=1e-11)


def test_a_step_that_goes_too_far_is_halved():
    problem = df.Problem(np.array([[1.0], [1.0]]), df.losses.Logistic([1, -1]), 1e-3)
    w = np.array([9.0])  # where the loss is all but straight
    whole = literal_step(problem, w)
    assert problem.value(whole) > problem.value(w)
    halves = [literal_step(problem, w, 0.5**k) for k in range(20)]
    first = next(point for point in halves if problem.value(point) < problem.value(w))
    _, steps, stuck = problem.newton_steps(w, 0.0, 1)
    assert (steps, stuck) == (1, False)
    np.testing.assert_allclose(w, first, rtol=1e-9)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("lam", [1e-1, 1e-4, 1e-8])
@pytest.mark.parametrize("name", LOSSES)
def test_the_end_is_the_optimum(name, lam, layout):
    problem = make_problem(name, lam, layout=layout)
    result = df.solve(problem, method="auto", tol=1e-9)
    assert (result.status, result.method) == ("converged", "auto: newton")
    assert len(result.history) == 2  # zero, and the end
    assert result.epochs == result.iterations >= 1
    assert problem.gap(result.w, result.alpha) <= 1.001e-9 * abs(result.certificate.value) + 1e-15
    np.testing.assert_allclose(result.alpha, -problem.derivatives(result.w), atol=1e-12)
    each = df.solve(problem, method="auto", tol=1e-9, evaluate_every=1)
    assert len(each.history) == each.epochs + 1
    assert (np.diff(each.history.value) <= 1e-12).all()
    np.testing.assert_allclose(each.w, result.w, rtol=1e-9, atol=1e-12)


def test_who_watches_sees_each_step():
    seen = []
    result = df.solve(make_problem(lam=1e-4), method="auto", tol=1e-9, callback=lambda row: seen.append(row.epoch))
    assert seen == list(range(int(result.epochs) + 1))
    assert len(seen) > 3


def test_limits_hold():
    result = df.solve(make_problem(lam=1e-6), method="auto", tol=1e-12, max_epochs=2)
    assert (result.status, result.epochs) == ("max_epochs", 2)
    loose = df.solve(make_problem(lam=1e-6), method="auto", tol=0.0, absolute_tol=1e-3)
    assert loose.status == "converged"


def test_a_tolerance_beyond_rounding_leaves_the_call_and_ends():
    problem = make_problem()
    w = np.zeros(problem.d)
    look, _, stuck = problem.newton_steps(w, 0.0, 100)
    assert stuck
    assert look is None
    best = df.solve(problem, method="lbfgs", tol=1e-13, max_epochs=500).certificate.value
    assert problem.value(w) == pytest.approx(best, rel=1e-13)
    result = df.solve(problem, method="auto", tol=0.0)
    assert result.status == "stalled"
    assert result.certificate.relative_gap < 1e-12


def test_a_start_at_the_optimum_needs_no_step():
    problem = make_problem()
    done = df.solve(problem, method="auto", tol=1e-10)
    again = df.solve(problem, method="auto", tol=1e-6, warm_start=done)
    assert again.status == "converged"
    assert again.epochs <= 1
    np.testing.assert_allclose(again.w, done.w, atol=1e-9)


def test_zero_may_be_the_optimum():
    X = np.random.default_rng(0).normal(size=(50, 4))
    result = df.solve(df.Problem(X, df.losses.Squared(np.zeros(50)), 0.1), method="auto")
    assert result.status == "converged"
    np.testing.assert_array_equal(result.w, 0.0)


def test_it_is_for_few_data_alone():
    assert one_call(make_problem())
    assert not one_call(make_problem(d=65))
    assert not one_call(make_problem(n=20_000))
    X, y = make_data("logistic")
    assert not one_call(df.Problem(X, df.losses.Logistic(y), 0.1, intercept=True))
    assert not one_call(df.Problem(X, df.losses.Logistic(y), 0.1, regulariser=df.regularisers.L2L1(0.1)))
    assert not one_call(df.Problem(X, df.losses.Logistic(y, weight=np.linspace(-0.1, 1, 60)), 0.1))
    problem = make_problem(d=65)
    with pytest.raises(ValueError, match="at most 64 features"):
        problem.newton_steps(np.zeros(65), 1e-6, 10)
