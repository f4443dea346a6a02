"""Losses of several numbers: Fenchel and Young, domains, differences, smoothness, weights, and safety far out."""

import warnings

import numpy as np
import pytest

from helpers.vectors import VECTOR_LOSSES, as_list, vector_twins

LOSS = pytest.mark.parametrize("name", VECTOR_LOSSES)


def points(problem, count=20, seed=0):
    """Products with w for all examples, from tiny to large."""
    rng = np.random.default_rng(seed)
    return 10 ** rng.uniform(-2, 1.5, size=(count, 1)) * rng.normal(size=(count, problem.examples.total))


def literal(slow, problem, a):
    """``weight_i f*(−a_i/weight_i)`` by the reference; of weight zero only a = 0 is in the domain."""
    return [
        k * slow.loss.conjugate(part / k, y) if k > 0 else (np.inf if part.any() else 0.0)
        for part, y, k in zip(as_list(problem, a), slow.y, slow.weight, strict=True)
    ]


@LOSS
def test_fenchel_and_young(name):
    problem, _ = vector_twins(name, weighted=True)
    loss, sums = problem.loss, problem.examples.sums
    for z, x in zip(points(problem), points(problem, seed=1), strict=True):
        a = -loss.derivatives(z)
        conjugate = loss.weighted_conjugate(loss.project(a))
        size = 1 + np.abs(loss.values(z)) + np.abs(conjugate) + sums(np.abs(a * x) + np.abs(a * z))
        assert (loss.values(x) + conjugate + sums(a * x) >= -1e-12 * size).all()
        assert (np.abs(loss.values(z) + conjugate + sums(a * z)) <= 1e-12 * size).all()


@LOSS
def test_conjugate_is_infinite_outside_its_domain_and_projection_stays_inside(name):
    problem, slow = vector_twins(name, weighted=True)
    for a in points(problem):
        inside = problem.loss.project(a)
        for b in (a, (1 - 1e-9) * inside):  # off the edge, where rounding would decide
            np.testing.assert_allclose(
                problem.loss.weighted_conjugate(b), literal(slow, problem, b), rtol=1e-9, atol=1e-11
            )
        assert np.isfinite(problem.loss.weighted_conjugate(inside)).all()
        np.testing.assert_allclose(problem.loss.project(inside), inside, rtol=1e-12, atol=1e-13)


@LOSS
def test_derivatives_by_differences(name):
    problem, _ = vector_twins(name, weighted=True)
    loss, examples = problem.loss, problem.examples
    rng = np.random.default_rng(2)
    for z in points(problem, count=5):
        move = rng.normal(size=examples.total)
        rise = (loss.values(z + 1e-6 * move) - loss.values(z - 1e-6 * move)) / 2e-6
        # Beyond rounding, a difference may be off by the change of the slope across a kink of it.
        slack = 1e-7 * (1 + np.abs(loss.values(z))) + 2e-6 * loss.l * examples.square_sums(move)
        assert (np.abs(rise - examples.sums(loss.derivatives(z) * move)) <= slack).all()


@LOSS
def test_smoothness_bounds_every_slope_and_gradients_are_monotone(name):
    problem, _ = vector_twins(name, weighted=True)
    loss, examples = problem.loss, problem.examples
    for z, x in zip(points(problem), points(problem, seed=1), strict=True):
        for other in (x, z + 1e-3 * x):
            change, apart = loss.derivatives(z) - loss.derivatives(other), z - other
            lengths = np.sqrt(examples.square_sums(change)), np.sqrt(examples.square_sums(apart))
            assert (lengths[0] <= loss.l * lengths[1] * (1 + 1e-9) + 1e-12).all()
            assert (examples.sums(change * apart) >= -1e-12).all()


@pytest.mark.parametrize("name", ["softmax", "conditional-logit", "listnet"])
def test_smoothness_of_a_softmax_is_attained(name):
    """Where two scores are equal and tower over the rest, along their difference."""
    problem, _ = vector_twins(name)
    examples, rise = problem.examples, np.zeros(problem.examples.total)
    z = np.full(examples.total, -50.0)
    several = [at for at in (examples.positions(np.array([i])) for i in range(problem.n)) if len(at) > 1]
    for at in several:
        z[at[:2]], rise[at[:2]] = 0.0, (1e-4, -1e-4)
    slope = (problem.loss.derivatives(z + rise) - problem.loss.derivatives(z - rise)) / 2
    lengths, used = np.sqrt(examples.square_sums(slope)), examples.square_sums(rise) > 0
    np.testing.assert_allclose(lengths[used] / np.sqrt(2e-8), problem.l[used], rtol=1e-6)


@LOSS
@pytest.mark.parametrize("far", [-1e4, -745.0, 745.0, 1e4])
def test_safe_far_out(name, far):
    problem, _ = vector_twins(name, weighted=True)
    z = np.zeros(problem.examples.total)
    z[::2] = far
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slopes = problem.loss.derivatives(z)
        assert np.isfinite(problem.loss.values(z)).all()
        assert np.isfinite(slopes).all()
        assert np.isfinite(problem.loss.weighted_conjugate(problem.loss.project(-slopes))).all()


@LOSS
@pytest.mark.parametrize("k", [0.0, 0.3, 7.0])
def test_a_weight_multiplies_value_derivative_and_smoothness(name, k):
    plain, _ = vector_twins(name)
    weighted = type(plain.loss).__new__(type(plain.loss))
    weighted.__dict__.update(plain.loss.__dict__, weight=np.full(plain.n, k))
    for z in points(plain, count=3):
        np.testing.assert_allclose(weighted.values(z), k * plain.loss.values(z), rtol=1e-13)
        np.testing.assert_allclose(weighted.derivatives(z), k * plain.loss.derivatives(z), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(weighted.l, k * plain.l, rtol=1e-15)
