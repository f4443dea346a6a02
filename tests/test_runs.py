"""Passes over short rows of different lengths, which are read as one stream, and over dense ones, side by side."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree._native import kernels
from dualfree.examples import Rows
from helpers.problems import with_layout


def ragged(n: int, d: int, longest: int, seed: int = 0) -> sparse.csr_matrix:
    """Rows of 0 to `longest` entries, and one that no stream has room for."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, longest + 1, n)
    lengths[n // 2] = min(d, 5000)
    columns = np.concatenate([np.sort(rng.choice(d, size, replace=False)) for size in lengths])
    start = np.concatenate([[0], np.cumsum(lengths)])
    return sparse.csr_matrix((rng.normal(size=start[-1]), columns, start), shape=(n, d))


@pytest.mark.parametrize("longest", [3, 23, 24, 25, 60])
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_passes_are_those_of_dense_rows(longest, constant, dtype):
    X = ragged(3000, 6000, longest).astype(dtype)
    rows, dense = Rows(X, constant=constant), Rows(X.toarray(), constant=constant)
    rng = np.random.default_rng(1)
    w, c, e = rng.normal(size=rows.d), rng.normal(size=rows.n), rng.normal(size=rows.n)
    np.testing.assert_allclose(rows.margins(w), dense.margins(w), rtol=0, atol=1e-11)
    np.testing.assert_allclose(rows.combine(c), dense.combine(c), rtol=0, atol=1e-11)
    for one, other in zip(rows.combine_pair(c, e), dense.combine_pair(c, e), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-11)


@pytest.mark.parametrize("width", [*range(1, 20), 31, 32, 33, 46])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_rows_of_any_width_in_any_layout(width, dtype):
    rng = np.random.default_rng(width)
    for n in (1, 2, 3, 5, 137):
        X = rng.normal(size=(n, width)).astype(dtype)
        exact = X.astype(np.float64)
        for layout in ("dense-c", "dense-f", "dense-strided"):
            for constant in (False, True):
                rows = Rows(with_layout(X, layout), constant=constant)
                full = np.column_stack([exact, np.full(n, rows.constant_value)]) if constant else exact
                w, c, e = rng.normal(size=rows.d), rng.normal(size=n), rng.normal(size=n)
                close = {"rtol": 0, "atol": 1e-12 * n}
                np.testing.assert_allclose(rows.margins(w), full @ w, **close)
                np.testing.assert_allclose(rows.combine(c), full.T @ c, **close)
                np.testing.assert_allclose(rows.square_norms, (full**2).sum(1), rtol=1e-13)
                for one, other in zip(rows.combine_pair(c, e), (full.T @ c, full.T @ e), strict=True):
                    np.testing.assert_allclose(one, other, **close)
                visited = np.arange(n)[::-1].copy()
                np.testing.assert_allclose(rows.margins(w, visited), (full @ w)[::-1], **close)


def test_one_value_for_all():
    X = ragged(3000, 6000, 12)
    X.data[:] = 0.5
    w = np.random.default_rng(1).normal(size=6000)
    np.testing.assert_allclose(Rows(X).margins(w), X @ w, rtol=0, atol=1e-12)
    np.testing.assert_allclose(Rows(X).combine(w[:3000]), X.T @ w[:3000], rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [1, 511, 513, 3000])
@pytest.mark.parametrize("longest", [3, 23, 30])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_rows_of_one_value_in_the_order_of_their_length(n, longest, intercept, index):
    X = ragged(n, 300, longest, seed=n)
    X.data[:] = 0.5
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    y = np.where(np.arange(n) % 3 == 1, 1.0, -1.0) if n > 1 else np.ones(1)
    loss = df.losses.Squared(y) if n == 1 else df.losses.Logistic(y)
    problem = df.Problem(X, loss, lam=1e-3, intercept=intercept)
    w = np.random.default_rng(1).normal(size=problem.d)
    column = np.full((n, 1), problem.examples.constant_value)
    full = np.hstack([X.toarray(), column]) if intercept else X.toarray()
    z, derivatives, gradients = full @ w, [], []
    for threads in (1, 2, 3):
        gradient, margins, slopes = np.zeros(problem.d), np.empty(n), np.empty(n)
        total = kernels.loss_and_gradient(
            problem.examples.native, loss.native, w, gradient, None, margins, slopes, threads=threads
        )
        assert total == pytest.approx(float(loss.values(z).sum()), rel=1e-12)
        np.testing.assert_allclose(margins, z, rtol=0, atol=1e-11)
        np.testing.assert_allclose(slopes, loss.derivatives(z), rtol=0, atol=1e-11)
        np.testing.assert_allclose(gradient, full.T @ loss.derivatives(z), rtol=0, atol=1e-9)
        derivatives.append(slopes.tobytes())
        gradients.append(gradient.tobytes())
    assert len(set(derivatives)) == len(set(gradients)) == 1


def test_the_same_bits_for_any_number_of_threads():
    X = ragged(20_000, 300, 24)
    problem = df.Problem(X, df.losses.Logistic(np.sign(np.arange(20_000) % 3 - 0.5)), lam=1e-4)
    rng = np.random.default_rng(1)
    w, alpha = rng.normal(size=300), problem.loss.y * rng.uniform(size=20_000)
    seen = [problem.evaluate(w, alpha, n_threads=k) for k in (1, 2, 3)]
    margins = [problem.margins(w, n_threads=k) for k in (1, 2, 3)]
    for other, z in zip(seen[1:], margins[1:], strict=True):
        assert (other.value, other.duality_gap) == (seen[0].value, seen[0].duality_gap)
        np.testing.assert_array_equal(other.gradient, seen[0].gradient)
        np.testing.assert_array_equal(z, margins[0])


def test_short_rows_that_no_cache_holds():
    """Tiles are shorter there; four entries in each of a million rows."""
    rng = np.random.default_rng(0)
    n, d = 1_000_000, 40
    columns = (rng.integers(0, 10, size=(n, 4)) + np.arange(0, d, 10)).astype(np.int32).ravel()
    X = sparse.csr_matrix((rng.normal(size=4 * n), columns, np.arange(0, 4 * n + 1, 4, dtype=np.int32)), shape=(n, d))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    w, alpha = rng.normal(size=d), y * rng.uniform(0.1, 0.9, size=n)
    z = X @ w
    problems = [df.Problem(X, df.losses.Logistic(y), lam=1e-3, n_threads=k) for k in (1, 2)]
    seen = [problem.evaluate(w, alpha, n_threads=k) for k, problem in enumerate(problems, 1)]
    value = np.logaddexp(0, -y * z).mean() + 0.5e-3 * w @ w
    assert seen[0].value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(seen[0].gradient, X.T @ (-y / (1 + np.exp(y * z))) / n + 1e-3 * w, atol=1e-12)
    assert seen[0].duality_gap == pytest.approx(value - problems[0].dual_value(alpha), rel=1e-9)
    assert (seen[1].value, seen[1].duality_gap) == (seen[0].value, seen[0].duality_gap)
    np.testing.assert_array_equal(problems[1].norms, problems[0].norms)
    np.testing.assert_allclose(problems[0].norms, np.linalg.norm(X.data.reshape(n, 4), axis=1), rtol=1e-14)


def test_a_glance_is_what_the_evaluation_says():
    X = ragged(2000, 300, 12)
    y = np.sign(X @ np.ones(300) + 0.1)
    problem = df.Problem(X, df.losses.Logistic(y), lam=1e-3)
    result = df.solve(problem, tol=1e-3)
    alpha, w = result.alpha, problem.primal(result.alpha)
    margins = np.empty(2000)
    total, fenchel, outside = problem.examples.fenchel(problem.loss.native, w, alpha, margins)
    first, again = problem.evaluate(w, alpha), problem.evaluate(w, alpha, margins)
    np.testing.assert_array_equal(margins, problem.margins(w))
    assert outside < 1e-12
    assert fenchel / 2000 == pytest.approx(first.duality_gap, rel=1e-12)
    assert total / 2000 + 5e-4 * float(w @ w) == pytest.approx(first.value, rel=1e-12)
    assert (again.value, again.duality_gap) == (first.value, first.duality_gap)
    assert first.squares.gradient == pytest.approx(float(first.gradient @ first.gradient), rel=1e-12)
    np.testing.assert_allclose(first.combination, problem.combination(alpha), rtol=0, atol=1e-12)


def test_margins_that_do_not_fit_are_refused():
    problem = df.Problem(ragged(50, 300, 5), df.losses.Logistic(np.sign(np.arange(50) % 2 - 0.5)), lam=1e-3)
    with pytest.raises(ValueError, match="margins has 49 entries; it must have 50"):
        problem.examples.settled(problem.loss.native, np.zeros(300), np.zeros(50), 1e-3, np.zeros(49))
