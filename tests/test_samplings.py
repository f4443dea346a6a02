"""Samplings: empirical frequencies against the formulas, the structure of the sets, and the probabilities."""

import numpy as np
import pytest
from scipy import stats

import dualfree as df
from dualfree._native import kernels
from helpers.problems import least_squares_with_negative_weights
from helpers.samplings import CASE_NAMES, as_batches, sampling_case
from helpers.vectors import every_twins

S = df.samplings
N, DRAWS = 9, 30_000


def problem_of(n=N, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 4)) * np.linspace(0.2, 2, n)[:, None]
    return df.Problem(X, df.losses.Squared(np.ones(n)), lam=0.1)


def membership(draws, n):
    """A matrix of zeros and ones: which iteration visits which example."""
    member = np.zeros((draws.count, n))
    for t, batch in enumerate(as_batches(draws)):
        member[t, batch] += 1
    assert member.max() <= 1, "an example twice in one set"
    return member


def assert_frequencies(counts, probabilities, draws, level=1e-6):
    """Each count is a plausible binomial: exact two-sided tests at `level`, shared out over all counts (Bonferroni)."""
    counts, probabilities = np.ravel(counts).astype(int), np.ravel(probabilities)
    below = stats.binom.cdf(counts, draws, probabilities)
    above = stats.binom.sf(counts - 1, draws, probabilities)
    assert (2 * np.minimum(below, above) > level / counts.size).all()


@pytest.mark.parametrize("name", CASE_NAMES)
def test_empirical_p_and_pair_probabilities(name):
    case = sampling_case(name, N, seed=2)
    member = membership(case.sampling.bind(problem_of()).draw(0, DRAWS, seed=11), N)
    pairs = np.clip(case.reference.pairs, 0, 1)
    upper = np.triu_indices(N)
    assert_frequencies((member.T @ member)[upper], pairs[upper], DRAWS)


def test_the_frequency_test_finds_a_wrong_sampling():
    member = membership(S.Nice(3).bind(problem_of()).draw(0, DRAWS, seed=11), N)
    with pytest.raises(AssertionError):
        assert_frequencies(member.sum(axis=0), np.full(N, 3.2 / N), DRAWS)


@pytest.mark.parametrize("sampling", [S.Uniform(), S.Importance(), S.RandomSerial(8.0)], ids=lambda s: type(s).__name__)
def test_consecutive_serial_draws_are_independent(sampling):
    bound = sampling.bind(problem_of())
    drawn = bound.draw(0, 2 * DRAWS, seed=3).indices.reshape(-1, 2)
    counts = np.zeros((N, N))
    np.add.at(counts, (drawn[:, 0], drawn[:, 1]), 1)
    assert stats.chisquare(counts.ravel(), DRAWS * np.outer(bound.p, bound.p).ravel()).pvalue > 1e-6


@pytest.mark.parametrize("tau", [1, 2, 8, 9])
def test_nice_draws_tau_distinct_examples(tau):
    draws = S.Nice(tau).bind(problem_of()).draw(0, 500)
    assert (membership(draws, N).sum(axis=1) == tau).all()
    assert draws.count == 500


def test_every_subset_of_a_nice_sampling_is_equally_likely():
    draws = S.Nice(3).bind(problem_of(6)).draw(0, DRAWS, seed=1)
    keys = membership(draws, 6) @ 2 ** np.arange(6)
    _, counts = np.unique(keys, return_counts=True)
    assert len(counts) == 20
    assert stats.chisquare(counts).pvalue > 1e-6


def test_chunks_come_whole_each_as_one_part():
    groups = [[0, 5], [1, 2, 7], [3], [4, 6, 8]]
    draws = S.Chunks(2, groups).bind(problem_of()).draw(0, 300)
    parts = np.split(draws.indices, draws.part_start[1:-1])
    assert len(parts) == 600
    assert {tuple(part) for part in parts} == {tuple(group) for group in groups}
    assert all(not np.array_equal(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True))


def test_partition_draws_one_block():
    groups = [[0, 5, 1], [2, 7], [3, 4, 6, 8]]
    batches = as_batches(S.Partition(groups, [0.2, 0.3, 0.5]).bind(problem_of()).draw(0, 300))
    assert {tuple(batch) for batch in batches} == {tuple(group) for group in groups}


def test_distributed_draws_tau_of_each_part():
    groups = [[0, 5, 1], [2, 7], [3, 4, 6, 8]]
    draws = S.Distributed(groups, 2).bind(problem_of()).draw(0, 300)
    member = membership(draws, N)
    for group in groups:
        assert (member[:, group].sum(axis=1) == 2).all()
    for k, part in enumerate(np.split(draws.indices, draws.part_start[1:-1])):
        assert set(part) <= set(groups[k % 3])


def test_buckets_draw_one_of_each():
    groups = [[0, 5, 1], [2, 7], [3, 4, 6, 8]]
    member = membership(S.Buckets(groups).bind(problem_of()).draw(0, 300), N)
    for group in groups:
        assert (member[:, group].sum(axis=1) == 1).all()


@pytest.mark.parametrize("name", ["squared", "softmax", "conditional-logit"])
def test_buckets_default_to_importance_inside(name):
    (problem, _), groups = every_twins(name, n=N, weighted=True), [[0, 5, 1], [2, 7], [3, 4, 6, 8]]
    p = S.Buckets(groups).bind(problem).p
    score = 1 + problem.l * problem.norms**2 / (problem.lam * problem.n)
    for group in groups:
        np.testing.assert_allclose(p[group], score[group] / score[group].sum(), rtol=1e-14)


