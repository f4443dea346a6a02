"""Random numbers: the generator against NumPy's, and draws that depend on (seed, step) alone."""

import numpy as np
import pytest

import dualfree as df
from dualfree._native import kernels
from helpers.samplings import CASE_NAMES, as_batches, sampling_case

MAX = 2**64 - 1


@pytest.mark.parametrize("seed", [0, 1, 12345, MAX])
@pytest.mark.parametrize("stream", [0, 5, MAX])
@pytest.mark.parametrize("step", [0, 1, 2**40])
def test_words_are_those_of_numpy_s_philox(seed, stream, step):
    # NumPy raises its counter by one before each block, so it must start one below ours, block 0 of `step`:
    # the 256-bit number that has `step` as its second word, minus one.
    before = (step * 2**64 - 1) % 2**256
    theirs = np.random.Philox(key=seed + (stream << 64), counter=before).random_raw(23)
    np.testing.assert_array_equal(kernels.random_words(seed, stream, step, 23), theirs)


def problem_of(n):
    return df.Problem(np.eye(n), df.losses.Squared(np.arange(1.0, n + 1)), lam=0.1)


class EveryThird(df.samplings.Sampling):
    def probabilities(self, problem):
        return np.full(problem.n, 1 / 3)

    def draw(self, problem, rng):
        return np.arange(rng.integers(3), problem.n, 3)


def samplings():
    named = {name: sampling_case(name, 9).sampling for name in CASE_NAMES}
    others = {"shuffled": df.samplings.Shuffled(), "importance": df.samplings.Importance()}
    return {**named, **others, "random": df.samplings.RandomSerial(5.0), "user": EveryThird()}


@pytest.mark.parametrize("name", sorted(samplings()))
def test_draws_depend_on_seed_and_step_alone(name):
    bound = samplings()[name].bind(problem_of(9))
    whole = as_batches(bound.draw(0, 100, seed=8))
    pieces = [
        batch for first, count in ((0, 40), (40, 1), (41, 59)) for batch in as_batches(bound.draw(first, count, 8))
    ]
    assert len(whole) == len(pieces) == 100
    assert all(np.array_equal(a, b) for a, b in zip(whole, pieces, strict=True))
    again = samplings()[name].bind(problem_of(9)).draw(57, 3, seed=8)
    assert all(np.array_equal(a, b) for a, b in zip(as_batches(again), whole[57:60], strict=True))
    if name != "nice-n" and name != "chunks-3":  # these have only one set to draw
        other = as_batches(bound.draw(0, 100, seed=9))
        assert not all(np.array_equal(a, b) for a, b in zip(whole, other, strict=True))


@pytest.mark.parametrize("name", sorted(samplings()))
def test_no_draws_are_no_sets(name):
    draws = samplings()[name].bind(problem_of(9)).draw(5, 0, seed=8)
    assert draws.count == 0
    assert len(draws.indices) == 0


@pytest.mark.parametrize("name", sorted(samplings()))
def test_parts_and_batches_cut_the_same_list(name):
    draws = samplings()[name].bind(problem_of(9)).draw(3, 20, seed=1)
    if draws.batch_start is not None:
        assert draws.batch_start[0] == 0
        assert draws.batch_start[-1] == len(draws.indices)
    if draws.part_start is not None:
        assert set(draws.batch_start) <= set(draws.part_start)
        assert (np.diff(draws.part_start) > 0).all()
