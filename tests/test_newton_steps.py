"""Newton's method on few data: all steps in one call of a kernel, held to the step written down with NumPy."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree._native import kernels
from dualfree.at_once import entries_at_once, few
from dualfree.costs import estimate
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


def make_problem(name="logistic", lam=0.1, n=60, d=5, layout="dense", weight=None, intercept=False):
    X, y = make_data(name, n=n, d=d, centre=1.0)
    return df.Problem(LAYOUTS[layout](X / np.sqrt(d)), LOSSES[name](y, weight=weight), lam, intercept=intercept)


def literal_step(problem, w, t=1.0):
    """``w − t (∇²P(w))⁻¹ ∇P(w)``, an intercept last."""
    X = problem.examples.X
    X = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=float)
    X = np.hstack([X, np.ones((problem.n, int(problem.intercept)))])
    curvature = np.empty(problem.n)
    kernels.loss_curvature(problem.loss.native, X @ w, curvature)
    penalty = np.diag(np.arange(problem.d) < problem.free.start) * problem.lam
    hessian = X.T @ (curvature[:, None] * X) / problem.n + penalty
    return w - t * np.linalg.solve(hessian, problem.gradient(w))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_step_is_newton_s(name, layout, weighted, intercept):
    weight = np.random.default_rng(0).uniform(0.0, 2.0, size=60) if weighted else None
    problem = make_problem(name, layout=layout, weight=weight, intercept=intercept)
    w = df.solve(problem, max_epochs=2, tol=0.0).w  # near enough for a whole step with all losses
    expected = literal_step(problem, w)
    assert problem.value(expected) < problem.value(w)  # else the step would be halved
    look, steps, stuck = problem.newton_steps(w, 0.0, 1)
    assert (steps, stuck) == (1, False)
    np.testing.assert_allclose(w[:5], expected[:5], rtol=1e-9, atol=1e-12)  # the intercept is the best one
    again = problem.look(w)
    np.testing.assert_array_equal(look.w, w)
    assert look.evaluation.value == pytest.approx(again.evaluation.value, rel=1e-13)
    assert look.evaluation.duality_gap == pytest.approx(again.evaluation.duality_gap, rel=1e-6, abs=1e-20)
    np.testing.assert_allclose(look.evaluation.gradient, again.evaluation.gradient, atol=1e-14)
    np.testing.assert_allclose(look.margins, again.margins, atol=1e-13)
    np.testing.assert_allclose(look.derivatives, again.derivatives, atol=1e-13)


@pytest.mark.parametrize("d", [1, 3, 7, 8, 9, 16, 31, 33, 63, 64, 65, 127, 128])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 200])
@pytest.mark.parametrize("stored", [1.0, 0.3, 0.1])
def test_tiles_and_lines_of_any_length(n, d, stored):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    if stored < 1:
        X = sparse.csr_array(X * (rng.random((n, d)) < stored))
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
@pytest.mark.parametrize("intercept", [False, True])
def test_the_end_is_the_optimum(name, lam, layout, intercept):
    problem = make_problem(name, lam, layout=layout, intercept=intercept)
    result = df.solve(problem, method="auto", tol=1e-9)
    assert result.status == "converged"
    if (
        intercept and name == "smoothed-hinge"
    ):  # straight at zero: no intercept is better than another, by its curvature
        assert problem.newton_steps(np.zeros(problem.d), 1e-9, 100)[0] is None
        return
    assert result.method == "auto: newton"
    assert len(result.history) == 2  # zero, and the end
    assert result.epochs == result.iterations >= 1
    if not intercept:  # else rounding leaves a sum of α that is not zero, and no dual value
        assert problem.gap(result.w, result.alpha) <= 1.001e-9 * abs(result.certificate.value) + 1e-15
    np.testing.assert_allclose(result.alpha, -problem.derivatives(result.w), atol=1e-12)
    assert (np.diff(result.history.value) < 0).all()
    other = df.solve(problem, method="newton", tol=1e-9)
    assert other.certificate.value == pytest.approx(result.certificate.value, rel=3e-9)
    assert (other.sampling, other.step, other.theta) == (result.sampling, result.step, result.theta)
    assert other.bound.iterations == result.bound.iterations


def test_who_watches_sees_each_step():
    seen = []
    result = df.solve(make_problem(lam=1e-4), method="auto", tol=1e-9, callback=lambda row: seen.append(row.epoch))
    assert seen == list(range(int(result.epochs) + 1))
    assert len(seen) > 3


def test_limits_hold():
    result = df.solve(make_problem(lam=1e-6), method="auto", tol=1e-12, max_epochs=2)
    assert (result.status, result.epochs) == ("max_epochs", 2)
    loose = df.solve(make_problem(lam=1e-6), method="auto", tol=0.0, absolute_tol=1e-3)
    tight = df.solve(make_problem(lam=1e-6), method="auto", tol=0.0, absolute_tol=1e-12)
    assert loose.status == tight.status == "converged"
    assert loose.epochs < tight.epochs
    assert loose.certificate.gap <= 1e-3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"absolute_tol": -1.0}, "absolute_tol is -1"),
        ({"max_epochs": 0}, "max_epochs is 0"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"resume": True}, "resume is True, but there is no checkpoint"),
        ({"checkpoint_every": 0}, "checkpoint_every is 0"),
    ],
)
def test_bad_options_are_refused_before_the_call(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        df.solve(make_problem(), method="auto", **options)


def test_a_tolerance_beyond_rounding_leaves_the_call_and_ends():
    problem = make_problem()
    w = np.zeros(problem.d)
    look, _, stuck = problem.newton_steps(w, 0.0, 100)
    assert stuck
    assert look is None
    best = df.solve(problem, method="lbfgs", tol=1e-13, max_epochs=500).certificate.value
    assert problem.value(w) == pytest.approx(best, rel=1e-13)
    result = df.solve(problem, method="auto", tol=0.0)
    assert result.status in ("stalled", "converged")  # rounding may leave a gap of zero
    assert result.certificate.relative_gap < 1e-12


def test_zero_may_be_the_optimum():
    X = np.random.default_rng(0).normal(size=(50, 4))
    result = df.solve(df.Problem(X, df.losses.Squared(np.zeros(50)), 0.1), method="auto")
    assert result.status == "converged"
    np.testing.assert_array_equal(result.w, 0.0)


def test_it_is_for_few_data_alone():
    assert few(entries_at_once(make_problem(), 1e-6))
    assert entries_at_once(make_problem(d=129), 1e-6) == np.inf
    assert entries_at_once(make_problem(n=100_000), 1e-6) == np.inf
    X, y = make_data("logistic")
    for loss, options in [
        (df.losses.Logistic(y), {"regulariser": df.regularisers.L2L1(0.1)}),
        (df.losses.Logistic(y, weight=np.linspace(-0.1, 1, 60)), {}),
        (df.losses.Tukey(y), {}),
    ]:
        assert entries_at_once(df.Problem(X, loss, 0.1, **options), 1e-6) == np.inf
    problem = make_problem(d=129)
    with pytest.raises(ValueError, match="at most 128 features"):
        problem.newton_steps(np.zeros(129), 1e-6, 10)


def test_more_data_are_weighed_against_other_methods():
    X, y = make_data("logistic", n=800, d=60)
    problem = df.Problem(X, df.losses.Logistic(y), 1e-7)
    assert np.isfinite(entries_at_once(problem, 1e-6))
    assert not few(entries_at_once(problem, 1e-6))
    assert entries_at_once(problem, 1e-6) < estimate(problem, 1e-6).entries
    assert len(df.solve(problem, method="auto").history) == 2
    X, y = make_data("logistic", n=1400, d=120)
    easy = df.Problem(X, df.losses.SmoothedHinge(y), 1000.0)
    assert estimate(easy, 0.1).best == "dfsdca"
    assert estimate(easy, 0.1).entries < entries_at_once(easy, 0.1) < np.inf
    assert "dfSDCA was chosen by estimated cost" in df.solve(easy, method="auto", tol=0.1).message


def test_where_the_loop_of_newton_s_method_would_be_chosen_the_call_is():
    X, y = make_data("smoothed-hinge", n=8000, d=60)
    problem = df.Problem(X, df.losses.SmoothedHinge(y), 1e-6)
    costs = estimate(problem, 1e-6)
    assert costs.best == "newton"
    assert costs.entries < entries_at_once(problem, 1e-6) < np.inf
    assert "one call" in df.solve(problem, method="auto").message


def test_who_has_little_time_is_asked_on_the_way():
    X, y = make_data("logistic", n=8000, d=60)
    problem = df.Problem(X, df.losses.Logistic(y), 1e-6)
    for limit, once in ((0.1, False), (10.0, True)):
        assert ("one call" in df.solve(problem, method="auto", time_limit=limit).message) == once
    assert "one call" in df.solve(make_problem(), method="auto", time_limit=0.1).message
