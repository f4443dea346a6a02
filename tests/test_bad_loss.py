"""Losses of a user's own that contradict themselves: found before any work starts."""

import ctypes

import numpy as np
import pytest
from numba import cfunc
from scipy import LowLevelCallable

import dualfree as df
from compiled_losses import (
    CompiledLogCosh,
    CompiledPseudoHuber,
    LogCosh,
    LogCoshWithConjugate,
    log_cosh,
    log_cosh_slope,
    pseudo_huber,
    pseudo_huber_slope,
)

X = np.eye(4)
Y = np.array([5.0, -1.0, 0.3, 40.0])


class WrongSign(LogCosh):
    def derivative(self, z, y):
        return np.tanh(y - z)


class WrongScale(LogCosh):
    def derivative(self, z, y):
        return 1.01 * np.tanh(z - y)


class TooSmooth(LogCosh):
    def smoothness(self, y):
        return np.full(len(y), 0.6)


class NegativeSmoothness(LogCosh):
    def smoothness(self, y):
        return -np.ones(len(y))


class ScalarSmoothness(LogCosh):
    def smoothness(self, y):
        return 1.0


class ShortSmoothness(LogCosh):
    def smoothness(self, y):
        return np.ones(3)


class Welsch(df.losses.Loss):
    """1 − exp(−(z−y)²/2): smooth, not convex; it calls itself convex because it does not say otherwise."""

    def value(self, z, y):
        return 1 - np.exp(-((z - y) ** 2) / 2)

    def derivative(self, z, y):
        return (z - y) * np.exp(-((z - y) ** 2) / 2)

    def smoothness(self, y):
        return np.ones_like(y)


class HonestWelsch(Welsch):
    convex = False


class ScalarValue(LogCosh):
    def value(self, z, y):
        return 1.0


class ShortDerivative(LogCosh):
    def derivative(self, z, y):
        return np.tanh(z - y)[:-1]


class TextValue(LogCosh):
    def value(self, z, y):
        return ["a"] * len(z)


class NotFinite(LogCosh):
    def value(self, z, y):
        return np.where(z > 50, np.inf, super().value(z, y))


class TooSmallConjugate(LogCoshWithConjugate):
    def conjugate(self, a, y):
        return super().conjugate(a, y) - 0.1


class ScalarConjugate(LogCosh):
    def conjugate(self, a, y):
        return 0.0


class Unfinished(df.losses.Loss):
    """Defines nothing."""


class TwinsDiffer(LogCosh):
    compiled = (LowLevelCallable(log_cosh.ctypes), LowLevelCallable(log_cosh.ctypes))


class NoPair(LogCosh):
    compiled = (LowLevelCallable(log_cosh.ctypes),)


class PlainFunctions(LogCosh):
    compiled = (abs, abs)


class NoUserData(LogCosh):
    compiled = (LowLevelCallable(pseudo_huber.ctypes), LowLevelCallable(pseudo_huber_slope.ctypes))


@cfunc("double(double)")
def of_one_argument(z):
    return z


class WrongSignature(LogCosh):
    compiled = (LowLevelCallable(log_cosh.ctypes), LowLevelCallable(of_one_argument.ctypes))


@pytest.mark.parametrize(
    ("loss", "error", "sentence"),
    [
        (WrongSign, ValueError, r"WrongSign\.derivative is .* at z = .*, y = .*, but its value rises at a rate of"),
        (WrongScale, ValueError, r"WrongScale\.derivative is .*; the two must agree"),
        (TooSmooth, ValueError, r"TooSmooth\.smoothness gives 0\.6 for y = 5, but its derivative changes at a rate of"),
        (NegativeSmoothness, ValueError, r"smoothness\(y\) gives -1; a bound on \|f''\| cannot be negative"),
        (ScalarSmoothness, TypeError, r"smoothness\(y\) is 1\.0; it must be a vector"),
        (ShortSmoothness, ValueError, r"smoothness\(y\) has 3 entries; it must have 4"),
        (Welsch, ValueError, r"Welsch calls itself convex, but its derivative decreases near .*; set convex = False"),
        (ScalarValue, ValueError, r"value\(z, y\) must return one finite number for each .* returned shape \(\)"),
        (ShortDerivative, ValueError, r"derivative\(z, y\) must return one finite number for each"),
        (TextValue, TypeError, r"value\(z, y\) must return an array of numbers, but it returned \['a'"),
        (NotFinite, ValueError, r"value\(z, y\) must return one finite number .* with NaN or infinity"),
        (TooSmallConjugate, ValueError, r"TooSmallConjugate\.conjugate\(a, y\) must be f\*\(−a\), for y = 5 and a = "),
        (ScalarConjugate, ValueError, r"ScalarConjugate\.conjugate\(a, y\) must be f\*"),
        (Unfinished, TypeError, r"Unfinished does not define smoothness\(y\)"),
        (TwinsDiffer, ValueError, r"the compiled derivative of TwinsDiffer gives .*; the two must agree"),
        (NoPair, TypeError, r"compiled is \(.*; it must be a pair \(value, derivative\)"),
        (PlainFunctions, TypeError, r"compiled value is a builtin_function_or_method; it must be a scipy\.LowLevelC"),
        (WrongSignature, TypeError, r"compiled derivative has the signature 'double \(double\)'; it must be one of"),
        (NoUserData, ValueError, r"compiled value takes a void \*, but no user_data was given"),
    ],
)
def test_a_loss_that_lies_is_found_out(loss, error, sentence):
    with pytest.raises(error, match=sentence):
        df.Problem(X, loss(Y), lam=0.1)


@pytest.mark.parametrize("loss", [LogCosh, LogCoshWithConjugate, CompiledLogCosh, CompiledPseudoHuber, HonestWelsch])
def test_honest_losses_pass(loss):
    assert df.Problem(X, loss(Y), lam=0.1).loss.convex is loss.convex


def test_a_loss_that_is_not_convex_is_solved_by_theorem_1():
    strong = df.Problem(X, HonestWelsch(Y), lam=2.0)
    assert df.solve(strong, max_epochs=2000).step == "theorem-1"
    with pytest.raises(ValueError, match=r"step='implicit' needs every φ_i to be convex, but HonestWelsch is not"):
        df.solve(strong, step="implicit")


def test_a_python_callback_through_ctypes_is_slow_but_safe():
    """Such a function takes the interpreter's lock by itself, which the kernels have released."""
    signature = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)
    value = signature(lambda z, y: float(np.logaddexp(z - y, y - z) - np.log(2)))
    slope = signature(lambda z, y: float(np.tanh(z - y)))

    class ThroughCtypes(LogCosh):
        compiled = (LowLevelCallable(value), LowLevelCallable(slope))

    expected = df.solve(df.Problem(X, CompiledLogCosh(Y), lam=0.1)).w
    np.testing.assert_allclose(df.solve(df.Problem(X, ThroughCtypes(Y), lam=0.1)).w, expected, rtol=1e-9)


def test_compiled_functions_may_be_called_by_hand():
    assert log_cosh.ctypes(1.0, 0.0) == pytest.approx(np.log(np.cosh(1.0)))
    assert log_cosh_slope.ctypes(1.0, 0.0) == pytest.approx(np.tanh(1.0))


def test_a_width_whose_inverse_overflows():
    with pytest.raises(ValueError, match=r"gamma is 9\.99989e-321, so small that the curvature 1/gamma overflows"):
        df.losses.SmoothedHinge([-1, 1], gamma=1e-320)
