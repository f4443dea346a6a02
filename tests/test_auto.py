"""``method="auto"``: dfSDCA where it is good, Newton's method where it is better, one result of both."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree.automatic import Switch
from dualfree.costs import Costs, estimate
from dualfree.limits import Limits
from dualfree.result import Row
from helpers.off_centre import LOSSES, make_data


def make_problem(lam, intercept=False, name="logistic"):
    X, y = make_data(name, n=200, d=8, centre=1.0)
    return df.Problem(X, LOSSES[name](y), lam, intercept=intercept)


def make_wide(lam):
    """More features than examples: there dfSDCA has no rival."""
    rng = np.random.default_rng(0)
    X = sparse.random(60, 6000, density=0.01, random_state=0, format="csr")
    return df.Problem(X, df.losses.Logistic(np.sign(rng.normal(size=60))), lam)


def test_it_takes_dfsdca_where_that_is_cheapest_and_looks_seldom():
    result = df.solve(make_wide(1.0), method="auto", tol=1e-8)
    assert result.status == "converged"
    assert result.method == "auto: dfsdca"
    assert "dfSDCA was chosen by estimated cost" in result.message
    assert len(result.history) <= 4
    each = df.solve(make_wide(1.0), method="auto", tol=1e-8, evaluate_every=1.0)
    assert len(each.history) == each.epochs + 1
    assert each.epochs >= result.epochs - 1


@pytest.mark.parametrize("intercept", [False, True])
def test_the_first_look_costs_no_pass_and_tells_the_truth(intercept):
    problem = make_problem(1.0, intercept)
    seldom = df.solve(problem, method="auto", sampling="shuffled", max_epochs=3)
    each = df.solve(problem, max_epochs=3)
    assert seldom.history[0].value == pytest.approx(each.history[0].value, rel=1e-12)
    assert seldom.history[0].gap >= each.history[0].gap * (1 - 1e-12)
    np.testing.assert_allclose(seldom.w, each.w, rtol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_it_takes_newton_at_small_lambda(intercept):
    problem = make_problem(1e-6, intercept)
    result = df.solve(problem, method="auto", tol=1e-10, max_epochs=500)
    assert result.status == "converged"
    assert result.method == "auto: newton"
    assert "Newton's method was chosen: the data are so few that all of its steps are one call" in result.message
    watched = df.solve(problem, method="auto", tol=1e-10, max_epochs=500, callback=lambda row: False)
    assert watched.method == "auto: newton"
    assert "Newton's method was chosen by estimated cost" in watched.message


@pytest.mark.parametrize(("n", "d", "best"), [(4000, 10, "newton"), (400, 400, "dfsdca"), (200, 1000, "dfsdca")])
def test_dense_data_whose_examples_are_fewer_than_their_features_are_dfsdca_s(n, d, best):
    """A Hessian costs hundreds of passes there, and in many dimensions examples are hardly in each other's way."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    problem = df.Problem(X, df.losses.Logistic(np.sign(X @ rng.normal(size=d))), lam=0.01 / n)
    assert estimate(problem, 1e-6).best == best
    result = df.solve(problem, method="auto", tol=1e-6)
    assert result.status == "converged"
    assert result.epochs < 60


@pytest.mark.parametrize("intercept", [False, True])
def test_it_turns_to_newton_where_dfsdca_is_slower_than_thought(intercept):
    problem = make_problem(1e-6, intercept)
    result = df.solve(problem, method="auto", sampling="shuffled", tol=1e-10, max_epochs=500)
    assert result.status == "converged"
    assert result.method == "auto: dfsdca, then newton"
    assert "Newton's method the time of" in result.message
    goal = 1e-10 * result.certificate.value
    assert f"Asked: {goal:.3g}; spent: {result.epochs:.4g} epochs" in result.message
    history = result.history
    assert (np.diff(history.epoch) > 0).all()
    assert (np.diff(history.iteration) > 0).all()
    assert (np.diff(history.seconds) >= 0).all()
    assert history[-1].gap == pytest.approx(result.certificate.gap)
    assert result.epochs == history[-1].epoch
    slow = df.solve(problem, method="newton", tol=1e-12)
    np.testing.assert_allclose(result.w, slow.w, rtol=1e-3, atol=1e-4)


