"""Newton's method: the same optimum as dfSDCA, in few iterations, where stochastic steps would take for ever."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree._native import kernels
from dualfree.methods.curvature import SampledHessian
from dualfree.methods.newton import Newton
from dualfree.methods.newton_plan import hessian_passes, plan_newton, sample_size, spread_sample
from dualfree.steps import StepRule
from helpers.off_centre import LOSSES, OUTPUTS, make_data, make_loss

INTERCEPT = [False, True]


BLOCKS = {
    "conditional-logit": lambda y, **k: df.losses.ConditionalLogit(np.zeros(len(y) // 3), **k),
    "listnet": df.losses.ListNet,
}
SEVERAL = (*OUTPUTS, *BLOCKS)  # the latter have no intercept
CASES = [(name, with_b) for with_b in INTERCEPT for name in (*LOSSES, *SEVERAL) if not (with_b and name in BLOCKS)]


def make_problem(name, lam, intercept, layout=np.asarray, weight=None):
    X, y = make_data(name, centre=1.0)
    if name in BLOCKS:
        start = np.concatenate([[0], np.cumsum(np.resize([2, 4, 3, 3], 20))])
        return df.Problem(df.Blocks(layout(X), start), BLOCKS[name](y, weight=weight), lam)
    return df.Problem(layout(X), make_loss(name, X, y, weight), lam, intercept=intercept)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix, np.asfortranarray, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize(("name", "intercept"), [case for case in CASES if case[0] in ("logistic", *SEVERAL)])
def test_hessian_by_differences(layout, name, intercept):
    weight = np.random.default_rng(0).uniform(0.0, 2.0, size=20 if name in BLOCKS else 60)
    problem = make_problem(name, 0.1, intercept, layout, weight)
    w = 0.1 * np.random.default_rng(1).normal(size=problem.d)
    steps = 1e-6 * np.eye(problem.d)
    differences = [(problem.gradient(w + e) - problem.gradient(w - e)).ravel() / 2e-6 for e in steps]
    z = problem.margins(w)
    upper = np.triu(differences)
    np.testing.assert_allclose(np.triu(problem.hessian(z)), upper, atol=1e-7)
    every = np.arange(problem.n)
    of_each = np.mean([problem.hessian(z, every[[i]]) for i in every], axis=0)
    np.testing.assert_allclose(np.triu(of_each), upper, atol=1e-7)


@pytest.mark.parametrize("name", LOSSES)
def test_curvature_is_the_derivative_of_the_derivative(name):
    problem = make_problem(name, 0.1, False)
    loss, z = problem.loss, np.random.default_rng(2).normal(size=problem.n)
    out = np.empty(problem.n)
    kernels.loss_curvature(loss.native, z, out)
    differences = (loss.derivative(z + 1e-7, loss.y) - loss.derivative(z - 1e-7, loss.y)) / 2e-7
    np.testing.assert_allclose(out, differences, atol=1e-6)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("name", "intercept"), [case for case in CASES if case[0] in ("huber", *SEVERAL)])
def test_a_look_is_an_evaluation_at_the_best_intercept(layout, name, intercept):
    problem = make_problem(name, 0.1, intercept, layout)
    w, seen, z, derivatives = problem.look(np.random.default_rng(3).normal(size=problem.d))[:4]
    again = problem.evaluate(w)
    assert seen.value == pytest.approx(again.value, rel=1e-12)
    np.testing.assert_allclose(seen.gradient, again.gradient, atol=1e-12)
    np.testing.assert_allclose(z, problem.margins(w), atol=1e-12)
    if intercept:
        assert np.abs(again.gradient[problem.free]).max() < 1e-12
    np.testing.assert_allclose(derivatives, problem.derivatives(w), atol=1e-14)
    alpha = -derivatives
    assert seen.duality_gap == pytest.approx(problem.gap(w, alpha), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("name", "intercept"), CASES)
def test_l_bfgs_reaches_the_optimum(name, intercept):
    problem = make_problem(name, 0.01, intercept, sparse.csr_matrix)
    result = df.solve(problem, method="lbfgs", tol=1e-9, max_epochs=500)
    assert result.status == "converged", result.message
    other = df.solve(problem, method="newton", tol=1e-12)
    assert result.certificate.value == pytest.approx(other.certificate.value, rel=1e-8)


def test_a_tolerance_beyond_rounding_ends_the_run():
    result = df.solve(make_problem("logistic", 0.1, False), method="newton", tol=0.0, max_epochs=500)
    assert result.status == "stalled"
    assert result.epochs < 100
    assert result.certificate.relative_gap < 1e-12
    assert "Rounding allows no further progress" in result.message


def test_a_sample_of_the_examples_is_enough_where_they_are_many():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20_000, 5))
    y = np.sign(X @ rng.normal(size=5) + rng.normal(size=20_000))
    problem = df.Problem(X, df.losses.Logistic(y), lam=1e-8)
    assert sample_size(problem) == 400
    result = df.solve(problem, method="newton", tol=1e-6)
    assert result.status == "converged"
    assert result.epochs <= 10


def test_a_curvature_that_never_changes_is_taken_whole_where_that_pays():
    X = sparse.random(20_000, 50, 0.1, "csr", rng=np.random.default_rng(6))
    y = X @ np.ones(50) + np.random.default_rng(7).normal(size=20_000)
    hard = df.Problem(X, df.losses.Squared(y), lam=1e-9)
    assert plan_newton(hard, 1e-6) == (20_000, 2.0)
    result = df.solve(hard, method="newton", tol=1e-12)
    assert (result.status, result.epochs) == (df.Status.CONVERGED, 1)
    best = np.linalg.solve((X.T @ X).toarray() / 20_000 + 1e-9 * np.eye(50), X.T @ y / 20_000)
    np.testing.assert_allclose(result.w, best, rtol=1e-8)
    easy = df.Problem(X, df.losses.Squared(y), lam=1.0)
    assert plan_newton(easy, 0.1).sample < 20_000
    assert plan_newton(df.Problem(X, df.losses.Huber(y), lam=1e-9), 1e-6).sample < 20_000  # not where it may change
    rough = df.solve(hard, method="newton", tol=0.1)
    assert rough.certificate.relative_gap <= 0.1


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("loss", [df.losses.Huber, df.losses.Squared])
def test_a_handful_of_examples(n, loss):
    X = np.random.default_rng(n).normal(size=(n, 4))
    for method in ("newton", "auto"):
        result = df.solve(df.Problem(X, loss(np.ones(n)), lam=0.1), method=method, tol=1e-10)
        assert result.status is df.Status.CONVERGED


@pytest.mark.parametrize("lam", [1.0, 1e-2, 1e-6])
@pytest.mark.parametrize(("name", "intercept"), CASES)
def test_it_reaches_the_optimum_at_any_lambda(name, lam, intercept):
    problem = make_problem(name, lam, intercept)
    result = df.solve(problem, method="newton", tol=1e-11, max_epochs=100)
    assert result.status == "converged", result.message
    assert np.linalg.norm(problem.gradient(result.w)) < 1e-4 * max(1.0, np.linalg.norm(result.w)) * max(lam, 1e-4)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("name", "intercept"), CASES)
def test_it_agrees_with_dfsdca_and_can_follow_it(name, intercept, layout):
    problem = make_problem(name, 0.1, intercept, layout)
    one = df.solve(problem, tol=1e-12, max_epochs=20_000)
    other = df.solve(problem, method="newton", tol=1e-12)
    np.testing.assert_allclose(one.w, other.w, atol=1e-4)
    rough = df.solve(problem, tol=1e-2, max_epochs=200)
    finished = df.solve(problem, method="newton", tol=1e-10, warm_start=rough)
    assert finished.status == "converged"
    assert finished.history[0].value == pytest.approx(rough.certificate.value, rel=1e-6)


def test_what_is_refused():
    problem = make_problem("logistic", 0.1, False)
    for options in ({"sampling": "uniform"}, {"step": "implicit"}):
        with pytest.raises(ValueError, match=r"method='newton' visits all examples and finds its own steps"):
            df.solve(problem, method="newton", **options)
    wide = df.Problem(sparse.csr_matrix((3, 6000)), df.losses.Squared(np.ones(3)), 1.0)
    with pytest.raises(ValueError, match=r"a Hessian of 6000 × 6000; it takes at most 5000 weights"):
        df.solve(wide, method="newton")
    X, y = make_data("squared")
    weight = np.where(np.arange(len(y)) == 0, -0.1, 1.0)
    with pytest.raises(ValueError, match=r"method='newton' needs every φ_i to be convex"):
        df.solve(df.Problem(X, df.losses.Tukey(y, weight=weight), 1e-3), method="newton")

    class Own(df.losses.Loss):
        def value(self, z, y):
            return 0.5 * (z - y) ** 2

        def derivative(self, z, y):
            return z - y

        def smoothness(self, y):
            return np.ones_like(y)

    with pytest.raises(ValueError, match=r"needs the second derivative of the loss, which Own does not give"):
        df.solve(df.Problem(X, Own(y), 1.0), method="newton")


def test_a_hessian_that_has_aged_is_made_anew():
    """Ten classes that can be told apart, λ tiny: from the first Hessian alone, hundreds of passes would be needed."""
    rng = np.random.default_rng(8)
    centres = rng.normal(size=(10, 20))
    y = rng.integers(10, size=800)
    problem = df.Problem(centres[y] + 0.3 * rng.normal(size=(800, 20)), df.losses.Softmax(y), lam=1e-7)
    result = df.solve(problem, method="newton", tol=1e-6, max_epochs=200)
    assert result.status == "converged"
    assert result.epochs <= 60


def test_a_sampled_hessian_is_in_single_precision_only_where_that_is_fine_beside_lam():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    loss, sample = df.losses.Logistic(np.sign(X @ np.ones(20))), np.arange(0, 3000, 2)
    exact = np.triu((X[sample] * 0.25).T @ X[sample] / len(sample))
    for lam, error in ((1e-3, 1e-6), (1e-8, 1e-13)):
        seen = np.triu(df.Problem(X, loss, lam).hessian(np.zeros(3000), sample)) - exact - lam * np.eye(20)
        assert np.abs(seen).max() <= error
        assert (np.abs(seen).max() > 1e-9) == (lam == 1e-3)


@pytest.mark.parametrize("name", LOSSES)
def test_a_hessian_of_all_examples_leads_to_the_same_optimum(name):
    """With few examples for each feature it is of all that are curved, and as exact as it need be."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 120)) / 10
    y = np.where(X @ rng.normal(size=120) + 0.3 * rng.normal(size=300) > 0, 1.0, -1.0)
    problem = df.Problem(X, LOSSES[name](y), lam=1e-3)
    assert sample_size(problem) == problem.n
    result = df.solve(problem, method="newton", tol=1e-11)
    other = df.solve(problem, tol=1e-11, max_epochs=5000)
    assert (result.status, other.status) == ("converged", "converged")
    np.testing.assert_allclose(result.w, other.w, rtol=0, atol=1e-5 * np.abs(other.w).max())


