"""The L1 part of the penalty: values, the gap and its witnesses, and dfSDCA in proximal form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

import dualfree as df
from dualfree._native import kernels
from dualfree.methods import METHODS
from dualfree.reference import dfsdca
from helpers.l1 import NoConjugate, feasible, random_l1_twins, small
from helpers.problems import LAYOUTS, LOSSES
from helpers.samplings import as_batches
from small_problems import LOSSES as SMALL
from small_problems import SAMPLINGS, data, targets

L2L1 = df.regularisers.L2L1


def split_optimum(problem):
    """min P by another road: w = u − v with u, v ≥ 0 makes the penalty smooth, and L-BFGS-B takes the bounds."""
    d, n = problem.d - problem.intercept, problem.n
    X, loss = np.asarray(problem.examples.X), problem.loss

    def objective(x):
        w, b = x[:d] - x[d : 2 * d], x[2 * d] if problem.intercept else 0.0
        z = X @ w + b
        value = loss.weighted(loss.value(z, loss.y)).mean() + problem.lam / 2 * w @ w + problem.mu * x[: 2 * d].sum()
        slopes = loss.weighted(loss.derivative(z, loss.y)) / n
        smooth = X.T @ slopes + problem.lam * w
        last = [slopes.sum()] if problem.intercept else []
        return value, np.concatenate([smooth + problem.mu, -smooth + problem.mu, last])

    bounds = [(0, None)] * (2 * d) + [(None, None)] * problem.intercept
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 20_000, "maxfun": 100_000}
    return minimize(objective, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_values_and_gap_equal_the_reference(name, weighted):
    fast, slow = random_l1_twins(name, weighted=weighted)
    rng = np.random.default_rng(1)
    for _ in range(5):
        alpha, w = feasible(rng, fast), rng.normal(size=fast.d)
        np.testing.assert_allclose(fast.primal(alpha), slow.primal(alpha), rtol=1e-12, atol=1e-14)
        assert fast.value(w) == pytest.approx(slow.value(w), rel=1e-13)
        assert fast.dual_value(alpha) == pytest.approx(slow.dual_value(alpha), rel=1e-12)
        assert fast.evaluate(w, alpha).duality_gap == pytest.approx(slow.gap(w, alpha), rel=1e-11)
        assert fast.evaluate(w, alpha).duality_gap == pytest.approx(fast.gap(w, alpha), rel=1e-11)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_the_certificate_without_alpha_is_the_gap_of_the_derivatives(name):
    """‖r‖²/(2λ) = P(w) − D(α) for α_i = −φ_i'(A_iᵀw), and so a bound without any conjugate."""
    fast, slow = random_l1_twins(name)
    for seed in range(5):
        w = np.random.default_rng(seed).normal(size=fast.d)
        w[seed] = 0.0
        residual = fast.gradient(w)
        assert residual @ residual / (2 * fast.lam) == pytest.approx(slow.gap(w, -fast.derivatives(w)), rel=1e-9)


def test_where_w_keeps_its_sign_the_residual_is_the_derivative():
    fast, _ = random_l1_twins("squared", mu=1e-3)
    w = df.solve(fast, tol=1e-3).w
    moved, residual = np.flatnonzero(w), fast.gradient(w)
    for j in moved:
        step = np.zeros(fast.d)
        step[j] = 1e-7 * abs(w[j])
        difference = (fast.value(w + step) - fast.value(w - step)) / (2 * step[j])
        assert residual[j] == pytest.approx(difference, abs=1e-6)


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize("loss", sorted(SMALL))
def test_dfsdca_finds_the_optimum_of_another_method(loss, kind, intercept):
    result = df.solve(small(loss, kind=kind, intercept=intercept), tol=1e-11, max_epochs=5000, evaluate_every=10)
    assert result.status == "converged", result.message
    best = split_optimum(small(loss, kind="dense", intercept=intercept))
    assert result.certificate.value == pytest.approx(best, rel=1e-8)
    assert result.certificate.value - result.certificate.gap <= best * (1 + 1e-12)


