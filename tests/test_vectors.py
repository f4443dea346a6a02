"""Examples with several outputs against the literal reference: values, duals, Algorithm 1, and every layout."""

import numpy as np
import pytest

import dualfree as df
from dualfree.reference import vectors
from dualfree.steps import step_rule
from helpers.problems import LAYOUTS
from helpers.samplings import as_batches
from helpers.vectors import VECTOR_LOSSES, as_list, vector_twins

WEIGHTS = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


@WEIGHTS
@pytest.mark.parametrize("step", ["theorem-1", "theorem-2", "per-example", "implicit"])
@pytest.mark.parametrize("sampling", ["uniform", "nice:4", "chunks:2"])
@pytest.mark.parametrize("name", VECTOR_LOSSES)
def test_algorithm_1_equals_the_reference(name, sampling, step, weighted):
    fast, slow = vector_twins(name, seed=2, weighted=weighted)
    bound = df.samplings.by_name(sampling).bind(fast)
    draws, rule = bound.draw(0, 25, seed=3), step_rule(step, bound)
    scale = np.broadcast_to(rule.scale, (fast.n,))
    start = np.zeros(fast.examples.total)
    w, alpha = vectors.dfsdca(
        slow, as_batches(draws), None if rule.implicit else scale, bound.v / (fast.lam * fast.n), as_list(fast, start)
    )
    point = np.zeros(fast.d)
    fast.examples.dfsdca(fast.loss.native, rule.slack, rule.scale, 1 / (fast.lam * fast.n), draws, None, start, point)
    np.testing.assert_allclose(start, np.concatenate(alpha), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(point, w, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(point, fast.primal(start).ravel(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("m", [2, 3, 4, 5, 7, 9, 11, 20, 30])
@pytest.mark.parametrize("kind", ["dense-c", "csr-int32"])
def test_every_number_of_outputs(m, kind):
    fast, slow = vector_twins("softmax", n=m + 4, m=m, layout=kind)
    w = np.random.default_rng(0).normal(size=fast.d)
    assert fast.value(w) == pytest.approx(slow.value(w), rel=1e-12)
    np.testing.assert_allclose(fast.gradient(w).ravel(), slow.gradient(w), rtol=1e-11, atol=1e-13)
    result = df.solve(fast, tol=1e-10, max_epochs=2000)
    assert result.status == "converged"
    assert np.abs(slow.gradient(result.w.ravel())).max() < 1e-4


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["softmax", "conditional-logit"])
def test_every_layout_and_type(name, dtype, layout):
    fast, slow = vector_twins(name, dtype=dtype, layout=layout)
    result = df.solve(fast, tol=1e-11, max_epochs=3000)
    assert result.status == "converged"
    assert np.abs(slow.gradient(result.w.ravel())).max() < 1e-5
    alone = df.solve(fast, tol=1e-11, max_epochs=3000, n_threads=3)
    np.testing.assert_array_equal(alone.w, result.w)


@pytest.mark.parametrize("c", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("m", [2, 3, 10, 40])
def test_implicit_softmax_step_at_any_scale(c, m):
    rng = np.random.default_rng(0)
    slow = vectors.VectorProblem([np.eye(m)], [np.eye(m)[0]], np.ones(1), vectors.cross_entropy(), lam=1.0)
    for trial in range(40):
        z = 10 ** rng.uniform(-1, 2) * rng.normal(size=m)
        alpha = np.eye(m)[0] - rng.dirichlet(np.ones(m)) if trial % 2 else 5 * rng.normal(size=m)
        fast, w = alpha.copy(), z.copy()
        block = df.Blocks(np.eye(m), [0, m])
        loss = df.losses.ConditionalLogit([0]).bound(block)
        draws = df.samplings.base.Draws(np.array([0]))
        block.dfsdca(loss.native, 0.0, np.array([c]), 0.0, draws, None, fast, w)
        residual = fast + slow.gradient_of(0, z + c * (fast - alpha))
        assert np.abs(residual).max() <= 1e-11 * (1 + np.abs(alpha).max()) * (1 + c * 1e-4)
        assert (slow.y[0] - fast >= -1e-12).all()
        near = alpha.copy()
        block.dfsdca(loss.native, 1.0, np.array([c]), 0.0, draws, None, near, w)
        assert np.linalg.norm(near - fast) <= 0.012 * np.linalg.norm(fast - alpha) + 1e-12
        assert (slow.y[0] - near >= -1e-12).all()


@pytest.mark.parametrize("name", VECTOR_LOSSES)
def test_a_point_outside_the_domain_is_moved_into_it(name):
    problem, _ = vector_twins(name, weighted=True)
    wild = 20 * np.random.default_rng(0).normal(size=problem.examples.total)
    inside = problem.loss.project(wild)
    assert np.isfinite(problem.loss.weighted_conjugate(inside)).all()
    assert np.isfinite(problem.evaluate(np.zeros(problem.d), wild).duality_gap)
    result = df.solve(problem, warm_start=wild.reshape(problem.examples.alpha_shape), tol=1e-8, max_epochs=2000)
    assert result.status == "converged"


@pytest.mark.parametrize("name", VECTOR_LOSSES)
def test_lbfgs_and_auto_find_the_same_point(name):
    problem, _ = vector_twins(name, n=30, lam=0.02)
    found = [df.solve(problem, method=m, tol=1e-12, max_epochs=5000) for m in ("dfsdca", "lbfgs", "auto")]
    assert all(result.status == "converged" for result in found)
    for other in found[1:]:
        np.testing.assert_allclose(other.w, found[0].w, atol=1e-5)
        np.testing.assert_allclose(other.alpha, found[0].alpha, atol=1e-4)


def test_methods_for_one_output_say_so():
    problem, _ = vector_twins("softmax")
    for method in ("sgd", "saga", "s2cd", "dfsdca-copies"):
        with pytest.raises(ValueError, match=f"method='{method}' takes examples with one output alone; .* 'lbfgs'"):
            df.solve(problem, method=method)


def test_shapes_of_a_result():
    problem, _ = vector_twins("softmax", n=9, d=5)
    result = df.solve(problem)
    assert result.w.shape == (5, 3)
    assert result.alpha.shape == (9, 3)
    again = df.solve(problem, warm_start=result)
    assert again.epochs == 0
    np.testing.assert_allclose(problem.primal(result.alpha), result.w, rtol=1e-9)
    assert problem.gradient(result.w).shape == (5, 3)
    assert len(df.plan(problem, ["uniform", "nice:3"])) == 2


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda X: df.Blocks(X, [0, 2]), ValueError, "group_ptr goes from 0 to 2; it must go from 0 to 6"),
        (lambda X: df.Blocks(X, [0, 3, 3, 6]), ValueError, "group_ptr does not increase at 1"),
        (lambda X: df.Blocks(X, [0.0, 6.0]), TypeError, "group_ptr is .* whole numbers"),
        (lambda X: df.Problem(X, df.losses.ConditionalLogit([0]), 1.0), TypeError, r"needs .* df\.Blocks"),
        (
            lambda X: df.Problem(df.Blocks(X, [0, 3, 6]), df.losses.ConditionalLogit([0, 3]), 1.0),
            ValueError,
            r"chosen\[1\] is 3, but group 1 has 3 rows",
        ),
        (
            lambda X: df.Problem(df.Blocks(X, [0, 3, 6]), df.losses.Logistic(np.arange(6) % 2), 1.0),
            TypeError,
            "X is Blocks, .* Logistic takes one row",
        ),
        (
            lambda X: df.Problem(df.Blocks(X, [0, 3, 6]), df.losses.ListNet(np.ones(5)), 1.0),
            ValueError,
            "X has 6 rows but relevance has 5",
        ),
        (lambda X: df.losses.ConditionalLogit([0.5]), ValueError, r"chosen\[0\] is 0.5"),
        (lambda X: df.losses.Softmax([1, 1]), ValueError, "y has one class"),
        (
            lambda X: df.Problem(df.Blocks(X, [0, 6]), df.losses.ConditionalLogit([1]), 1.0, intercept=True),
            ValueError,
            "intercept is True and X is Blocks",
        ),
        (lambda X: df.Problem(X, df.losses.Softmax(range(5)), 1.0), ValueError, "X has 6 rows but y has 5"),
    ],
)
def test_bad_input_is_refused_in_words(make, error, message):
    with pytest.raises(error, match=message):
        make(np.ones((6, 2)))
