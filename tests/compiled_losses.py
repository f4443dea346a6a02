"""Losses of a user's own, in Python and compiled by numba: log-cosh, pseudo-Huber, and a twin of the logistic loss."""

import ctypes
import math

import numpy as np
from numba import carray, cfunc, types
from scipy import LowLevelCallable

from dualfree.losses import Loss

DELTA = 0.7


class LogCosh(Loss):
    def value(self, z, y):
        return np.logaddexp(z - y, y - z) - np.log(2)

    def derivative(self, z, y):
        return np.tanh(z - y)

    def smoothness(self, y):
        return np.ones_like(y)


class LogCoshWithConjugate(LogCosh):
    def conjugate(self, a, y):
        """f*(u) = u y + ((1+u) log(1+u) + (1−u) log(1−u))/2 at u = −a."""
        inside = np.abs(a) <= 1
        u = np.where(inside, -a, 0.0)
        entropy = 0.5 * (_x_log_x(1 + u) + _x_log_x(1 - u))
        return np.where(inside, u * y + entropy, np.inf)


def _x_log_x(x):
    return x * np.log(np.where(x > 0, x, 1.0))


class PseudoHuber(Loss):
    def value(self, z, y):
        return DELTA**2 * (np.sqrt(1 + ((z - y) / DELTA) ** 2) - 1)

    def derivative(self, z, y):
        return (z - y) / np.sqrt(1 + ((z - y) / DELTA) ** 2)

    def smoothness(self, y):
        return np.ones_like(y)


@cfunc("double(double, double)")
def log_cosh(z, y):
    r = abs(z - y)
    return r + math.log1p(math.exp(-2 * r)) - math.log(2.0)


@cfunc("double(double, double)")
def log_cosh_slope(z, y):
    return math.tanh(z - y)


@cfunc(types.double(types.double, types.double, types.voidptr))
def pseudo_huber(z, y, data):
    delta = carray(data, 1, dtype=types.double)[0]
    return delta * delta * (math.sqrt(1 + ((z - y) / delta) ** 2) - 1)


@cfunc(types.double(types.double, types.double, types.voidptr))
def pseudo_huber_slope(z, y, data):
    delta = carray(data, 1, dtype=types.double)[0]
    return (z - y) / math.sqrt(1 + ((z - y) / delta) ** 2)


_delta = ctypes.c_double(DELTA)
_user_data = ctypes.cast(ctypes.pointer(_delta), ctypes.c_void_p)


class CompiledLogCosh(LogCosh):
    compiled = (LowLevelCallable(log_cosh.ctypes), LowLevelCallable(log_cosh_slope.ctypes))


class CompiledLogCoshWithConjugate(LogCoshWithConjugate):
    compiled = CompiledLogCosh.compiled


class CompiledPseudoHuber(PseudoHuber):
    compiled = (
        LowLevelCallable(pseudo_huber.ctypes, _user_data),
        LowLevelCallable(pseudo_huber_slope.ctypes, _user_data),
    )
