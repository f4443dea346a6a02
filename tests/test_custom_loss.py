"""A user's own loss, end to end: in Python, compiled, with and without a conjugate, with user data."""

import numpy as np
import pytest
from scipy import optimize, sparse

import dualfree as df
from compiled_losses import (
    CompiledLogCosh,
    CompiledLogCoshWithConjugate,
    CompiledPseudoHuber,
    LogCosh,
    LogCoshWithConjugate,
    PseudoHuber,
)
from small_problems import data, invariant_error, targets

ALL = [
    LogCosh,
    LogCoshWithConjugate,
    PseudoHuber,
    CompiledLogCosh,
    CompiledLogCoshWithConjugate,
    CompiledPseudoHuber,
]
WEIGHT = np.linspace(0.0, 2.0, 60)


def make(loss, *, kind="csr", weight=None):
    X = data()
    return df.Problem(sparse.csr_array(X) if kind == "csr" else X, loss(targets(X), weight=weight), lam=1 / 60)


def best_value(problem):
    """The optimum by an independent method."""
    found = optimize.minimize(
        problem.value, np.zeros(problem.d), jac=problem.gradient, method="BFGS", options={"gtol": 1e-9}
    )
    return found.fun


@pytest.mark.parametrize("loss", ALL)
@pytest.mark.parametrize("step", ["implicit", "theorem-2", "per-example"])
@pytest.mark.parametrize("sampling", ["shuffled", "nice:8", "chunks:2"])
def test_reaches_the_optimum(loss, step, sampling):
    problem = make(loss)
    result = df.solve(problem, sampling=sampling, step=step, tol=1e-8, max_epochs=600)
    assert result.status == "converged"
    assert result.certificate.value == pytest.approx(best_value(problem), rel=1e-7)
    assert invariant_error(problem, result) < 1e-10


@pytest.mark.parametrize("loss", ALL)
def test_weights_zeros_among_them(loss):
    problem = make(loss, kind="dense", weight=WEIGHT)
    result = df.solve(problem, sampling="nice:8", tol=1e-8, max_epochs=600)
    assert result.status == "converged"
    assert result.certificate.value == pytest.approx(best_value(problem), rel=1e-7)


@pytest.mark.parametrize("loss", [LogCoshWithConjugate, CompiledLogCoshWithConjugate])
def test_a_conjugate_brings_a_duality_gap(loss):
    problem = make(loss)
    result = df.solve(problem, tol=1e-8)
    assert 0 <= result.certificate.duality_gap < 1e-5
    assert problem.gap(result.w, result.alpha) == pytest.approx(result.certificate.duality_gap, abs=1e-12)


@pytest.mark.parametrize("loss", [LogCosh, CompiledPseudoHuber])
def test_without_a_conjugate_the_gradient_certifies(loss):
    problem = make(loss)
    result = df.solve(problem)
    assert result.certificate.kind == "gradient bound"
    assert result.certificate.duality_gap == np.inf
    with pytest.raises(ValueError, match=rf"dual_value needs the conjugate .* {loss.__name__} does not define"):
        problem.dual_value(np.zeros(60))


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("sampling", ["shuffled", "nice:8"])
@pytest.mark.parametrize("step", ["implicit", "theorem-2"])
@pytest.mark.parametrize(("python", "compiled"), [(LogCosh, CompiledLogCosh), (PseudoHuber, CompiledPseudoHuber)])
def test_compiled_and_python_take_the_same_path(python, compiled, step, sampling, weight):
    options = {"step": step, "sampling": sampling, "tol": 0, "max_epochs": 3}
    slow, fast = (df.solve(make(loss, weight=weight), **options) for loss in (python, compiled))
    np.testing.assert_allclose(fast.w, slow.w, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(fast.alpha, slow.alpha, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(fast.history.value, slow.history.value, rtol=1e-10)