@pytest.mark.parametrize(("n", "size"), [(10, 7), (1000, 999), (1001, 240), (5, 5), (3, 1), (100_003, 99_999)])
def test_a_spread_sample_has_none_twice(n, size):
    for seed in range(20):
        chosen = spread_sample(n, size, seed)
        assert len(chosen) == size
        assert (np.diff(chosen) > 0).all()
        assert 0 <= chosen[0] <= chosen[-1] < n
        mixed = spread_sample(n, size, seed, mixed=True)
        np.testing.assert_array_equal(np.sort(mixed), chosen)
        if size > 100:  # far apart from one to the next, and no part of the data left out for long
            assert np.abs(np.diff(mixed)).min() > n / 4
            assert np.diff(np.sort(mixed[: size // 10])).max() < 40 * n / size


@pytest.mark.parametrize(("scale", "lam", "rough", "digits"), [
    (1.0, 1e-3, True, 4), (1.0, 1e-3, False, 9), (1.0, 1e-7, True, 9), (1e-14, 1e-31, True, 9), (1e13, 1e26, True, 9)
])  # fmt: skip
def test_a_rough_hessian_is_in_single_precision_where_that_is_good_enough(scale, lam, rough, digits):
    rng = np.random.default_rng(0)
    X = scale * rng.normal(size=(1000, 120)) / 11
    problem = df.Problem(X, df.losses.Logistic(np.sign(X[:, 0])), lam)
    hessian, gradient = problem.hessian(np.zeros(1000)), scale * rng.normal(size=120)
    whole = np.triu(hessian) + np.triu(hessian, 1).T
    found = SampledHessian(problem, hessian, rough).solve(gradient)
    assert found.dtype == np.float64
    expected = np.linalg.solve(whole, gradient)
    error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    assert error <= 10.0**-digits
    assert (error > 1e-9) == (digits == 4)


def test_a_hessian_that_single_precision_cannot_take_is_in_double_precision():
    rng = np.random.default_rng(0)
    problem = df.Problem(rng.normal(size=(1000, 120)), df.losses.Logistic(np.arange(1000) % 2), lam=10.0)
    v = np.ones(120) / np.sqrt(120)
    hessian = np.outer(v, v) + 1e-10 * np.eye(120)  # not what `hardness` lets one expect
    found = SampledHessian(problem, hessian.copy(), rough=True).solve(v)
    np.testing.assert_allclose(found, v / (1 + 1e-10), rtol=1e-4)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("method", ["newton", "lbfgs"])
def test_the_alpha_of_a_point_that_is_not_the_last_is_derived_from_it(monkeypatch, method, intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    problem = df.Problem(X, df.losses.Logistic(X @ np.ones(4) + rng.normal(size=60) > 0), 0.01, intercept)
    gaps = iter([9.0, 0.5, 2.0, 3.0])  # as if the second of four steps had led to the best point
    monkeypatch.setattr("dualfree.loop.Certificate.beats", lambda proof, other: next(gaps) < 1)
    result = df.solve(problem, method=method, tol=0.0, max_epochs=4)
    np.testing.assert_allclose(result.alpha, -problem.derivatives(result.w), rtol=1e-12)
    monkeypatch.undo()
    last = df.solve(problem, method=method, tol=0.0, max_epochs=2)
    np.testing.assert_array_equal(result.w, last.w)


@pytest.mark.parametrize("loss", [df.losses.Squared, df.losses.Logistic])
def test_a_step_that_was_too_long_blames_the_sample_where_the_curvature_never_changes(loss):
    X = np.random.default_rng(0).normal(size=(20_000, 30))
    problem = df.Problem(X, loss(np.sign(X[:, 0])), lam=100.0)  # so easy that a sample is enough to begin with
    method = Newton(problem, df.samplings.Nice(20_000).bind(problem), StepRule("newton", np.ones(1), None, 1.0, None))
    method.tol = 0.1
    first = method._size(0)
    assert first < 20_000
    assert method._outgrown(0.5, 1e-3, shortened=True)
    assert method._size(method._growths) == (20_000 if loss is df.losses.Squared else first)


@pytest.mark.parametrize("loss", [df.losses.Squared, df.losses.Logistic])
def test_the_price_of_a_better_hessian_is_that_of_the_examples_behind_it(loss):
    X = sparse.random(20_000, 30, 0.1, "csr", rng=np.random.default_rng(0))
    problem = df.Problem(X, loss(np.sign(X[:, [0]].toarray().ravel() - 0.01)), lam=100.0)
    method = Newton(problem, df.samplings.Nice(20_000).bind(problem), StepRule("newton", np.ones(1), None, 1.0, None))
    method.tol = 0.1
    assert method._sample < 5000
    method._new_base(np.zeros(20_000))
    if loss is df.losses.Squared:  # whose next Hessian is that of all
        assert method._price == hessian_passes(problem, 20_000)
    else:
        assert method._price < hessian_passes(problem, 20_000) / 2


@pytest.mark.parametrize("loss", [df.losses.Squared, df.losses.Logistic])
@pytest.mark.parametrize("scale", [1e-25, 1.0, 1e21])
def test_steps_do_not_mind_the_unit_of_x(loss, scale):
    """Sums of products that are out of range in single precision are made in double."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(2000, 110))
    y = np.sign(X[:, 0] + rng.normal(size=2000))
    problem = df.Problem(scale * X, loss(y), 0.5 * scale**2)
    result = df.solve(problem, method="newton", tol=1e-8, max_epochs=20)
    assert result.status == "converged"