def make_one_hot(n, categories, each, lam_n):
    """As many features as categories in all, each as popular as the others."""
    rng = np.random.default_rng(0)
    columns = each * np.arange(categories) + rng.integers(0, each, (n, categories))
    X = sparse.csr_matrix((np.ones(columns.size), columns.ravel(), np.arange(n + 1) * categories))
    y = np.sign((X - X.mean(axis=0)) @ rng.normal(size=X.shape[1]) + rng.normal(size=n))
    return df.Problem(X / np.sqrt(categories), df.losses.Logistic(np.asarray(y).ravel()), lam_n / n)


def test_it_takes_l_bfgs_where_a_hessian_is_dear_and_lambda_is_small():
    problem = make_one_hot(6000, 6, 200, lam_n=0.01)
    assert estimate(problem, 1e-6).best == "lbfgs"
    result = df.solve(problem, method="auto", tol=1e-6)
    assert result.status == "converged"
    assert result.method == "auto: lbfgs"
    assert "L-BFGS was chosen by estimated cost" in result.message
    dfsdca = df.solve(problem, method="auto", sampling="shuffled", tol=1e-10, max_epochs=1000)
    np.testing.assert_allclose(result.w, dfsdca.w, atol=1e-2 * np.abs(dfsdca.w).max())


@pytest.mark.parametrize("other", ["newton", "dfsdca"])
def test_it_turns_from_l_bfgs_where_that_is_slower_than_thought(monkeypatch, other):
    X, y = make_data("logistic", n=400, d=100, centre=1.0)
    problem = df.Problem(X, df.losses.Logistic(y), 0.01 / 400)
    monkeypatch.setattr("dualfree.automatic.estimate", lambda *_: Costs({"lbfgs": 2.0, other: 3.0}, lbfgs_pass=0.5))
    result = df.solve(problem, method="auto", tol=1e-9, max_epochs=5000)
    assert result.method == f"auto: lbfgs, then {other}"
    assert result.status == "converged"
    assert "L-BFGS would need" in result.message
    assert "the time of 6" in result.message
    assert (np.diff(result.history.epoch) > 0).all()


def test_l_bfgs_that_hovers_above_the_goal_is_left_but_not_one_that_is_there():
    def rows(gap):
        return [Row(float(k), k, 0.0, 1.0, 1.0 if k < 2 else gap, 1.0) for k in range(40)]

    hovering = Switch("lbfgs", "dfsdca", 20.0, Limits.checked(1e-3, 0.0, 200, None, None))
    assert [hovering(row) for row in rows(1.1e-3)].index(True) == 31  # one and a half times as long as dfSDCA
    assert "too long" in hovering.reason
    there = Switch("lbfgs", "dfsdca", 20.0, Limits.checked(1e-3, 0.0, 200, None, None))
    assert not any(there(row) for row in rows(0.9e-3))


def test_a_callback_stops_either_part():
    problem = make_problem(1e-6)
    assert df.solve(problem, method="auto", callback=lambda row: row.epoch >= 2).epochs == 2
    assert df.solve(problem, method="auto", step="implicit", callback=lambda row: row.epoch >= 8).status == "stopped"
    stopped = df.solve(problem, method="auto", tol=1e-14, callback=lambda row: row.epoch >= 3)
    assert stopped.status == "stopped"


def test_what_cannot_be_used_has_no_cost():
    X, y = make_data("squared", n=200, d=8)
    weight = np.where(np.arange(200) == 0, -0.01, 1.0)
    assert "newton" not in estimate(df.Problem(X, df.losses.Tukey(y, weight=weight), 1e-3), 1e-6).epochs
    assert "newton" not in estimate(make_wide(1.0), 1e-6).epochs
    assert "newton" in estimate(make_problem(1.0), 1e-6).epochs


def test_the_cheapest_is_chosen():
    assert Costs({"dfsdca": 5.0, "lbfgs": 4.0}).best == "lbfgs"
    assert Costs({"dfsdca": 3.0, "lbfgs": 4.0, "newton": 3.5}).cheapest_beside("dfsdca") == "newton"
    assert Costs({"dfsdca": 3.0}).cheapest_beside("dfsdca") is None


def test_limits_are_shared():
    result = df.solve(make_problem(1e-6), method="auto", tol=0.0, max_epochs=12)
    assert result.status == "max_epochs"
    assert result.epochs == pytest.approx(12)
    assert (
        df.solve(make_problem(1e-6), method="auto", tol=0.0, time_limit=1e-3, max_epochs=10**6).status == "time_limit"
    )
