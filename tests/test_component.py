"""The leading component: against dense eigenvalues, svds, and the literal inner loop."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import svds

import dualfree as df
from dualfree import reference
from dualfree._native import kernels
from dualfree.examples import Rows
from helpers.problems import LAYOUTS, with_layout


def spiked(n=400, d=30, dtype=np.float64, seed=0):
    """Sparse rows of very different length around a mean, with a leading direction."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3 * rng.normal(size=(n, 1)) * np.linspace(1, 0, d)
    X *= (rng.random((n, d)) < 0.4) * rng.uniform(0.2, 2.0, size=(n, 1))
    return (X + 0.5 * (X != 0)).astype(dtype)


def covariance(X, centre):
    X = X.astype(np.float64)
    X = X - X.mean(axis=0) if centre else X
    return X.T @ X / len(X)


@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_agrees_with_dense_eigenvalues(centre, layout, dtype):
    X = spiked(dtype=dtype)
    found = df.leading_component(with_layout(X, layout), centre=centre, tol=1e-9)
    values, vectors = np.linalg.eigh(covariance(X, centre))
    assert found.status == "converged"
    assert found.residual <= 1e-9 * found.eigenvalue
    assert found.enclosure[0] <= values[-1] <= found.enclosure[1]
    assert abs(found.vector @ vectors[:, -1]) == pytest.approx(1, abs=1e-12)
    assert found.vector[np.abs(found.vector).argmax()] > 0
    assert found.explained == pytest.approx(values[-1] / values.sum(), rel=1e-6)


def test_agrees_with_svds():
    X = sparse.random_array((2000, 500), density=0.02, rng=np.random.default_rng(1), format="csr")
    found = df.leading_component(X, tol=1e-8)
    _, singular, right = svds(X, k=1, tol=1e-12)
    assert found.singular_value == pytest.approx(singular[0], rel=1e-12)
    assert abs(found.vector @ right[0]) == pytest.approx(1, abs=1e-10)
    assert found.mean is None


@pytest.mark.parametrize("centre", [False, True])
def test_the_residual_is_that_of_the_vector(centre):
    X = spiked()
    found = df.leading_component(X, centre=centre, tol=1e-4)
    C, v = covariance(X, centre), found.vector
    assert np.linalg.norm(v) == pytest.approx(1, abs=1e-14)
    assert found.eigenvalue == pytest.approx(v @ C @ v, rel=1e-12)
    assert found.residual == pytest.approx(np.linalg.norm(C @ v - found.eigenvalue * v), rel=1e-6)
    assert 1e-9 * found.eigenvalue < found.residual  # so that the line above says something


@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("layout", ["csr-int32", "dense-c"])
def test_the_kernel_is_the_literal_loop(centre, layout):
    X, rng = spiked(n=40, d=6), np.random.default_rng(2)
    rows, mean = X - X.mean(axis=0) if centre else X, X.mean(axis=0) if centre else None
    v = rng.normal(size=6)
    v /= np.linalg.norm(v)
    p = rng.dirichlet(np.full(40, 5.0))
    C = rows.T @ rows / 40
    theta, e, indices = v @ C @ v, np.empty(6), rng.integers(40, size=300)
    shift, step = 2 * theta, 0.02 / theta
    examples = Rows(with_layout(X, layout))
    products = None if mean is None else X @ mean
    kernels.shift_and_invert(examples.native, indices, theta * v - C @ v, 1 / (40 * p), mean, products, step, shift, e)
    expected = reference.shift_and_invert(rows, p, v, shift, step, indices)
    np.testing.assert_allclose(v + e, expected, rtol=1e-9, atol=1e-9 * np.linalg.norm(expected))


def test_same_bits_for_any_number_of_threads_and_another_seed_another_start():
    X = sparse.csr_array(spiked(n=3000))
    one, two = (df.leading_component(X, n_threads=k, centre=True) for k in (1, 2))
    np.testing.assert_array_equal(one.vector, two.vector)
    other = df.leading_component(X, centre=True, seed=1)
    assert (other.vector != one.vector).any()
    np.testing.assert_allclose(other.vector, one.vector, atol=1e-5)


def test_odd_shapes():
    zero = df.leading_component(np.zeros((4, 3)))
    assert (zero.eigenvalue, zero.residual, zero.explained, zero.status) == (0.0, 0.0, 0.0, "converged")
    constant = df.leading_component(np.ones((5, 3)), centre=True)
    assert constant.eigenvalue == pytest.approx(0, abs=1e-14)
    assert constant.status == "converged"
    single = df.leading_component(np.array([[3.0], [4.0]]))
    assert (single.eigenvalue, single.vector.tolist()) == (12.5, [1.0])
    lone_row = df.leading_component(np.array([[3.0, 4.0]]))
    np.testing.assert_allclose(lone_row.vector, [0.6, 0.8], rtol=1e-12)
    outlier = spiked()
    outlier[7] *= 1000
    found = df.leading_component(outlier)
    assert abs(found.vector @ outlier[7]) == pytest.approx(np.linalg.norm(outlier[7]), rel=1e-6)


def test_limits_and_errors():
    X = np.random.default_rng(0).normal(size=(50, 20))  # no direction stands out
    short = df.leading_component(X, max_epochs=6, tol=1e-14)
    assert short.status == "max_epochs"
    assert "not reached within max_epochs" in short.message
    with pytest.raises(ValueError, match="max_epochs is 0; it must be a finite number above 0"):
        df.leading_component(X, max_epochs=0)
    with pytest.raises(TypeError, match="X is a list"):
        df.leading_component([[1.0]])
