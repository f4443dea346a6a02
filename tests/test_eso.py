"""ESO parameters: the eigenvalue test, the formulas' double loops, and problems that attain them."""

import numpy as np
import pytest

import dualfree as df
from dualfree import reference
from dualfree.reference import samplings as reference_samplings
from helpers.problems import matrix, with_layout
from helpers.samplings import CASE_NAMES, sampling_case

S = df.samplings
TRIALS = 30


def problem_of(X):
    return df.Problem(X, df.losses.Squared(np.ones(X.shape[0])), lam=0.1)


def random_matrices():
    """Small, of all densities, with empty rows and columns."""
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(6, 13)), int(rng.integers(1, 9))
        yield seed, matrix(rng, n, d, density=rng.choice([0.15, 0.4, 0.8, 1.0]))


@pytest.mark.parametrize("name", CASE_NAMES)
def test_v_is_an_eso_and_equals_its_formula(name):
    for seed, X in random_matrices():
        case = sampling_case(name, len(X), seed)
        bound = case.sampling.bind(problem_of(X))
        np.testing.assert_allclose(bound.p, case.reference.p, rtol=1e-12)
        assert reference.eso_constant(X, bound.p, bound.v, case.reference.pairs) <= 1 + 1e-9
        formula = reference.eso_parameters(X, case.reference)
        assert reference.eso_constant(X, bound.p, formula, case.reference.pairs) <= 1 + 1e-9
        if case.formula:
            np.testing.assert_allclose(bound.v, formula, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("layout", ["csr-int32", "csr-int64", "dense-f", "dense-strided"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", CASE_NAMES)
def test_v_is_the_same_for_every_layout(name, dtype, layout):
    X = matrix(np.random.default_rng(1), 11, 6, dtype=dtype)
    case = sampling_case(name, 11, seed=1)
    v = case.sampling.bind(problem_of(with_layout(X, layout))).v
    np.testing.assert_allclose(v, case.sampling.bind(problem_of(X)).v, rtol=1e-12, atol=1e-14)
    assert reference.eso_constant(X.astype(np.float64), case.reference.p, v, case.reference.pairs) <= 1 + 1e-9


def test_stored_zeros_do_not_count_as_nonzeros():
    X = matrix(np.random.default_rng(4), 9, 5)
    full = with_layout(np.ones_like(X), "csr-int32")
    full.data[:] = X.ravel()
    assert full.nnz == X.size
    for sampling in (S.Nice(4), S.Independent(0.3), S.Chunks(2, 3), S.Distributed(3, 2), S.Buckets(3)):
        np.testing.assert_allclose(sampling.bind(problem_of(full)).v, sampling.bind(problem_of(X)).v, rtol=1e-13)


HALVES = [[0, 1, 2], [3, 4, 5]]
TIGHT = {
    "serial": (S.Uniform(), reference_samplings.serial(np.full(6, 1 / 6))),
    "nice": (S.Nice(3), reference_samplings.nice(6, 3)),
    "independent": (S.Independent(0.3), reference_samplings.independent(np.full(6, 0.3))),
    "chunks": (S.Chunks(2, [2, 2, 2]), reference_samplings.chunks([[0, 1], [2, 3], [4, 5]], 2)),
    "partition": (S.Partition(HALVES), reference_samplings.partition(HALVES, [0.5, 0.5])),
    "distributed": (S.Distributed(HALVES, 2), reference_samplings.distributed(HALVES, 2)),
    "buckets": (S.Buckets(HALVES, np.full(6, 1 / 3)), reference_samplings.buckets(HALVES, np.full(6, 1 / 3))),
}


@pytest.mark.parametrize("name", sorted(TIGHT))
def test_the_bound_is_attained_on_a_column_of_ones(name):
    sampling, specification = TIGHT[name]
    X = np.ones((6, 1))
    bound = sampling.bind(problem_of(X))
    assert reference.eso_constant(X, bound.p, bound.v, specification.pairs) == pytest.approx(1.0, abs=1e-12)


def test_exact_v_of_a_set_list_is_the_least_constant():
    for seed, X in random_matrices():
        case = sampling_case("set-list", len(X), seed)
        v = case.sampling.bind(problem_of(X)).v
        assert np.ptp(v) == 0
        if v[0] > 0:
            assert reference.eso_constant(X, case.reference.p, v, case.reference.pairs) == pytest.approx(1, abs=1e-9)


class Neighbours(S.Sampling):
    """Three examples in a row, around a ring: a user's own sampling."""

    def probabilities(self, problem):
        return np.full(problem.n, 3 / problem.n)

    def draw(self, problem, rng):
        return (rng.integers(problem.n) + np.arange(3)) % problem.n

    def largest(self, problem):
        return 3


class CarelessNeighbours(Neighbours):
    """The same without a bound on its size."""

    largest = S.Sampling.largest


@pytest.mark.parametrize("sampling", [Neighbours(), CarelessNeighbours()], ids=["bounded", "unbounded"])
def test_fall_back_for_a_user_s_sampling(sampling):
    for _, X in random_matrices():
        n = len(X)
        sets = [[i, (i + 1) % n, (i + 2) % n] for i in range(n)]
        specification = reference_samplings.set_list(n, sets, np.full(n, 1 / n))
        bound = sampling.bind(problem_of(X))
        assert reference.eso_constant(X, bound.p, bound.v, specification.pairs) <= 1 + 1e-9
        assert (bound.v <= (X**2).sum(axis=1) * sampling.largest(bound.problem) + 1e-12).all()
        if isinstance(sampling, CarelessNeighbours):
            continue
        np.testing.assert_allclose(bound.v, reference.eso_parameters(X, specification), rtol=1e-12)


def test_the_eigenvalue_test_finds_a_v_that_is_too_small():
    X = np.ones((6, 1))
    specification = reference_samplings.nice(6, 3)
    too_small = 0.99 * reference.eso_parameters(X, specification)
    assert reference.eso_constant(X, specification.p, too_small, specification.pairs) > 1 + 1e-3
