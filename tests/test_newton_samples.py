"""The examples behind Newton's Hessian, and the point it begins at."""

import numpy as np
import pytest

import dualfree as df
from dualfree._native import kernels
from dualfree.methods.newton_plan import Sample, curved_sample, rough_start, spread_sample


def draw_by_weight(seed, weight, size):
    """Who is listed, and how often each is drawn."""
    indices, given = np.empty(min(len(weight), size + 1), np.int64), np.empty(min(len(weight), size + 1))
    listed = kernels.draw_by_weight(seed, weight, size, 1.0, indices, given)
    return indices[:listed], (given[:listed] * (size / max(weight.sum(), 1e-300))).round(9)


@pytest.mark.parametrize("n", [1, 7, 1000, 4099])
@pytest.mark.parametrize("size", [1, 5, 300, 9000])
def test_draws_by_weight_are_as_many_as_their_weight_asks_for(n, size):
    """Those with a share of one draw or more are there for sure; the others as often as their shares add up to."""
    rng = np.random.default_rng(n + size)
    weight = np.where(rng.random(n) < 0.3, 0.0, rng.exponential(size=n) ** 3)
    weight[n // 2] = 1.0
    share = weight * size / weight.sum()
    sure = share >= 1
    total = np.zeros(n)
    for seed in range(200):
        indices, counts = draw_by_weight(seed, weight, size)
        assert (np.diff(indices) > 0).all()
        drawn = np.zeros(n)
        drawn[indices] = counts
        assert not drawn[weight == 0].any()
        np.testing.assert_allclose(drawn[sure], share[sure], rtol=1e-9)
        assert set(drawn[~sure]) <= {0.0, 1.0, 2.0}
        assert np.abs(np.cumsum(np.where(sure, 0, drawn)) - np.cumsum(np.where(sure, 0, share))).max() <= 1 + 1e-9
        total += drawn
    assert np.abs(total / 200 - share).max() <= 0.17  # five standard deviations of a coin


def test_draws_by_weight_where_nothing_has_weight():
    assert len(draw_by_weight(0, np.zeros(9), 3)[0]) == 0


@pytest.mark.parametrize(
    ("loss", "size"),
    [*((loss, size) for loss in (df.losses.Logistic, df.losses.SquaredHinge) for size in (60, 400, 3000)),
     (df.losses.Squared, 60), (df.losses.Squared, 400)],
)  # fmt: skip
def test_the_hessian_of_a_curved_sample_has_the_right_mean(loss, size):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 6))
    y = np.where(X[:, 0] > 0.5, 1.0, -1.0)
    problem = df.Problem(X, loss(y), lam=1e-9)
    margins = X @ (4 * rng.normal(size=6))
    exact = np.triu(problem.hessian(margins))
    samples = [curved_sample(problem, margins, size, seed) for seed in range(400)]
    found = np.mean([np.triu(problem.weighted_hessian(s.weights, s.indices)) for s in samples], axis=0)
    assert np.abs(found - exact).max() <= 0.03 * np.abs(exact).max()
    for sample in samples[:20]:
        assert len(np.unique(sample.indices)) == len(sample.indices) <= min(size + 1, 400)
        assert sample.weights.sum() == pytest.approx(problem.curvatures(margins).mean(), rel=0.5)


def test_examples_on_the_flat_of_their_loss_are_left_out_of_a_sample():
    """With as many rows, a Hessian of those that count is nearer to the exact one; else nobody looks at all of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 8))
    problem = df.Problem(X, df.losses.Logistic(np.sign(X[:, 0])), lam=1e-6)
    margins = 20 * X[:, 0]  # one in ten or so is not sure
    exact = np.triu(problem.hessian(margins))

    def error(sample):
        return np.linalg.norm(np.triu(problem.weighted_hessian(sample.weights, sample.indices)) - exact)

    def plain(seed):
        chosen = spread_sample(5000, 200, seed)
        return Sample(chosen, problem.curvatures(margins, chosen) / 200)

    curved = np.mean([error(curved_sample(problem, margins, 200, seed)) for seed in range(30)])
    assert curved <= 0.5 * np.mean([error(plain(seed)) for seed in range(30)])
    even = curved_sample(problem, np.zeros(5000), 200, 7)
    np.testing.assert_array_equal(even.indices, spread_sample(5000, 200, 7))


def long_rows(n=4000, d=40, every=50, length=20.0):
    """A few rows are much longer than others, each along a few features that hardly anybody else has."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, d))
    X[:, d // 2 :] *= 0.02
    long = np.arange(0, n, every)
    X[long, rng.integers(d // 2, d, len(long))] = length
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0, 1.0, -1.0)
    return X / np.sqrt((X**2).sum(axis=1).max()), y, long


@pytest.mark.parametrize("n", [4000, 10_000])
def test_long_rows_are_behind_a_hessian(n):
    """They alone have the curvature of some features, though the mean norm hardly tells."""
    X, y, long = long_rows(n)
    problem = df.Problem(X, df.losses.Logistic(y), lam=1e-6)
    sample = curved_sample(problem, np.zeros(n), 10 * problem.d, seed=0)
    assert len(np.intersect1d(sample.indices, long)) >= 0.5 * len(long)
    exact = np.diag(problem.hessian(np.zeros(n)))
    found = np.diag(problem.weighted_hessian(sample.weights, sample.indices))
    assert np.abs(np.log(found / exact)).max() <= np.log(2)


@pytest.mark.parametrize("loss", [df.losses.Logistic, df.losses.SquaredHinge])
@pytest.mark.parametrize("lam_n", [1.0, 0.1, 0.01])
def test_few_passes_where_a_few_rows_are_long(loss, lam_n):
    X, y, _ = long_rows()
    result = df.solve(df.Problem(X, loss(y), lam_n / len(y)), method="newton", tol=1e-6)
    assert result.status == "converged"
    assert result.epochs <= 10


@pytest.mark.parametrize("length", [1.0, 20.0, 60.0])
def test_a_rough_start_does_not_go_too_far(length):
    """Along w itself P still falls there, or hardly rises."""
    X, y, _ = long_rows(length=length)
    for lam_n in (1.0, 0.1, 0.01):
        problem = df.Problem(X, df.losses.Logistic(y), lam_n / len(y))
        w = rough_start(problem)
        seen, zero = problem.evaluate(w), np.log(2)
        assert seen.value < zero
        assert seen.gradient @ w <= 0.35 * (zero - seen.value)
