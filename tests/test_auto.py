"""``method="auto"``: dfSDCA where it is good, Newton's method where it is better, one result of both."""

import numpy as np
import pytest

import dualfree as df
from dualfree.automatic import newton_epochs
from helpers.off_centre import LOSSES, make_data


def make_problem(lam, intercept=False, name="logistic"):
    X, y = make_data(name, n=200, d=8, centre=1.0)
    return df.Problem(X, LOSSES[name](y), lam, intercept=intercept)


def test_it_stays_with_dfsdca_where_that_converges_fast():
    result = df.solve(make_problem(1.0), method="auto")
    assert result.status == "converged"
    assert result.method == "auto: dfsdca"


@pytest.mark.parametrize("intercept", [False, True])
def test_it_turns_to_newton_at_small_lambda(intercept):
    problem = make_problem(1e-6, intercept)
    result = df.solve(problem, method="auto", tol=1e-10, max_epochs=500)
    assert result.status == "converged"
    assert result.method == "auto: dfsdca, then newton"
    assert "Newton's method the time of" in result.message
    history = result.history
    assert (np.diff(history.epoch) > 0).all()
    assert (np.diff(history.iteration) > 0).all()
    assert (np.diff(history.seconds) >= 0).all()
    assert history[-1].gap == pytest.approx(result.certificate.gap)
    assert result.epochs == history[-1].epoch
    slow = df.solve(problem, method="newton", tol=1e-12)
    np.testing.assert_allclose(result.w, slow.w, rtol=1e-3, atol=1e-4)


def test_a_callback_stops_either_part():
    problem = make_problem(1e-6)
    assert df.solve(problem, method="auto", callback=lambda row: row.epoch >= 2).epochs == 2
    stopped = df.solve(problem, method="auto", tol=1e-12, callback=lambda row: row.epoch >= 6)
    assert stopped.status == "stopped"


def test_where_newton_cannot_be_used_it_costs_infinity():
    X, y = make_data("squared", n=200, d=8)
    weight = np.where(np.arange(200) == 0, -0.01, 1.0)
    assert newton_epochs(df.Problem(X, df.losses.Squared(y, weight=weight), 1.0)) == np.inf
    assert newton_epochs(make_problem(1.0)) < np.inf


def test_limits_are_shared():
    result = df.solve(make_problem(1e-6), method="auto", tol=0.0, max_epochs=12)
    assert result.status == "max_epochs"
    assert result.epochs == pytest.approx(12)
    assert (
        df.solve(make_problem(1e-6), method="auto", tol=0.0, time_limit=1e-3, max_epochs=10**6).status == "time_limit"
    )
