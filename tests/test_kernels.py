"""dfSDCA's kernel against Algorithm 1 written out in NumPy, for every loss, layout, float, step and kind of batch."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree import reference
from dualfree._native import kernels
from dualfree.methods.dfsdca import DfSDCA
from dualfree.reference import samplings as reference_samplings
from dualfree.samplings import Draws
from dualfree.steps import step_rule
from helpers.problems import (
    LAYOUTS,
    LOSSES,
    least_squares_with_negative_weights,
    matrix,
    positive_weights,
    targets,
    twins,
)
from helpers.samplings import as_batches

N, D, LAM = 12, 9, 0.03
STEPS = ("theorem-1", "theorem-2", "per-example", "implicit", 0.01)
COINS = np.linspace(0.05, 0.6, N)
SERIAL = np.arange(1, N + 1) / (N * (N + 1) / 2)


@cache
def arrays(name, dtype, weighted):
    rng = np.random.default_rng(7)
    X, y = matrix(rng, N, D, density=0.7, dtype=dtype), targets(rng, name, N)
    # Within every conjugate's domain; at zero where the weight is.
    start = np.abs(rng.uniform(0.1, 0.8, size=N)) * y / np.abs(y)
    weight = positive_weights(rng, N) if weighted else None
    return X, y, weight, start if weight is None else start * weight


def sampling_of(batched):
    return df.samplings.Independent(COINS) if batched else df.samplings.Serial(SERIAL)


@cache
def draws_of(batched):
    """A stream of sets; in the batched one, empty sets at the start, in the middle and at the end."""
    any_problem = df.Problem(np.ones((N, 1)), df.losses.Squared(np.ones(N)), 1.0)
    draws = sampling_of(batched).bind(any_problem).draw(0, 40, seed=5)
    if not batched:
        return draws
    start = draws.batch_start
    draws = Draws(draws.indices, np.concatenate([start[:1], start[:20], start[19:], start[-1:]]))
    assert {0, 1, 2} <= {len(batch) for batch in as_batches(draws)}
    return draws


@cache
def expected(name, dtype, weighted, step, batched):
    X, y, weight, start = arrays(name, dtype, weighted)
    _, slow = twins(name, X, y, LAM, weight)
    sampling = reference_samplings.independent(COINS) if batched else reference_samplings.serial(SERIAL)
    v = reference.eso_parameters(slow.X, sampling)
    return reference.dfsdca(slow, as_batches(draws_of(batched)), sampling.p, v, step, start)


def advanced(problem, step, batched, start):
    bound = sampling_of(batched).bind(problem)
    method = DfSDCA(problem, bound, step_rule(step, bound))
    state = method.start(start.copy())
    method.advance(state, draws_of(batched))
    return state


@pytest.mark.parametrize("batched", [False, True], ids=["serial", "batches"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_kernel_equals_algorithm_1(name, layout, dtype, weighted, step, batched):
    X, y, weight, start = arrays(name, dtype, weighted)
    fast, slow = twins(name, X, y, LAM, weight, layout)
    state = advanced(fast, step, batched, start)
    w, alpha = expected(name, dtype, weighted, step, batched)
    np.testing.assert_allclose(state.alpha, alpha, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(state.w, w, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(state.w, slow.primal(state.alpha), rtol=1e-10, atol=1e-10)
    assert state.iteration == draws_of(batched).count
    assert not np.array_equal(state.alpha, start)


@pytest.mark.parametrize("batched", [False, True], ids=["serial", "batches"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["logistic", "huber"])
def test_kernel_with_nearly_implicit_steps(name, layout, weighted, batched):
    test_kernel_equals_algorithm_1(name, layout, np.float64, weighted, "nearly-implicit", batched)
    plain, near = (expected(name, np.float64, weighted, step, batched)[1] for step in ("implicit", "nearly-implicit"))
    assert np.array_equal(plain, near) == (name != "logistic")


@pytest.mark.parametrize("step", ["theorem-1", 0.001])
@pytest.mark.parametrize("batched", [False, True], ids=["serial", "batches"])
def test_kernel_with_negative_weights(step, batched):
    problem = least_squares_with_negative_weights(n=N)
    slow = reference.ReferenceProblem(
        problem.examples.X, problem.loss.y, problem.loss.weight, reference.squared(), problem.lam
    )
    sampling = reference_samplings.independent(COINS) if batched else reference_samplings.serial(SERIAL)
    v = reference.eso_parameters(slow.X, sampling)
    w, alpha = reference.dfsdca(slow, as_batches(draws_of(batched)), sampling.p, v, step, np.zeros(N))
    state = advanced(problem, step, batched, np.zeros(N))
    np.testing.assert_allclose(state.w, w, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(state.alpha, alpha, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_evaluation_equals_the_reference(name, layout, dtype, weighted):
    X, y, weight, alpha = arrays(name, dtype, weighted)
    fast, slow = twins(name, X, y, LAM, weight, layout)
    w = np.random.default_rng(1).normal(size=D)
    seen = fast.evaluate(w, alpha)
    assert seen.value == pytest.approx(slow.value(w), rel=1e-12)
    assert fast.value(w) == pytest.approx(slow.value(w), rel=1e-12)
    np.testing.assert_allclose(seen.gradient, slow.gradient(w), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(fast.gradient(w), slow.gradient(w), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(seen.combination, slow.primal(alpha), rtol=1e-12, atol=1e-14)
    assert fast.dual_value(alpha) == pytest.approx(slow.dual_value(alpha), rel=1e-11)
    assert fast.gap(w, alpha) == pytest.approx(slow.gap(w, alpha), rel=1e-11)
    assert seen.duality_gap == pytest.approx(slow.gap(w, alpha), rel=1e-11)


@pytest.mark.parametrize("z", [-900.0, -88.91605831524458, -3.0, 0.0, 2.0, 40.0, 900.0])
@pytest.mark.parametrize("alpha", [0.0, 1e-9, 0.046644662826228145, 0.5, 1.0])
@pytest.mark.parametrize("c", [1e-3, 1.0, 1e2, 1e4, 1e8])
def test_the_implicit_step_is_found_at_any_scale(z, alpha, c):
    """Among them a case where Newton, kept in its bracket but not watched, jumps between two points for ever."""
    one = reference.ReferenceProblem(np.ones((1, 1)), np.ones(1), np.ones(1), reference.logistic(), lam=1.0)
    root = reference.implicit_step(one, 0, z, alpha, c)
    assert logistic_visit(z, alpha, c, slack=0.0) == pytest.approx(root, rel=1e-12, abs=1e-15)
    near = reference.nearly_implicit_step(one, 0, z, alpha, c)
    assert logistic_visit(z, alpha, c, slack=1.0) == pytest.approx(near, rel=1e-9, abs=1e-12)


def test_a_step_has_all_the_digits_that_its_product_has():
    """Without curvature the step ends at 1/(1 + e^z), which one rounding of z moves by |z| units or less."""
    for z in np.concatenate([np.linspace(-700, 700, 1401), np.random.default_rng(0).normal(size=1000) * 5]):
        sigmoid = np.exp(-np.logaddexp(0, np.longdouble(z)))
        assert abs(logistic_visit(z, 0.0, 0.0, slack=0.0) - sigmoid) <= 2.3e-16 * (3 + abs(z)) * sigmoid


@pytest.mark.parametrize("c", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("slack", [0.0, 1.0])
def test_alpha_stays_where_the_conjugate_is_finite(c, slack):
    for z in (-900.0, -40.0, -1.0, 0.0, 1.0, 40.0, 900.0):
        for alpha in (0.0, 1e-300, 1e-17, 0.3, 1 - 1e-16, 1.0):
            assert 0 <= logistic_visit(z, alpha, c, slack) <= 1


@pytest.mark.parametrize("c", [1e-3, 0.1, 1.0, 10.0, 1e3, 1e6])
def test_the_nearly_implicit_step_is_off_by_a_hundredth_and_wins_as_much(c):
    rng = np.random.default_rng(0)
    one = reference.ReferenceProblem(np.ones((1, 1)), np.ones(1), np.ones(1), reference.logistic(), lam=1.0)
    saved = 0
    for _ in range(300):
        z, alpha = 10 ** rng.uniform(-3, 2) * rng.normal(), rng.choice([0.0, rng.random(), 10 ** rng.uniform(-8, 0)])
        root, near = reference.implicit_step(one, 0, z, alpha, c), logistic_visit(z, alpha, c, slack=1.0)
        assert abs(near - root) <= 0.0103 * abs(root - alpha) + 1e-15

        def dual(a, z=z, alpha=alpha):  # along this coordinate
            return -float(one.loss.conjugate(np.asarray(a), 1.0)) - z * (a - alpha) - 0.5 * c * (a - alpha) ** 2

        won = dual(root) - dual(alpha)
        assert dual(near) - dual(alpha) >= 0.9998 * won - 1e-14 * (1 + abs(z))
        saved += near != logistic_visit(z, alpha, c, slack=0.0)
    assert saved > 30  # else nothing would have been tested


def logistic_visit(z, alpha, c, slack):
    """α of an example after one visit, where its product with w is z."""
    problem = df.Problem(np.ones((2, 1)), df.losses.Logistic([1.0, -1.0]), lam=1.0)
    found, step = np.array([alpha, 0.0]), (slack, np.array([c]), 0.0)
    kernels.dfsdca(problem.examples.native, problem.loss.native, *step, np.array([0]), None, found, np.array([z]))
    return found[0]


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_w_that_is_asked_for_ahead_is_the_same(same, intercept):
    """Of 300,000 features most are in no row: without these, w is too short to be asked for."""
    rng = np.random.default_rng(0)
    X = sparse.random(60, 300, 0.2, "csr", rng=rng)
    X.data[:] = 0.5 if same else X.data
    y, where = rng.choice([-1.0, 1.0], size=60), np.sort(rng.choice(300_000, size=300, replace=False))
    wide = sparse.csr_matrix((X.data, where[X.indices], X.indptr), shape=(60, 300_000))
    found = [
        df.solve(df.Problem(each, df.losses.Logistic(y), 0.01, intercept), step="nearly-implicit", max_epochs=5, tol=0)
        for each in (X, wide)
    ]
    assert (found[0].w[:300] == found[1].w[where]).all()
    assert (found[0].w[300:] == found[1].w[300_000:]).all()
    assert (found[0].alpha == found[1].alpha).all()
    assert np.count_nonzero(found[1].w) == np.count_nonzero(found[0].w)
