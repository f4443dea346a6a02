"""Sums of products of rows that are taken as dense ones, against NumPy."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree._native import kernels
from dualfree.examples.grams import dense_grams, scattered
from helpers.problems import LAYOUTS, matrix, with_layout

# Below, at and above the columns of a vector and of a panel, for all instruction sets; rows likewise.
WIDTHS = (1, 7, 8, 9, 24, 25, 47, 48, 49, 100)
HEIGHTS = (1, 95, 96, 97, 400)


def listed(rng, n):
    """Some rows, some of them twice, with weights of both signs and none."""
    indices = rng.integers(n, size=2 * n)
    return indices, rng.normal(size=2 * n) * (rng.random(2 * n) < 0.8)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("number", "digits"), [(np.float64, 1e-13), (np.float32, 2e-5)])
def test_sums_of_products(number, digits, layout, intercept):
    rng = np.random.default_rng(0)
    for d in WIDTHS:
        for n in HEIGHTS:
            X = matrix(rng, n, d)
            problem = df.Problem(with_layout(X, layout), df.losses.Squared(np.ones(n)), 1.0, intercept=intercept)
            constant = np.full((n, 1), problem.examples.constant_value)
            A = np.hstack([X, constant]) if intercept else X
            indices, weights = listed(rng, n)
            exact = np.triu((A[indices] * weights[:, None]).T @ A[indices])
            scale = np.abs(A[indices].T * weights) @ np.abs(A[indices])
            found = dense_grams(problem.examples.native, A.shape[1], weights[None], indices, number)[0]
            assert (np.abs(found - exact) <= digits * scale).all(), (d, n)  # below the diagonal there is nothing


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("d", [19, 131, 300])  # of the last one threads share the panels, of the others the rows
@pytest.mark.parametrize("layout", ["csr-int32", "dense-c"])
def test_the_same_bits_on_any_number_of_threads(layout, d, threads):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, d))
    problem = df.Problem(with_layout(X, layout), df.losses.Squared(np.ones(3000)), 1.0)
    indices, weights = rng.integers(3000, size=30_000), rng.normal(size=30_000)
    exact = np.triu((X[indices] * weights[:, None]).T @ X[indices])
    for number, digits in ((np.float32, 2e-4), (np.float64, 1e-12)):
        alone, together = (
            dense_grams(problem.examples.native, d, weights[None], indices, number, n_threads=n)[0]
            for n in (1, threads)
        )
        np.testing.assert_array_equal(alone, together)
        np.testing.assert_allclose(alone, exact, atol=digits * np.abs(exact).max(), rtol=0)


@pytest.mark.parametrize("intercept", [False, True])
def test_sums_of_short_rows_on_any_number_of_threads(intercept):
    rng = np.random.default_rng(5)
    X = sparse.random(40_000, 12, 0.3, "csr", rng=rng)
    problem = df.Problem(X, df.losses.Squared(np.ones(40_000)), 1.0, intercept=intercept)
    A = np.hstack([X.toarray(), np.full((40_000, 1), problem.examples.constant_value)]) if intercept else X.toarray()
    indices, weights = listed(rng, 40_000)
    assert scattered(X, X.nnz)
    alone, *others = (problem.examples.upper_grams(weights[None], indices, n_threads=n)[0] for n in (1, 2, 5))
    np.testing.assert_allclose(alone, np.triu((A[indices] * weights[:, None]).T @ A[indices]), atol=1e-9)
    for found in others:
        np.testing.assert_array_equal(found, alone)


def test_many_products_are_made_in_several_calls(monkeypatch):
    rng = np.random.default_rng(4)
    X, (indices, weights) = rng.normal(size=(300, 20)), listed(rng, 300)
    problem = df.Problem(X, df.losses.Squared(np.ones(300)), 1.0)

    def found():
        return dense_grams(problem.examples.native, 20, weights[None], indices)[0]

    at_once = found()
    monkeypatch.setattr("dualfree.examples.grams._IN_A_CALL", 50 * 20**2)
    np.testing.assert_allclose(found(), at_once, rtol=1e-12, atol=1e-12)


def test_sums_are_added_to_what_is_there_above_the_diagonal():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 50))
    problem, before = df.Problem(X, df.losses.Squared(np.ones(200)), 1.0), rng.normal(size=(50, 50))
    out = before.copy()
    kernels.dense_gram(problem.examples.native, np.arange(200), np.ones(200), out.reshape(-1))
    np.testing.assert_allclose(np.triu(out), np.triu(before + X.T @ X), rtol=1e-12)
    np.testing.assert_array_equal(np.tril(out, -1), np.tril(before, -1))


def test_nothing_listed_and_wrong_sizes():
    rows = df.Problem(np.ones((4, 3)), df.losses.Squared(np.ones(4)), 1.0).examples.native
    out, nothing = np.zeros(9), np.empty(0)
    kernels.dense_gram(rows, nothing.astype(np.int64), nothing, out)
    assert not out.any()
    wrong = (([0, 4], [1.0, 1.0], 9, "indices"), ([0], [1.0, 1.0], 9, "weights"), ([0], [1.0], 8, "out"))
    for indices, weights, room, name in wrong:
        with pytest.raises((ValueError, IndexError), match=name):
            kernels.dense_gram(rows, np.array(indices), np.array(weights), np.zeros(room))


@pytest.mark.parametrize("method", ["newton", "auto"])
def test_newton_has_the_same_bits_on_two_threads(method):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6000, 150))
    y = np.sign(X[:, 0] + rng.normal(size=6000))
    found = [df.solve(df.Problem(X, df.losses.Logistic(y), 1e-6), method=method, n_threads=n, tol=1e-8) for n in (1, 2)]
    assert not scattered(X, X.size)
    assert found[0].method.endswith("newton")
    np.testing.assert_array_equal(found[0].w, found[1].w)
