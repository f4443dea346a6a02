"""What L-BFGS remembers: the last moves, and how they changed the gradient."""

import numpy as np
import pytest

import dualfree as df
from dualfree.methods.curvature import Base, LimitedMemory


def test_l_bfgs_solves_with_what_it_learnt():
    rng = np.random.default_rng(4)
    root = rng.normal(size=(6, 6))
    matrix = root @ root.T + np.eye(6)

    class Identity(Base):
        def solve(self, gradient):
            return gradient.copy()

    model = LimitedMemory(Identity())
    for _ in range(40):
        move = rng.normal(size=6)
        model.learn(move, matrix @ move)
        np.testing.assert_allclose(model.solve(matrix @ move), move, atol=1e-9)  # the secant equation


@pytest.mark.parametrize(
    ("pairs", "d", "room"), [(0, 40, 50), (1, 40, 50), (50, 40, 50), (83, 40, 50), (33, 20_001, 20)]
)
def test_the_two_loops_are_those_of_the_textbook(pairs, d, room):
    """With the last pairs that there is room for, and a diagonal between the loops."""
    rng = np.random.default_rng(pairs)
    diagonal = rng.uniform(1, 2, size=d)

    class Diagonal(Base):
        def solve(self, gradient):
            return gradient / diagonal

    model, known = LimitedMemory(Diagonal()), []
    for _ in range(pairs):
        move = rng.normal(size=d)
        change = diagonal * move + 0.1 * rng.normal(size=d)
        model.learn(move, change)
        known.append((move, change))
    for kept, (move, change) in zip(model.pairs, known[-room:], strict=True):
        np.testing.assert_array_equal(kept, (move, change))
    gradient = rng.normal(size=d)
    q, factors = gradient.copy(), []
    for move, change in reversed(known[-room:]):
        factors.append(move @ q / (move @ change))
        q -= factors[-1] * change
    q /= diagonal
    for (move, change), factor in zip(known[-room:], reversed(factors), strict=True):
        q += (factor - change @ q / (move @ change)) * move
    before = gradient.copy()
    np.testing.assert_allclose(model.solve(gradient), q, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(gradient, before)


@pytest.mark.parametrize("loss", [df.losses.Logistic, df.losses.SquaredHinge])
@pytest.mark.parametrize(("n", "d"), [(400, 100), (500, 200)])
def test_l_bfgs_keeps_what_a_step_that_was_too_long_taught(loss, n, d):
    """Far from zero all features share one direction, and the first steps along it are far too long."""
    rng = np.random.default_rng(0)
    X = rng.random((n, d)) / np.sqrt(d)
    y = np.sign((X - X.mean(axis=0)) @ rng.normal(size=d))
    result = df.solve(df.Problem(X, loss(y), 0.1 / n), method="lbfgs", tol=1e-6, max_epochs=100)
    assert result.status == "converged"
