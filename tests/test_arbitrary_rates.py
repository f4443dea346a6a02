"""The proven rates of QUARTZ, SDNA, NSync, UCDC, Hydra and ALPHA, in the mean over seeds."""

import numpy as np
import pytest

import dualfree as df
from dualfree.methods import METHODS
from dualfree.methods.coordinates import curvatures
from dualfree.steps import theorem_theta
from test_primal_rates import OPTIMA, PROBLEMS, kept, suboptimality

S = df.samplings
SEEDS = 40
OF_EXAMPLES = [S.Uniform(), S.Importance(), S.Nice(5), S.Independent(0.1), S.Partition(8), S.Distributed(4, 2)]
OF_FEATURES = [S.Uniform(), S.Importance(), S.Nice(2), S.Independent(0.5), S.Distributed(2, 1), S.Nice(3)]


def make(name, problem, sampling, step=None):
    kind = METHODS[name]
    bound = kind.bind(sampling, problem)
    return kind(problem, bound, kind.step_rule(bound, step))


def measured(method, times, measure):
    """`measure(state)` at the given iterations, one row a seed."""
    rows = []
    for seed in range(SEEDS):
        state, row = method.start(np.zeros(method.problem.n)), []
        for time in times:
            method.advance(state, method.sampling.draw(state.iteration, int(time) - state.iteration, seed))
            row.append(measure(state))
        rows.append(row)
    return np.array(rows)


def spread(theta, steps=12):
    """Times at which the bound has fallen by a factor of some thousand, and the ones before."""
    return np.unique(np.ceil(np.linspace(0.5, 7, steps) / theta)).astype(int)


@pytest.mark.parametrize("sampling", OF_EXAMPLES, ids=repr)
@pytest.mark.parametrize("problem_name", PROBLEMS)
def test_quartz(problem_name, sampling):
    problem = PROBLEMS[problem_name]
    method = make("quartz", problem, sampling)
    theta, start = method.rule.theta, problem.gap(np.zeros(problem.d), np.zeros(problem.n))
    times = spread(theta)
    gaps = measured(method, times, lambda state: problem.gap(state.w, state.alpha))
    assert kept(gaps, (1 - theta) ** times * start)


def test_quartz_with_a_step_far_too_small_breaks_the_promise():
    """So the check has teeth."""
    problem = PROBLEMS["slow"]
    method = make("quartz", problem, S.Uniform())
    theta, start = method.rule.theta, problem.gap(np.zeros(problem.d), np.zeros(problem.n))
    late, times = make("quartz", problem, S.Uniform(), theta / 20), spread(theta)
    assert not kept(
        measured(late, times, lambda state: problem.gap(state.w, state.alpha)), (1 - theta) ** times * start
    )


@pytest.mark.parametrize("sampling", OF_EXAMPLES, ids=repr)
@pytest.mark.parametrize("problem_name", PROBLEMS)
def test_sdna(problem_name, sampling):
    problem = PROBLEMS[problem_name]
    best = problem.dual_value(-problem.derivatives(OPTIMA[problem_name].w))
    method = make("sdna", problem, sampling)
    theta, times = method.rule.theta, spread(method.rule.theta)
    lost = measured(method, times, lambda state: best - problem.dual_value(state.alpha))
    assert kept(lost, (1 - theta) ** times * (best - problem.dual_value(np.zeros(problem.n))) + 1e-12 * abs(best))


FEATURE_CASES = [("nsync", sampling) for sampling in OF_FEATURES]
FEATURE_CASES += [("ucdc", S.Uniform()), ("ucdc", S.Importance()), ("hydra", S.Distributed(2, 1))]


@pytest.mark.parametrize(("name", "sampling"), FEATURE_CASES, ids=repr)
@pytest.mark.parametrize("problem_name", PROBLEMS)
def test_descent_along_features(name, sampling, problem_name):
    problem, value = PROBLEMS[problem_name], suboptimality(problem_name)
    method = make(name, problem, sampling)
    theta = float((method.sampling.p * problem.lam / curvatures(method.sampling)).min())
    assert theta == pytest.approx(theorem_theta(method.sampling, 2), rel=1e-12)
    times = spread(theta)
    promised = (1 - theta) ** times * value(np.zeros(problem.d))
    assert kept(measured(method, times, lambda state: value(state.w)), promised + 1e-12)


@pytest.mark.parametrize("sampling", OF_FEATURES, ids=repr)
@pytest.mark.parametrize("problem_name", PROBLEMS)
def test_alpha(problem_name, sampling):
    """O(1/k²) up to the first restart, and a half from restart to restart."""
    problem, value = PROBLEMS[problem_name], suboptimality(problem_name)
    method = make("alpha", problem, sampling)
    best, v, p = OPTIMA[problem_name].w, curvatures(method.sampling), method.sampling.p
    inside = np.unique(np.linspace(1, method.period, 12).astype(int))
    restarts = method.period * np.arange(1, 6)
    seen = measured(method, np.concatenate([inside, restarts[1:]]), lambda state: value(state.w))
    assert kept(seen[:, : len(inside)], 2 * (v / p**2 * best**2).sum() / (inside + 1) ** 2)
    assert kept(seen[:, len(inside) - 1 :], 0.5 ** np.arange(1, 6) * value(np.zeros(problem.d)) + 1e-12)


def test_alpha_needs_fewer_steps_than_nsync_where_features_are_alike():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1)) + 0.1 * rng.normal(size=(100, 20))
    problem = df.Problem(X, df.losses.Squared(X @ rng.normal(size=20)), lam=1e-4)
    runs = {
        name: df.solve(problem, method=name, tol=1e-6, max_epochs=20_000, evaluate_every=10)
        for name in ("alpha", "nsync")
    }
    assert runs["alpha"].status == runs["nsync"].status == "converged"
    assert 2 * runs["alpha"].epochs < runs["nsync"].epochs
