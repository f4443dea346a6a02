"""A user's loss, in Python and compiled, against the built-in loss that it copies."""

import ctypes

import numpy as np
import pytest
from scipy import LowLevelCallable

import dualfree as df
from dualfree import reference
from dualfree._native import kernels
from helpers.problems import LOSSES, random_twins

STEPS = ("theorem-1", "theorem-2", "per-example", "implicit", 0.004)
SAMPLINGS = ("importance", "nice:4", "independent:0.2")


def python_twin(name):
    """The reference's formulas as a custom loss."""
    formulas = LOSSES[name][2]

    class Twin(df.losses.Loss):
        def value(self, z, y):
            return formulas.value(z, y)

        def derivative(self, z, y):
            return formulas.derivative(z, y)

        def smoothness(self, y):
            return np.full(len(y), formulas.smoothness)

        def conjugate(self, a, y):
            return formulas.conjugate(a, y)

    return Twin


def assert_same_run(problem, twin, step, sampling):
    custom = df.Problem(problem.examples.X, twin(problem.loss.y, problem.loss.weight), problem.lam)
    options = {"step": step, "sampling": sampling, "tol": 0, "max_epochs": 4, "seed": 1}
    expected, found = df.solve(problem, **options), df.solve(custom, **options)
    np.testing.assert_allclose(found.w, expected.w, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.alpha, expected.alpha, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.history.value, expected.history.value, rtol=1e-10)
    return expected, found


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_loss_in_python_equals_its_built_in_twin(name, step, sampling, weighted):
    problem, _ = random_twins(name, seed=3, n=20, weighted=weighted)
    expected, found = assert_same_run(problem, python_twin(name), step, sampling)
    np.testing.assert_allclose(found.history.gap, expected.history.gap, rtol=1e-8, atol=1e-12)


def compiled_by_numba():
    """Logistic loss as two compiled functions of (z, y)."""
    numba = pytest.importorskip("numba")

    @numba.cfunc("float64(float64, float64)")
    def value(z, y):
        t = y * z
        return max(-t, 0.0) + np.log1p(np.exp(-abs(t)))

    @numba.cfunc("float64(float64, float64)")
    def derivative(z, y):
        t = y * z
        return -y / (1 + np.exp(t)) if t < 0 else -y * np.exp(-t) / (1 + np.exp(-t))

    return value, derivative


@pytest.fixture(scope="module")
def numba_twin():
    functions = compiled_by_numba()

    class Twin(python_twin("logistic")):
        compiled = tuple(LowLevelCallable(function.ctypes) for function in functions)

    return Twin


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("step", STEPS)
def test_compiled_loss_equals_its_built_in_twin(numba_twin, step, sampling, weighted):
    problem, _ = random_twins("logistic", seed=3, n=20, weighted=weighted)
    assert numba_twin(problem.loss.y).native[0] == "compiled"
    assert_same_run(problem, numba_twin, step, sampling)


def huber_with_user_data():
    """Huber's loss through ctypes, its δ in user data, as SciPy's LowLevelCallable allows."""
    prototype = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double, ctypes.c_void_p)
    delta = ctypes.c_double(0.9)

    def delta_at(address):
        return ctypes.cast(address, ctypes.POINTER(ctypes.c_double)).contents.value

    @prototype
    def value(z, y, data):
        return float(reference.huber(delta_at(data)).value(np.float64(z), np.float64(y)))

    @prototype
    def derivative(z, y, data):
        return float(reference.huber(delta_at(data)).derivative(np.float64(z), np.float64(y)))

    pointer = ctypes.cast(ctypes.pointer(delta), ctypes.c_void_p)
    return tuple(LowLevelCallable(function, pointer) for function in (value, derivative)), (value, derivative, delta)


@pytest.mark.parametrize("step", STEPS)
def test_compiled_loss_with_user_data_equals_its_built_in_twin(step):
    functions, keep_alive = huber_with_user_data()

    class Twin(python_twin("huber")):
        compiled = functions

    problem, _ = random_twins("huber", seed=3, n=20)
    assert_same_run(problem, Twin, step, "nice:4")
    assert keep_alive


@pytest.mark.parametrize("c", [1e-3, 1.0, 1e3, 1e6])
def test_compiled_implicit_step_at_any_scale(numba_twin, c):
    rng = np.random.default_rng(0)
    slow = reference.ReferenceProblem(np.ones((1, 1)), np.ones(1), np.ones(1), reference.logistic(), lam=1.0)
    loss = numba_twin(np.ones(1))
    for _ in range(50):
        z, alpha = 10 ** rng.uniform(-1, 2) * rng.normal(), np.array([rng.uniform()])
        root = reference.implicit_step(slow, 0, z, alpha[0], c)
        rows = (np.ones((1, 1)), 0.0, 0.0)
        kernels.dfsdca(rows, loss.native, 0.0, np.array([c]), 0.0, np.array([0]), None, alpha, np.array([z]))
        assert alpha[0] == pytest.approx(root, rel=1e-10, abs=1e-12)


def test_something_that_is_not_a_low_level_callable_is_refused():
    class Wrong(python_twin("squared")):
        compiled = (abs, abs)

    with pytest.raises(TypeError, match="compiled value is a builtin_function_or_method; it must be a scipy"):
        df.solve(df.Problem(np.eye(2), Wrong(np.ones(2)), lam=1.0))
