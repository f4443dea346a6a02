"""ESO parameters of every shape: the eigenvalue test, the formulas' double loops, and problems that attain them."""

import numpy as np
import pytest

import dualfree as df
from dualfree import reference
from dualfree.reference import samplings as reference_samplings
from dualfree.reference import vectors
from helpers.problems import matrix, with_layout
from helpers.samplings import CASE_NAMES, sampling_case
from helpers.vectors import SHAPES, shaped, shaped_matrices, small_examples

S = df.samplings
TRIALS = 15
SHAPE = pytest.mark.parametrize("shape", SHAPES)


def random_examples(shape):
    """A seed, a problem, and its A_i."""
    for seed in range(TRIALS):
        yield seed, *small_examples(shape, seed, ("dense-c", "csr-int32")[seed % 2])


def problem_of(X):
    return df.Problem(X, df.losses.Squared(np.ones(X.shape[0])), lam=0.1)


@SHAPE
@pytest.mark.parametrize("name", CASE_NAMES)
def test_v_is_an_eso_and_equals_its_formula(name, shape):
    for seed, problem, A in random_examples(shape):
        case = sampling_case(name, problem.n, seed)
        bound = case.sampling.bind(problem)
        np.testing.assert_allclose(bound.p, case.reference.p, rtol=1e-12)
        largest = vectors.eso_constant(A, bound.p, bound.v, case.reference.pairs)
        assert largest <= 1 + 1e-9
        if case.formula:
            np.testing.assert_allclose(bound.v, vectors.eso_parameters(A, case.reference), rtol=1e-10, atol=1e-13)
        else:  # the exact one is the same for all, and the least constant
            assert np.ptp(bound.v) == 0
            assert bound.v[0] == 0 or largest == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name", CASE_NAMES)
def test_the_formula_for_rows_is_that_of_their_matrices(name):
    for seed, problem, A in random_examples("rows"):
        X, sampling = np.vstack([a.T for a in A]), sampling_case(name, problem.n, seed).reference
        v = reference.eso_parameters(X, sampling)
        np.testing.assert_allclose(v, vectors.eso_parameters(A, sampling), rtol=1e-12, atol=1e-14)
        assert reference.eso_constant(X, sampling.p, v, sampling.pairs) <= 1 + 1e-9


@SHAPE
@pytest.mark.parametrize("layout", ["csr-int32", "csr-int64", "dense-f", "dense-strided"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", CASE_NAMES)
def test_v_is_the_same_for_every_layout(name, dtype, layout, shape):
    problem, A = small_examples(shape, 3, layout, dtype)
    case = sampling_case(name, problem.n, seed=1)
    v = case.sampling.bind(problem).v
    plain, _ = small_examples(shape, 3, dtype=dtype)
    np.testing.assert_allclose(v, case.sampling.bind(plain).v, rtol=1e-12, atol=1e-14)
    assert vectors.eso_constant(A, case.reference.p, v, case.reference.pairs) <= 1 + 1e-9


def test_stored_zeros_do_not_count_as_nonzeros():
    X = matrix(np.random.default_rng(4), 9, 5)
    full = with_layout(np.ones_like(X), "csr-int32")
    full.data[:] = X.ravel()
    assert full.nnz == X.size
    for sampling in (S.Nice(4), S.Independent(0.3), S.Chunks(2, 3), S.Distributed(3, 2), S.Buckets(3)):
        np.testing.assert_allclose(sampling.bind(problem_of(full)).v, sampling.bind(problem_of(X)).v, rtol=1e-13)


@pytest.mark.parametrize("loss", [df.losses.Squared, df.losses.Softmax])
@pytest.mark.parametrize("name", CASE_NAMES)
def test_an_intercept_is_a_feature_that_all_have(name, loss):
    X = matrix(np.random.default_rng(5), 9, 4)
    with_b = df.Problem(with_layout(X, "csr-int32"), loss(np.arange(9) % 3), lam=0.1, intercept=True)
    column = np.full((9, 1), with_b.examples.constant_value)
    plain = df.Problem(np.hstack([X, column]), loss(np.arange(9) % 3), lam=0.1)
    sampling = sampling_case(name, 9, seed=2).sampling
    np.testing.assert_allclose(sampling.bind(with_b).v, sampling.bind(plain).v, rtol=1e-10)


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


@SHAPE
@pytest.mark.parametrize("name", sorted(TIGHT))
def test_the_bound_is_attained_on_a_column_of_ones(name, shape):
    sampling, specification = TIGHT[name]
    X, start = np.ones((12 if shape == "blocks" else 6, 1)), [0, 1, 3, 6, 10, 11, 12]
    bound, A = sampling.bind(shaped(shape, X, start)), shaped_matrices(shape, X, start)
    assert vectors.eso_constant(A, bound.p, bound.v, specification.pairs) == pytest.approx(1.0, abs=1e-12)


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


@SHAPE
@pytest.mark.parametrize("sampling", [Neighbours(), CarelessNeighbours()], ids=["bounded", "unbounded"])
def test_fall_back_for_a_user_s_sampling(sampling, shape):
    for _, problem, A in random_examples(shape):
        n = problem.n
        sets = [[i, (i + 1) % n, (i + 2) % n] for i in range(n)]
        specification = reference_samplings.set_list(n, sets, np.full(n, 1 / n))
        bound = sampling.bind(problem)
        assert vectors.eso_constant(A, bound.p, bound.v, specification.pairs) <= 1 + 1e-9
        squares = np.array([np.linalg.norm(a, 2) ** 2 for a in A])
        assert (bound.v <= squares * sampling.largest(bound.problem) + 1e-12).all()
        if isinstance(sampling, CarelessNeighbours):
            continue
        np.testing.assert_allclose(bound.v, vectors.eso_parameters(A, specification), rtol=1e-10, atol=1e-13)


def test_blocks_of_one_row_are_rows():
    X = matrix(np.random.default_rng(0), 10, 6)
    rows, blocks = shaped("rows", X, None), shaped("blocks", X, np.arange(11))
    for name in CASE_NAMES:
        case = sampling_case(name, 10, seed=3)
        np.testing.assert_allclose(case.sampling.bind(blocks).v, case.sampling.bind(rows).v, rtol=1e-10, atol=1e-13)


def test_the_eigenvalue_test_finds_a_v_that_is_too_small():
    X = np.ones((6, 1))
    specification = reference_samplings.nice(6, 3)
    too_small = 0.99 * reference.eso_parameters(X, specification)
    assert reference.eso_constant(X, specification.p, too_small, specification.pairs) > 1 + 1e-3