@pytest.mark.parametrize("step", ["implicit", "per-example", "theorem-2", "theorem-1", 0.002])
@pytest.mark.parametrize("layout", LAYOUTS[::2])
@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("batch", [False, True], ids=["serial", "batches"])
def test_native_dfsdca_equals_literal(name, layout, step, batch):
    fast, slow = random_l1_twins(name, weighted=True, layout=layout)
    bound = (df.samplings.Nice(3) if batch else df.samplings.Importance()).bind(fast)
    method = METHODS["dfsdca"](fast, bound, METHODS["dfsdca"].step_rule(bound, step))
    start = feasible(np.random.default_rng(2), fast)
    state, draws = method.start(start.copy()), bound.draw(0, 60, 3)
    method.advance(state, draws)
    w, alpha = dfsdca(slow, as_batches(draws), bound.p, bound.v, step, start)
    np.testing.assert_allclose(state.alpha, alpha, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fast.point(state.w), w, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", sorted(SAMPLINGS))
def test_every_sampling(name):
    problem = small(mu=0.005)
    result = df.solve(problem, sampling=SAMPLINGS[name](problem.n), tol=1e-8, max_epochs=3000, evaluate_every=20)
    assert result.status == "converged", result.message
    assert 0 < np.count_nonzero(result.w) < problem.d
    np.testing.assert_allclose(result.w, problem.primal(result.alpha), atol=1e-12)


@pytest.mark.parametrize("slack", [0.0, None])
def test_the_kernel_without_a_threshold_is_that_of_dfsdca(slack):
    problem = small("squared", mu=None)
    draws = df.samplings.Uniform().bind(problem).draw(0, 300)
    scale, found = np.full(1, 0.2), []
    for kernel, threshold in ((kernels.dfsdca, ()), (kernels.proximal, (0.0,))):
        alpha, w = np.zeros(problem.n), np.zeros(problem.d)
        kernel(
            problem.examples.native,
            problem.loss.native,
            slack,
            scale,
            1.0,
            *threshold,
            draws.indices,
            None,
            alpha,
            w,
        )
        found.append(np.concatenate([alpha, w]))
    np.testing.assert_allclose(*found, rtol=1e-11, atol=1e-12)


def test_the_same_bits_for_any_number_of_threads():
    problem = small(mu=0.005)
    runs = [df.solve(problem, sampling="nice:20", max_epochs=7, tol=0, n_threads=k) for k in (1, 2)]
    np.testing.assert_array_equal(runs[0].w, runs[1].w)


def test_a_loss_in_python_and_negative_weights():
    X = data()
    y = targets(X)

    penalty = L2L1(0.02)
    mine = df.solve(
        df.Problem(X, NoConjugate(y), 0.05, regulariser=penalty),
        sampling="nice:10",
        tol=1e-9,
        max_epochs=5000,
        evaluate_every=50,
    )
    theirs = df.solve(df.Problem(X, df.losses.Squared(y), 0.05, regulariser=penalty), tol=1e-9)
    assert mine.status == "converged"
    np.testing.assert_allclose(mine.w, theirs.w, atol=1e-4)
    weight = np.where(np.arange(len(y)) % 4 == 0, -0.2, 1.0)
    problem = df.Problem(X, df.losses.Squared(y, weight=weight), 0.3, regulariser=penalty)
    result = df.solve(problem, tol=1e-9, max_epochs=5000, evaluate_every=20)
    assert result.status == "converged"
    assert result.certificate.value == pytest.approx(split_optimum(problem), rel=1e-8)


def test_a_large_mu_gives_zero_and_a_certificate_at_once():
    result = df.solve(small(mu=100.0))
    assert not result.w.any()
    assert result.certificate.relative_gap <= 1e-6


def test_warm_start_and_auto():
    problem = small(mu=0.01)
    first = df.solve(problem, method="auto", tol=1e-10, max_epochs=2000)
    assert first.method == "auto: dfsdca"
    again = df.solve(problem, warm_start=first, tol=1e-9)
    assert again.epochs == 0
    np.testing.assert_allclose(first.w, again.w, rtol=1e-12)


def test_no_theorem_is_claimed_for_mu_above_zero():
    assert df.solve(small(mu=0.0), sampling="uniform", step="theorem-2").bound.covered
    assert not df.solve(small(mu=0.01), sampling="uniform", step="theorem-2").bound.covered


@pytest.mark.parametrize("name", [name for name, kind in METHODS.items() if not kind.takes_l1])
def test_methods_without_l1_name_those_that_have_it(name):
    with pytest.raises(ValueError, match="these methods do: dfsdca, ") as error:
        df.solve(small(mu=0.1), method=name)
    assert "\n" not in str(error.value)
    assert "prox-sdca" in str(error.value)


@given(
    w=arrays(np.float64, 6, elements=st.floats(-1e3, 1e3)),
    combination=arrays(np.float64, 6, elements=st.floats(-1e3, 1e3)),
    lam=st.floats(1e-3, 1e3),
    mu=st.floats(0, 1e3),
)
def test_the_slack_of_a_penalty_is_that_of_fenchel_and_young(w, combination, lam, mu):
    penalty = L2L1(mu)
    parts = [penalty.value(w, lam), penalty.conjugate(combination, lam), -lam * float(combination @ w)]
    rounding = 1e-12 * (sum(map(abs, parts)) + lam * float(np.abs(combination) @ np.abs(w)))
    slack, point = penalty.slack(w, combination, lam), penalty.point(combination, lam)
    assert slack >= 0
    assert slack == pytest.approx(sum(parts), abs=rounding)
    assert penalty.slack(point, combination, lam) == 0
    residual = penalty.residual(w, -lam * combination, lam)
    assert float(residual @ residual) / (2 * lam) == pytest.approx(slack, rel=1e-6, abs=rounding)


def test_wrong_penalties_are_refused():
    X = data()
    with pytest.raises(ValueError, match="mu is 1 and lam 1e-310: μ/λ overflows"):
        df.Problem(X, df.losses.Squared(targets(X)), 1e-310, regulariser=L2L1(1.0))
    with pytest.raises(TypeError, match=r"regulariser is 0.1; it must be one of dualfree.regularisers"):
        df.Problem(X, df.losses.Squared(targets(X)), 0.1, regulariser=0.1)
    for mu in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="mu is"):
            L2L1(mu)