def test_shuffled_visits_everyone_once_an_epoch_in_fresh_orders():
    drawn = S.Shuffled().bind(problem_of()).draw(0, 400 * N, seed=2).indices.reshape(-1, N)
    assert (np.sort(drawn, axis=1) == np.arange(N)).all()
    assert len({tuple(order) for order in drawn}) > 390
    counts = np.array([np.bincount(drawn[:, at], minlength=N) for at in range(N)])
    assert_frequencies(counts, np.full(N * N, 1 / N), 400)
    assert not S.Shuffled.covered


@pytest.mark.parametrize("p", [[1.0], [0.5, 0.5], [0.25, 0.5, 0.25], [1e-12, 1 - 1e-12], None], ids=str)
def test_alias_table_represents_p_exactly(p):
    if p is None:
        p = np.random.default_rng(0).pareto(0.5, size=500) + 1e-6
        p /= p.sum()
    keep, other = kernels.alias_table(np.array(p, dtype=float))
    n = len(p)
    own = keep.astype(object)
    found = [own[k] for k in range(n)]
    for k in range(n):
        found[other[k]] += 2**64 - own[k]
    # Words count in units of 1/(n 2^64); one unit a cell is the grain of the table, 1e-16 n that of p itself.
    np.testing.assert_allclose([float(f) / n / 2**64 for f in found], p, rtol=1e-12, atol=1e-15)


def test_independent_with_probabilities_of_all_magnitudes():
    p = np.array([1.0, 0.5, 1e-3, 1e-9, 1.0, 0.75, 0.2500001, 2e-2, 0.5])
    draws = S.Independent(p).bind(problem_of()).draw(0, 100_000, seed=4)
    member = membership(draws, N)
    assert (member[:, [0, 4]] == 1).all()
    upper = np.triu_indices(N, 1)
    assert_frequencies(member.sum(axis=0), p, 100_000)
    assert_frequencies((member.T @ member)[upper], np.outer(p, p)[upper], 100_000)


def test_many_rare_coins_come_up_at_their_rate():
    n = 200_000
    p = np.repeat([1e-3, 3e-5, 1e-6], [2_000, 20_000, 178_000])
    problem = df.Problem(np.ones((n, 1)), df.losses.Squared(np.ones(n)), lam=1.0)
    draws = S.Independent(p).bind(problem).draw(0, 20_000, seed=6)
    for low, high in ((0, 2_000), (2_000, 22_000), (22_000, n)):
        count = ((draws.indices >= low) & (draws.indices < high)).sum()
        assert_frequencies(count, p[low], 20_000 * (high - low))


def test_random_serial_keeps_its_ratio():
    for seed in range(20):
        p = S.RandomSerial(4.0, seed=seed).bind(problem_of(200)).p
        assert p.sum() == pytest.approx(1, abs=1e-12)
        assert 3.0 < p.max() / p.min() < 4.0
    assert not np.array_equal(S.RandomSerial(4.0, 1).bind(problem_of()).p, S.RandomSerial(4.0, 2).bind(problem_of()).p)
    with pytest.raises(ValueError, match="must be above 1"):
        S.RandomSerial(1.0)


@pytest.mark.parametrize("name", ["logistic", "softmax", "conditional-logit"])
def test_importance_for_theorem_2_equalises_the_bound(name):
    problem, slow = every_twins(name, weighted=True)
    bound = S.Importance().bind(problem)
    A = slow.X[:, :, None] if name == "logistic" else slow.A
    score = 1 + slow.l * np.array([np.linalg.norm(a, 2) ** 2 for a in A]) / (slow.lam * slow.n)
    np.testing.assert_allclose(bound.p, score / score.sum(), rtol=1e-12)
    factors = 1 / bound.p + problem.l * bound.v / (problem.lam * bound.p * problem.n)
    # The leading factor of the bound is the same for every i, and equals n + mean(l_i v_i)/λ.
    np.testing.assert_allclose(factors, problem.n + np.mean(problem.l * bound.v) / problem.lam, rtol=1e-12)


def test_importance_for_theorem_1():
    problem = least_squares_with_negative_weights()
    p = S.Importance().bind(problem).p
    score = 1 + problem.L**2 * problem.norms**2 / (problem.lam**2 * problem.n)
    np.testing.assert_allclose(p, score / score.sum(), rtol=1e-12)
    np.testing.assert_array_equal(S.Importance(theorem=1).bind(problem).p, p)
    with pytest.raises(ValueError, match="negative weight"):
        S.Importance(theorem=2).bind(problem)


class Pairs(S.Sampling):
    """A user's sampling: example 0 with one other, or the other with the last."""

    def probabilities(self, problem):
        p = np.full(problem.n, 1 / (problem.n - 2))
        p[0] = p[-1] = 0.5
        return p

    def draw(self, problem, rng):
        return [rng.choice([0, problem.n - 1]), rng.integers(1, problem.n - 1)]

    def largest(self, problem):
        return 2


def test_user_sampling_draws_with_its_probabilities_and_converges():
    problem = problem_of()
    bound = Pairs().bind(problem)
    member = membership(bound.draw(0, 5_000, seed=3), N)
    assert_frequencies(member.sum(axis=0), bound.p, 5_000)
    assert df.solve(problem, sampling=bound, step="theorem-2", max_epochs=3000).status == "converged"


@pytest.mark.parametrize(
    ("drawn", "message"),
    [([0, 0], "twice"), ([0, N], f"returned example {N}"), ([-1], "returned example -1"), ([0.5], "example numbers")],
)
def test_user_sampling_that_draws_nonsense_is_told(drawn, message):
    class Nonsense(Pairs):
        def draw(self, problem, rng):
            return drawn

    with pytest.raises((ValueError, TypeError), match=message):
        Nonsense().bind(problem_of()).draw(0, 1)
