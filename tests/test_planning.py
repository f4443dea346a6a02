"""The planner: the theorems' bound before any run, and the proxy time of the paper."""

import numpy as np
import pytest

import dualfree as df
from dualfree.bounds import initial_potential
from dualfree.planning import batch_loads, proxy_time
from dualfree.samplings import Draws
from helpers.problems import least_squares_with_negative_weights, random_twins

S = df.samplings
NONZEROS = np.array([5, 1, 2, 7, 3, 4])


def test_plan_equals_the_formula_and_is_sorted():
    problem, slow = random_twins("logistic", n=30)
    candidates = [S.Uniform(), S.Importance(), S.Nice(4), S.Chunks(2, 6), S.Shuffled()]
    plan = df.plan(problem, candidates, tol=1e-4)
    assert [row.proxy for row in plan] == sorted(row.proxy for row in plan)
    assert {row.sampling for row in plan} == {repr(sampling) for sampling in candidates}
    epsilon = 1e-4 * slow.value(np.zeros(problem.d))
    smoothness = (slow.l * (slow.X**2).sum(axis=1)).max()
    start = slow.gap(np.zeros(problem.d), np.zeros(problem.n))  # at zero, the bound on E is the duality gap
    for sampling in candidates:
        row = next(row for row in plan if row.sampling == repr(sampling))
        bound = sampling.bind(problem)
        factor = (1 / bound.p + slow.l * bound.v / (slow.lam * bound.p * slow.n)).max()
        iterations = factor * np.log((smoothness + slow.lam) * start / (slow.lam * epsilon))
        assert row.iterations == pytest.approx(iterations, rel=1e-9)
        assert row.epochs == pytest.approx(iterations * bound.p.sum() / problem.n, rel=1e-9)
        assert row.proxy == pytest.approx(row.iterations * row.proxy_per_iteration)
        assert row.covered == (not isinstance(sampling, S.Shuffled))


def test_plan_without_convexity_uses_theorem_1():
    problem = least_squares_with_negative_weights()
    row = df.plan(problem, [S.Uniform()], tol=1e-3)[0]
    bound = S.Uniform().bind(problem)
    factor = (1 / bound.p + problem.L**2 * bound.v / (problem.lam**2 * bound.p * problem.n)).max()
    zero = np.zeros(problem.d)
    start = initial_potential(problem, zero, np.zeros(problem.n), 1)
    epsilon = 1e-3 * abs(problem.value(zero))
    smoothness = (problem.l * problem.norms**2).max()
    logarithm = np.log((smoothness + problem.lam) * start / (problem.lam * epsilon))
    assert row.iterations == pytest.approx(factor * logarithm, rel=1e-12)


def test_the_promise_holds_on_the_average_of_runs():
    problem, _ = random_twins("squared", n=30)
    best = df.solve(problem, tol=1e-14, max_epochs=5000).certificate.value
    row = df.plan(problem, [S.Nice(5)], tol=1e-3)[0]
    epsilon = 1e-3 * problem.value(np.zeros(problem.d))
    reached = []
    for seed in range(10):
        options = {"sampling": S.Nice(5), "step": "theorem-2", "tol": 0, "max_epochs": row.epochs, "seed": seed}
        reached.append(df.solve(problem, evaluate_every=row.epochs, **options).history[-1].value - best)
    assert np.mean(reached) <= epsilon


class TestLoads:
    def test_serial_draws_cost_their_rows(self):
        assert batch_loads(Draws(np.array([3, 0, 1])), NONZEROS).tolist() == [7, 5, 1]

    def test_without_parts_each_example_has_a_core_of_its_own(self):
        draws = Draws(np.array([0, 1, 3, 2, 4]), np.array([0, 2, 2, 5]))
        assert batch_loads(draws, NONZEROS).tolist() == [5, 0, 7]

    def test_with_few_cores_each_example_goes_to_the_least_busy(self):
        draws = Draws(np.array([0, 1, 2, 3, 4, 5]), np.array([0, 3, 6]))
        assert batch_loads(draws, NONZEROS, cores=1).tolist() == [8, 14]
        assert batch_loads(draws, NONZEROS, cores=2).tolist() == [5, 7]  # 5 | 1+2 and 7 | 3+4
        assert batch_loads(draws, NONZEROS, cores=3).tolist() == [5, 7]

    def test_a_part_stays_on_one_core(self):
        draws = Draws(np.array([0, 1, 2, 3, 4, 5]), np.array([0, 4, 6]), np.array([0, 2, 4, 6]))
        assert batch_loads(draws, NONZEROS).tolist() == [9, 7]  # 5+1 | 2+7 and 3+4
        assert batch_loads(draws, NONZEROS, cores=1).tolist() == [15, 7]

    def test_proxy_time_of_chunks_and_of_everything(self):
        X = np.ones((6, 3))
        problem = df.Problem(X, df.losses.Squared(np.ones(6)), lam=1.0)
        assert proxy_time(S.Chunks(2, [3, 3]).bind(problem)) == 9
        assert proxy_time(S.Nice(6).bind(problem)) == 3
        assert proxy_time(S.Nice(6).bind(problem), cores=2) == 9


def test_more_cores_never_make_a_plan_worse():
    problem, _ = random_twins("logistic", n=30)
    costs = [df.plan(problem, [S.Nice(8)], cores=cores)[0].proxy for cores in (1, 2, 4, 8, None)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == costs[-2]


def test_mistakes_are_named():
    problem, _ = random_twins("logistic")
    with pytest.raises(ValueError, match="samplings is empty"):
        df.plan(problem, [])
    with pytest.raises(ValueError, match="cores is 0"):
        df.plan(problem, [S.Uniform()], cores=0)
