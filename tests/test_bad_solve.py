"""Arguments of solve and plan that are wrong: refused by a sentence before any work starts."""

import numpy as np
import pytest

import dualfree as df
from small_problems import data, problem, targets


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"method": "sgdd"}, ValueError, r"method is 'sgdd'; it must be one of: .*dfsdca"),
        ({"method": ["dfsdca"]}, ValueError, r"method is \['dfsdca'\]; it must be one of"),
        ({"step": "theorem-3"}, ValueError, r"step is 'theorem-3'; it must be one of theorem-1, .*, or a number θ"),
        ({"step": 0}, ValueError, r"step is θ = 0; it must be above 0 and at most min p_i = 0\.0166667"),
        ({"step": -0.5}, ValueError, r"step is θ = -0\.5; it must be above 0"),
        ({"step": 0.5}, ValueError, r"step is θ = 0\.5; it must be above 0 and at most min p_i = 0\.0166667"),
        ({"step": np.nan}, ValueError, r"step is θ = nan; it must be above 0"),
        ({"step": True}, TypeError, r"step is True; it must be one of .*, or a number θ"),
        ({"step": [0.1, 0.2]}, TypeError, r"step is \[0\.1, 0\.2\]; it must be one of"),
        ({"step": np.array([0.1, 0.2])}, TypeError, r"step is array\(\[0\.1, 0\.2\]\); it must be one of"),
        ({"tol": -1}, ValueError, r"tol is -1; it must be a finite number of at least 0"),
        ({"tol": np.nan}, ValueError, r"tol is nan; it must be a finite number of at least 0"),
        ({"tol": "1e-6"}, TypeError, r"tol is '1e-6'; it must be a number"),
        ({"absolute_tol": -1}, ValueError, r"absolute_tol is -1; it must be a finite number of at least 0"),
        ({"max_epochs": 0}, ValueError, r"max_epochs is 0; it must be a finite number above 0"),
        ({"max_epochs": np.inf}, ValueError, r"max_epochs is inf; it must be a finite number above 0"),
        ({"time_limit": 0}, ValueError, r"time_limit is 0; it must be a finite number above 0"),
        ({"evaluate_every": -2}, ValueError, r"evaluate_every is -2; it must be a finite number above 0"),
        ({"seed": -1}, ValueError, r"seed is -1; it must be between 0 and 18446744073709551615"),
        ({"seed": 2**64}, ValueError, r"seed is 18446744073709551616; it must be between 0"),
        ({"seed": 1.5}, TypeError, r"seed is 1\.5; it must be a whole number"),
        ({"seed": None}, TypeError, r"seed is None; it must be a whole number"),
        ({"warm_start": np.zeros(8)}, ValueError, r"warm_start has 8 entries; it must have 60"),
        ({"warm_start": np.zeros((60, 1))}, ValueError, r"warm_start has shape \(60, 1\); it must be a vector"),
        ({"warm_start": np.full(60, np.inf)}, ValueError, r"warm_start\[0\] is inf; every entry must be finite"),
        ({"warm_start": "last"}, TypeError, r"warm_start must be a vector of numbers, but it is 'last'"),
        ({"warm_start": np.full(60, 1.7e308)}, ValueError, r"warm_start is so large that its w .* overflows"),
        ({"callback": "print"}, TypeError, r"callback is 'print'; it must be a function of one Row"),
    ],
)
def test_arguments_of_solve(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        df.solve(problem(), **{"callback": pytest.fail, "sampling": "uniform", **arguments})


def test_problem_must_be_a_problem():
    with pytest.raises(TypeError, match=r"problem is .*; it must be a dualfree\.Problem"):
        df.solve(data())


def test_warm_start_from_a_result_of_another_size():
    X = data(30)
    other = df.solve(df.Problem(X, df.losses.Squared(targets(X)), lam=0.1))
    with pytest.raises(ValueError, match=r"warm_start has 30 entries; it must have 60"):
        df.solve(problem(), warm_start=other)


@pytest.mark.parametrize("step", ["theorem-2", "implicit", "per-example"])
def test_steps_that_need_convexity(step):
    loss = df.losses.Squared(np.ones(60), weight=np.r_[np.ones(59), -1.0])
    mixed = df.Problem(data(), loss, lam=1.0)
    with pytest.raises(
        ValueError, match=rf"step='{step}' needs every φ_i to be convex, but weight\[59\] is -1, .*theo"
    ):
        df.solve(mixed, step=step)
    with pytest.raises(ValueError, match=r"Importance\(theorem=2\) needs every φ_i to be convex"):
        df.solve(mixed, sampling=df.samplings.Importance(theorem=2))


def test_plan():
    with pytest.raises(ValueError, match=r"samplings is empty; give at least one"):
        df.plan(problem(), [])
    with pytest.raises(TypeError, match=r"samplings is Uniform\(\); it must be a list, such as"):
        df.plan(problem(), df.samplings.Uniform())
    with pytest.raises(TypeError, match=r"samplings holds 8; each must be one of dualfree\.samplings"):
        df.plan(problem(), [8])
    with pytest.raises(TypeError, match=r"sampling is 8; its name must be a text, one of: uniform"):
        df.samplings.by_name(8)
    with pytest.raises(ValueError, match=r"cores is 0; it must be at least 1"):
        df.plan(problem(), [df.samplings.Uniform()], cores=0)
    with pytest.raises(ValueError, match=r"tol is nan; it must be a finite number of at least 0"):
        df.plan(problem(), [df.samplings.Uniform()], tol=np.nan)


@pytest.mark.parametrize("bad", [[], [-1, 2], [1.5], [[1, 2]], "abc"])
def test_chunks_of_garbage(bad):
    with pytest.raises(ValueError, match=r"nnz must be a non-empty vector of whole numbers of at least 0; got"):
        df.chunks(bad)


@pytest.mark.parametrize("lam", [1e-300, 1.0, 1e300])
def test_entries_too_large_to_be_squared(lam):
    with pytest.raises(
        ValueError, match=r"v\[\d+\] is inf: the entries of X are too large to be squared; scale X down"
    ):
        df.solve(problem("squared", X=1e160 * data(), lam=lam))


@pytest.mark.parametrize("step", ["implicit", "theorem-2", "theorem-1", "tuned", 0.01])
def test_lambda_too_small_for_the_data(step):
    with pytest.raises(ValueError, match=r"lam is 1e-300, too small for examples of norm 1e\+50: .*take a larger lam"):
        df.solve(problem("squared", X=1e50 * data(), lam=1e-300), step=step, sampling="uniform")


@pytest.mark.parametrize(
    ("scale", "lam"), [(1e-160, 5e-324), (1e-160, 1e-300), (1.0, 1e-300), (1e100, 1e300), (1, 1e300)]
)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("step", ["implicit", "theorem-2", "tuned"])
def test_extreme_scales_end_with_an_honest_status(scale, lam, loss, step):
    """Overflow must neither crash nor warn, and must not pass for an answer."""
    result = df.solve(problem(loss, X=scale * data(), lam=lam), max_epochs=5, step=step)
    assert result.status in ("diverged", "max_epochs") or result.certificate.relative_gap <= 1e-6
