"""Bounded losses: steps that cannot diverge, an answer without a guarantee, and what outliers do to it."""

import numpy as np
import pytest

import dualfree as df
from dualfree.losses import Huber, Savage, Sigmoid, Squared, Tukey
from dualfree.methods.dfsdca import DfSDCA
from dualfree.steps import step_rule


def data(n=500, d=6, seed=0):
    """Rows, a planted model's labels of which a fifth is wrong, and its targets of which a fifth is far off."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    planted = 3 * rng.normal(size=d)
    off = rng.random(n) < 0.2
    labels = np.where((X @ planted > 0) ^ off, 1.0, -1.0)
    return X, planted, labels, X @ planted + 0.1 * rng.normal(size=n) + off * 30


def losses(labels, numbers):
    return [Sigmoid(labels), Savage(labels), Tukey(numbers, c=1.0)]


@pytest.mark.parametrize("method", ["dfsdca", "lbfgs"])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_ends_at_a_small_gradient_and_promises_no_more(method, which):
    X, _, labels, numbers = data()
    problem = df.Problem(X, losses(labels, numbers)[which], lam=1e-3)
    assert problem.convexity.known is False
    result = df.solve(problem, method=method, max_epochs=1000)
    proof = result.certificate
    assert result.status == "converged"
    assert proof.gradient_norm == pytest.approx(np.linalg.norm(problem.gradient(result.w)), rel=1e-6)
    assert proof.gradient_norm <= 1e-6 * proof.value
    assert (proof.gap, proof.duality_gap, proof.gradient_bound, proof.relative_gap) == (np.inf,) * 4
    assert (proof.kind, proof.guaranteed, proof.average_convex) == ("gradient norm", False, False)
    assert "No guarantee: P is not convex" in result.message
    assert "nothing else is certified" in result.message
    assert not result.bound.covered
    assert proof.value <= result.history[0].value
    if method == "dfsdca":
        assert result.step == "safeguarded"


@pytest.mark.parametrize("sampling", ["uniform", "shuffled", "nice:20", "importance"])
@pytest.mark.parametrize("step", ["safeguarded", 1 / 500, "theorem-1"])
def test_no_step_makes_it_diverge(sampling, step):
    X, _, labels, _ = data()
    problem = df.Problem(10 * X, Savage(labels), lam=1e-5)
    largest = df.samplings.by_name(sampling).bind(problem).p.min()
    result = df.solve(problem, sampling=sampling, step=largest if step == 1 / 500 else step, max_epochs=60)
    values = result.history.value
    assert np.isfinite(values).all()
    assert values.max() <= values[0] * (1 + 1e-12)
    assert result.certificate.value == values.min()


def test_a_bad_epoch_is_taken_back_and_the_step_halved():
    X, _, labels, _ = data()
    problem = df.Problem(10 * X, Sigmoid(labels), lam=1e-4)
    bound = df.samplings.Uniform().bind(problem)
    method = DfSDCA(problem, bound, step_rule("safeguarded", bound))
    state = method.start(np.zeros(problem.n))
    scale = method.rule.scale.copy()
    state.w += 1e3
    method.end_epoch(state)
    assert not state.w.any()
    np.testing.assert_array_equal(method.rule.scale, 0.5 * scale)
    method.end_epoch(state)
    np.testing.assert_array_equal(method.rule.scale, 0.75 * scale)
    method.end_epoch(state)
    np.testing.assert_allclose(method.rule.scale, scale, rtol=1e-15)
    state.w[0] = np.nan
    method.end_epoch(state)
    assert np.isfinite(state.w).all()


def test_with_enough_penalty_p_is_convex_and_the_certificate_whole():
    X, _, labels, numbers = data()
    for loss in losses(labels, numbers):
        problem = df.Problem(X, loss, lam=2.0)
        result = df.solve(problem)
        assert problem.convexity.known is True
        assert result.certificate.guaranteed
        assert np.isfinite(result.certificate.gap)


def test_outliers_do_not_move_it():
    X, planted, _, numbers = data(n=2000)
    # From the least squares of the clipped residuals, as is usual: a bounded loss needs a good place to begin.
    start = df.solve(df.Problem(X, Huber(numbers, 1.0), lam=1e-4), method="newton")
    tukey = df.solve(df.Problem(X, Tukey(numbers, c=2.0), lam=1e-4), warm_start=start.alpha, max_epochs=500)
    squared = df.solve(df.Problem(X, Squared(numbers), lam=1e-4), method="newton")
    assert np.linalg.norm(tukey.w - planted) < 0.1 * np.linalg.norm(squared.w - planted)
    assert np.linalg.norm(tukey.w - planted) < 0.05 * np.linalg.norm(planted)


@pytest.mark.parametrize("step", ["implicit", "theorem-2", "per-example"])
def test_steps_for_convex_losses_are_refused(step):
    X, _, labels, _ = data()
    with pytest.raises(ValueError, match="needs every φ_i to be convex, but Sigmoid is not convex"):
        df.solve(df.Problem(X, Sigmoid(labels), lam=0.1), step=step)


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="c is -1; it must be a finite number above 0"):
        Tukey([0.0], c=-1)
    with pytest.raises(ValueError, match="Savage needs exactly two"):
        Savage([1, 2, 3])
