"""The Cholesky factor of our own, against NumPy."""

import numpy as np
import pytest

from dualfree._native import kernels

# Below, at and above the lines of a group and of a block, and the numbers of a vector.
SIZES = (1, 2, 7, 8, 9, 16, 17, 95, 96, 97, 130, 200, 300)


def positive_definite(d, seed=0):
    A = np.random.default_rng(seed).normal(size=(2 * d, d))
    return A.T @ A / d + np.eye(d)


def factor_of(matrix, number=np.float64, threads=1):
    """The factor, or None; what is below the diagonal must not matter."""
    d = len(matrix)
    factor = np.full(kernels.cholesky_room(d), np.nan, number)
    upper = np.triu(matrix) + np.tril(np.full((d, d), np.nan), -1)
    return factor if kernels.cholesky(upper.ravel(), d, factor, threads=threads) else None


@pytest.mark.parametrize(("number", "digits"), [(np.float64, 1e-13), (np.float32, 1e-5)])
def test_it_solves(number, digits):
    for d in SIZES:
        matrix, v = positive_definite(d), np.random.default_rng(1).normal(size=d)
        found = v.copy()
        kernels.cholesky_solve(factor_of(matrix, number), found)
        np.testing.assert_allclose(found, np.linalg.solve(matrix, v), atol=digits * np.abs(found).max(), rtol=0)


def test_it_is_the_factor():
    for d in SIZES:
        matrix = positive_definite(d)
        stride = (d + 15) // 16 * 16
        found = np.triu(factor_of(matrix).reshape(-1, stride)[:d, :d])
        np.testing.assert_allclose(found, np.linalg.cholesky(matrix).T, atol=1e-12)


@pytest.mark.parametrize("number", [np.float64, np.float32])
@pytest.mark.parametrize("at", [0, 5, 96, 129])
def test_a_minor_that_is_not_positive(number, at):
    for bad in (0.0, -1.0, np.nan):
        matrix = positive_definite(130)
        matrix[at, :] = matrix[:, at] = 0.0
        matrix[at, at] = bad
        assert factor_of(matrix, number) is None


@pytest.mark.parametrize("number", [np.float64, np.float32])
def test_the_same_bits_on_any_number_of_threads(number):
    matrix = positive_definite(1600)  # from 1,500 on there are several
    alone = factor_of(matrix, number)
    for threads in (2, 5):
        found = factor_of(matrix, number, threads)
        np.testing.assert_array_equal(*(np.triu(f.reshape(-1, 1600)) for f in (alone, found)))


def test_wrong_sizes():
    with pytest.raises(ValueError, match="factor"):
        kernels.cholesky(np.eye(3).ravel(), 3, np.zeros(9))
    with pytest.raises(ValueError, match="matrix"):
        kernels.cholesky(np.eye(3).ravel(), 4, np.zeros(kernels.cholesky_room(4)))
    with pytest.raises(ValueError, match="factor"):
        kernels.cholesky_solve(np.zeros(9), np.ones(3))
