"""ESO parameters for multi-output examples and blocks: the eigenvalue test, and the formulas' literal loops."""

import numpy as np
import pytest

import dualfree as df
from dualfree.reference import samplings as reference_samplings
from dualfree.reference import vectors
from helpers.problems import matrix, with_layout
from helpers.samplings import CASE_NAMES, sampling_case
from helpers.vectors import group_starts

TRIALS = 12


def random_examples(shape):
    """A problem and its A_i: small, of all densities, with empty rows and columns."""
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(6, 11)), int(rng.integers(1, 7))
        density = rng.choice([0.15, 0.4, 0.8, 1.0])
        layout = ("dense-c", "csr-int32")[seed % 2]
        if shape == "multi-output":
            X = matrix(rng, n, d, density)
            problem = df.Problem(with_layout(X, layout), df.losses.Softmax(np.arange(n) % 2), lam=0.1)
            yield seed, problem, vectors.multi_output(X, 2)
        else:
            X, start = matrix(rng, 2 * n, d, density), group_starts(rng, 2 * n, n)
            loss = df.losses.ConditionalLogit(np.zeros(n))
            yield seed, df.Problem(df.Blocks(with_layout(X, layout), start), loss, lam=0.1), vectors.blocks(X, start)


@pytest.mark.parametrize("shape", ["multi-output", "blocks"])
@pytest.mark.parametrize("name", CASE_NAMES)
def test_v_is_an_eso_and_equals_its_formula(name, shape):
    for seed, problem, A in random_examples(shape):
        case = sampling_case(name, problem.n, seed)
        bound = case.sampling.bind(problem)
        np.testing.assert_allclose(bound.p, case.reference.p, rtol=1e-12)
        assert vectors.eso_constant(A, bound.p, bound.v, case.reference.pairs) <= 1 + 1e-9
        if case.formula:
            formula = vectors.eso_parameters(A, case.reference)
            np.testing.assert_allclose(bound.v, formula, rtol=1e-10, atol=1e-13)
        elif bound.v[0] > 0:  # the exact one is the least constant
            assert vectors.eso_constant(A, bound.p, bound.v, case.reference.pairs) == pytest.approx(1, abs=1e-9)


class Neighbours(df.samplings.Sampling):
    """Three examples in a row, around a ring: a user's own sampling, with the fall-back."""

    def probabilities(self, problem):
        return np.full(problem.n, 3 / problem.n)

    def draw(self, problem, rng):
        return (rng.integers(problem.n) + np.arange(3)) % problem.n

    def largest(self, problem):
        return 3


@pytest.mark.parametrize("shape", ["multi-output", "blocks"])
def test_fall_back_for_a_user_s_sampling(shape):
    for _, problem, A in random_examples(shape):
        n = problem.n
        sets = [[i, (i + 1) % n, (i + 2) % n] for i in range(n)]
        specification = reference_samplings.set_list(n, sets, np.full(n, 1 / n))
        bound = Neighbours().bind(problem)
        assert vectors.eso_constant(A, bound.p, bound.v, specification.pairs) <= 1 + 1e-9
        np.testing.assert_allclose(bound.v, vectors.eso_parameters(A, specification), rtol=1e-10, atol=1e-13)


def test_blocks_of_one_row_are_rows():
    X = matrix(np.random.default_rng(0), 10, 6)
    rows = df.Problem(X, df.losses.Squared(np.ones(10)), lam=0.1)
    blocks = df.Problem(df.Blocks(X, np.arange(11)), df.losses.ConditionalLogit(np.zeros(10)), lam=0.1)
    for name in CASE_NAMES:
        case = sampling_case(name, 10, seed=3)
        np.testing.assert_allclose(case.sampling.bind(blocks).v, case.sampling.bind(rows).v, rtol=1e-10, atol=1e-13)
