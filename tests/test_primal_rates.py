"""The proven rates of the primal methods, in the mean over seeds, with the steps that their proofs ask for."""

import math

import numpy as np
import pytest

import dualfree as df
from dualfree.methods import METHODS
from dualfree.methods.primal import smoothness

SEEDS = 60


def logistic_problem():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(40, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X @ rng.normal(size=5) + 0.3 * rng.normal(size=40) > 0, 1.0, -1.0)
    return df.Problem(X, df.losses.Logistic(y), lam=0.02)


def slow_problem():
    """Squared losses, with a feature so small that only λ bends P along it, and the optimum is far out there."""
    rng = np.random.default_rng(12)
    X = rng.normal(size=(40, 3)) * [0.6, 0.3, 0.003]
    return df.Problem(X, df.losses.Squared(X @ [1.0, 2.0, 2000.0] + 0.1 * rng.normal(size=40)), lam=0.01)


PROBLEMS = {"logistic": logistic_problem(), "slow": slow_problem()}
OPTIMA = {name: df.solve(problem, method="newton", tol=0, max_epochs=20) for name, problem in PROBLEMS.items()}


def make(name, problem, step=None):
    kind = METHODS[name]
    bound = kind.default_sampling(problem).bind(problem)
    return kind(problem, bound, kind.step_rule(bound, step))


def runs(method, times, measure, seeds=SEEDS):
    """`measure(w)` at the given iterations, one row a seed."""
    rows = []
    for seed in range(seeds):
        state, row = method.start(np.zeros(method.problem.n)), []
        state.seed = seed
        for time in times:
            method.advance(state, method.sampling.draw(state.iteration, time - state.iteration, seed))
            row.append(measure(state.w))
        rows.append(row)
    return np.array(rows)


def kept(measured, promised):
    """Mean less three standard errors: the theorems speak of the expectation that the mean estimates."""
    error = measured.std(axis=0, ddof=1) / math.sqrt(len(measured))
    return bool((measured.mean(axis=0) - 3 * error <= promised * (1 + 1e-9)).all())


def distance(problem_name):
    best = OPTIMA[problem_name].w
    return lambda w: float((w - best) @ (w - best))


def suboptimality(problem_name):
    problem, best = PROBLEMS[problem_name], OPTIMA[problem_name].certificate.value
    return lambda w: problem.value(w) - best


def gradients_at_optimum(problem_name):
    """``∇f_i(w*)``, one row an example."""
    problem, best = PROBLEMS[problem_name], OPTIMA[problem_name].w
    return problem.derivatives(best)[:, None] * problem.examples.X, problem.lam * best


def saga_promise(problem_name, times):
    problem = PROBLEMS[problem_name]
    n, lam, L = problem.n, problem.lam, smoothness(problem)
    losses, _ = gradients_at_optimum(problem_name)  # the table starts at zero
    start = distance(problem_name)(np.zeros(problem.d)) + n * (3 * L - lam) / (9 * L**3) * (losses**2).sum() / n
    return (1 - min(1 / (4 * n), lam / (3 * L))) ** times * start


@pytest.mark.parametrize("problem_name", PROBLEMS)
def test_saga(problem_name):
    times = 40 * np.arange(1, 31)
    measured = runs(make("saga", PROBLEMS[problem_name]), times, distance(problem_name))
    assert kept(measured, saga_promise(problem_name, times))
    assert measured[:, -1].min() > 0


def test_saga_with_a_step_twenty_times_too_small_breaks_the_promise():
    """So the check has teeth."""
    times, problem = 40 * np.arange(1, 61), PROBLEMS["slow"]
    late = make("saga", problem, 1 / (60 * smoothness(problem)))
    assert not kept(runs(late, times, distance("slow"), seeds=5), saga_promise("slow", times))


@pytest.mark.parametrize("problem_name", PROBLEMS)
def test_sag(problem_name):
    problem = PROBLEMS[problem_name]
    n, lam, L = problem.n, problem.lam, smoothness(problem)
    times = 3 * n * np.arange(1, 31)
    losses, shared = gradients_at_optimum(problem_name)
    variance = ((losses + shared) ** 2).sum() / n
    zero = np.zeros(problem.d)
    start = suboptimality(problem_name)(zero) + 4 * L / n * distance(problem_name)(zero) + variance / (16 * L)
    promised = (1 - min(lam / (16 * L), 1 / (8 * n))) ** times * start
    assert kept(runs(make("sag", problem), times, suboptimality(problem_name)), promised)


def svrg_factor(method, L, lam):
    h, m = method.step, method.most_steps
    return 1 / (lam * h * (1 - 2 * L * h) * m) + 2 * L * h / (1 - 2 * L * h)


def s2gd_factor(method, L, lam):
    h, m = method.step, method.most_steps
    beta = sum((1 - lam * h) ** (m - t) for t in range(1, m + 1))
    return (1 - lam * h) ** m / (beta * lam * h * (1 - 2 * L * h)) + 2 * (L - lam) * h / (1 - 2 * L * h)


def ms2gd_factor(method, L, lam):
    h, m, n, b = method.step, method.most_steps, method.problem.n, method.sampling.mean_size
    noise = 4 * h * L * (n - b) / (b * (n - 1))
    return 1 / (m * h * lam * (1 - noise)) + noise * (m + 1) / (m * (1 - noise))


def s2cd_factor(method, _, lam):
    h, power, L = method.step, (1 - lam * method.step) ** method.most_steps, method.pairs.total
    return power / ((1 - power) * (1 - 2 * L * h)) + 2 * L * h / (1 - 2 * L * h)


FACTORS = {"svrg": svrg_factor, "s2gd": s2gd_factor, "ms2gd": ms2gd_factor, "s2cd": s2cd_factor}


@pytest.mark.parametrize("problem_name", PROBLEMS)
@pytest.mark.parametrize("name", FACTORS)
def test_semi_stochastic(name, problem_name):
    problem = PROBLEMS[problem_name]
    method, value = make(name, problem), suboptimality(problem_name)
    rho = FACTORS[name](method, smoothness(problem), problem.lam)
    assert rho <= 0.5 + 1 / method.most_steps
    rows = []
    for seed in range(SEEDS):
        state, row = method.start(np.zeros(problem.n)), []
        state.seed = seed
        for _ in range(4):
            method.advance(state, method.sampling.draw(state.iteration, 1, seed))  # takes the full gradient
            left = int(state.memory["counters"][:2].sum())
            method.advance(state, method.sampling.draw(state.iteration, left, seed))
            row.append(value(state.w))
        rows.append(row)
    assert kept(np.array(rows), rho ** np.arange(1, 5) * value(np.zeros(problem.d)))


@pytest.mark.parametrize("problem_name", PROBLEMS)
def test_sgd_ends_in_the_noise_that_the_theory_names(problem_name):
    problem = PROBLEMS[problem_name]
    method = make("sgd", problem)
    losses, shared = gradients_at_optimum(problem_name)
    variance = ((losses + shared) ** 2).sum() / problem.n
    t0 = 1 / (method.step * problem.lam)
    times = np.array([10, 100, 1000, 10_000, 100_000])
    logs = 1 / t0 + np.log((t0 + times - 1) / t0)
    start = distance(problem_name)(np.zeros(problem.d))
    promised = ((t0 - 1) * start + 2 * variance / problem.lam**2 * logs) / (t0 + times - 1)
    measured = runs(method, times, distance(problem_name))
    assert kept(measured, promised)
    means = measured.mean(axis=0)
    assert means[-1] > 1e-3 * promised[-1]
    assert 5 < means[-2] / means[-1] < 20  # ten times the steps, a tenth of the noise
