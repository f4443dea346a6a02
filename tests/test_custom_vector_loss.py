"""A user's own loss on R^m: in Python and compiled, for rows of several outputs and for blocks, and its refusals."""

import ctypes

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

import dualfree as df
from dualfree.losses.vectors import compiled_vector
from helpers.vectors import vector_twins


class MySoftmax(df.losses.MultiOutputLoss):
    def value(self, z, y):
        return logsumexp(z, axis=1) - z[np.arange(len(z)), y.astype(int)]

    def derivative(self, z, y):
        return softmax(z, axis=1) - np.eye(z.shape[1])[y.astype(int)]

    def smoothness(self, y):
        return np.full(len(y), 0.5)


class MyChoice(df.losses.BlockLoss):
    def _sum(self, z, start):
        return np.log(np.add.reduceat(np.exp(z), start[:-1]))

    def value(self, z, y, start):
        return self._sum(z, start) - z[start[:-1] + y.astype(int)]

    def derivative(self, z, y, start):
        out = np.exp(z - np.repeat(self._sum(z, start), np.diff(start)))
        out[start[:-1] + y.astype(int)] -= 1
        return out

    def smoothness(self, y, start):
        return np.full(len(start) - 1, 0.5)


@pytest.fixture(scope="module")
def compiled():
    numba = pytest.importorskip("numba")
    pointer = numba.types.CPointer(numba.float64)

    @numba.cfunc(numba.float64(pointer, pointer, pointer, numba.int64))
    def function(z, y, gradient, m):
        top, total, chosen = z[0], 0.0, int(y[0])
        for k in range(m):
            top = max(top, z[k])
        for k in range(m):
            gradient[k] = np.exp(z[k] - top)
            total += gradient[k]
        for k in range(m):
            gradient[k] /= total
        gradient[chosen] -= 1
        return top + np.log(total) - z[chosen]

    return function


def twin_of(name, weighted, function=None):
    """The built-in problem and the same with a loss of one's own."""
    fast, _ = vector_twins(name, n=12, weighted=weighted)
    base = MySoftmax if name == "softmax" else MyChoice
    kind = base if function is None else type("Twin", (base,), {"compiled": compiled_vector(function)})
    if name == "softmax":
        own = kind(fast.loss.y, outputs=3, weight=fast.loss.weight)
        return fast, df.Problem(fast.examples.X, own, fast.lam)
    return fast, df.Problem(fast.examples, kind(fast.loss.y, weight=fast.loss.weight), fast.lam)


@pytest.mark.parametrize("step", ["theorem-2", "implicit", "per-example"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", ["softmax", "conditional-logit"])
def test_a_python_twin_takes_the_same_steps(name, weighted, step):
    fast, own = twin_of(name, weighted)
    options = {"sampling": "nice:4", "step": step, "tol": 0, "max_epochs": 4}
    ours, theirs = df.solve(own, **options), df.solve(fast, **options)
    np.testing.assert_allclose(ours.history.value, theirs.history.value, rtol=1e-9)
    assert ours.certificate.kind == "gradient bound"
    np.testing.assert_allclose(own.gradient(theirs.w), fast.gradient(theirs.w), atol=1e-13)


@pytest.mark.parametrize("step", ["theorem-2", "implicit"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", ["softmax", "conditional-logit"])
def test_a_compiled_twin_takes_the_same_steps(compiled, name, weighted, step):
    fast, own = twin_of(name, weighted, compiled)
    assert own.loss.native[0] == "compiled"
    options = {"sampling": "nice:4", "step": step, "tol": 0, "max_epochs": 4}
    ours, theirs = df.solve(own, **options), df.solve(fast, **options)
    np.testing.assert_allclose(ours.history.value, theirs.history.value, rtol=1e-9)


def changed(name, **methods):
    return type(name, (MySoftmax,), methods)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (changed("Steep", derivative=lambda self, z, y: 2 * MySoftmax.derivative(self, z, y)), "rises at"),
        (changed("Rough", smoothness=lambda self, y: np.full(len(y), 1e-3)), "smoothness gives 0.001"),
        (changed("Short", value=lambda self, z, y: np.zeros(2)), "value must return 12 finite numbers"),
        (
            changed(
                "Cap",
                value=lambda self, z, y: -MySoftmax.value(self, z, y),
                derivative=lambda self, z, y: -MySoftmax.derivative(self, z, y),
            ),
            "calls itself convex",
        ),
        (changed("Cheat", conjugate=lambda self, a, y: np.full(len(a), -9.0)), r"conjugate must be f\*"),
    ],
)
def test_functions_that_contradict_each_other_are_refused(kind, message):
    with pytest.raises(ValueError, match=message):
        df.Problem(np.ones((12, 2)), kind(np.arange(12) % 3, outputs=3), lam=1.0)


def test_compiled_of_another_signature_is_refused():
    from scipy import LowLevelCallable

    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda z: z)
    with pytest.raises(TypeError, match="compiled has the signature"):
        df.Problem(
            np.ones((12, 2)),
            type("Wrong", (MySoftmax,), {"compiled": LowLevelCallable(function)})(np.arange(12) % 3, outputs=3),
            lam=1.0,
        )


def test_outputs_must_be_known():
    with pytest.raises(ValueError, match="outputs is needed where y is a vector"):
        MySoftmax(np.zeros(3))
