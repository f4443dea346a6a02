"""A look at a user's loss before any work starts: its functions must agree with each other."""

from typing import Any

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices, vector
from dualfree.losses.base import Loss

_AROUND = np.concatenate([-np.geomspace(1e-2, 1e2, 15)[::-1], [0.0], np.geomspace(1e-2, 1e2, 15)])
_EXAMPLES = 20


def check_loss(loss: Loss) -> None:
    """Raise one sentence if the functions of `loss` contradict each other at a few test points.

    `derivative` must be the rate of change of `value`, `smoothness` must bound the rate of change of `derivative`, a
    loss that calls itself convex must have an increasing derivative, `conjugate` must be the conjugate of `value`, and
    `compiled` must compute the same as `value` and `derivative`. Points: values of z around zero and
    around the target, for up to 20 of the targets.
    """
    smoothness = vector("smoothness(y)", loss.smoothness(loss.y), len(loss.y))
    if (smoothness < 0).any():
        raise ValueError(f"smoothness(y) gives {smoothness.min():g}; a bound on |f''| cannot be negative.")
    chosen: Indices = np.unique(np.linspace(0, len(loss.y) - 1, _EXAMPLES).astype(np.int64))
    for i in chosen:
        target = loss.y[i]
        z = np.unique(np.concatenate([_AROUND, target + _AROUND * max(1.0, 1e-3 * abs(target))]))
        y = np.full(len(z), target)
        value = _shaped("value", loss.value(z, y), len(z))
        derivative = _shaped("derivative", loss.derivative(z, y), len(z))
        _check_derivative(loss, z, y, derivative, smoothness[i])
        _check_slopes(loss, z, derivative, target, smoothness[i])
        if loss.has_conjugate:
            _check_conjugate(loss, z, y, value, derivative)
        if loss.compiled is not None:
            _check_compiled(loss, z, y, value, derivative)


def _check_derivative(loss: Loss, z: Floats, y: Floats, derivative: Floats, smoothness: float) -> None:
    width = 1e-5 * np.maximum(1.0, np.abs(z))
    above = _shaped("value", loss.value(z + width, y), len(z))
    below = _shaped("value", loss.value(z - width, y), len(z))
    difference = (above - below) / (2 * width)
    # Rounding of the values, and the change of the derivative across the width, both show in the difference.
    slack = 1e-10 * (np.abs(above) + np.abs(below) + 1) / width + width * smoothness + 1e-7
    worst = int(np.argmax(np.abs(difference - derivative) - slack))
    if abs(difference[worst] - derivative[worst]) > slack[worst]:
        raise ValueError(
            f"{type(loss).__name__}.derivative is {derivative[worst]:g} at z = {z[worst]:g}, y = {y[worst]:g}, "
            f"but its value rises at a rate of {difference[worst]:g} there; the two must agree."
        )


def _check_slopes(loss: Loss, z: Floats, derivative: Floats, target: float, limit: float) -> None:
    slopes = np.diff(derivative) / np.diff(z)
    # Where two points nearly coincide, a slope is mostly rounding.
    rounding = 1e-15 * (np.abs(derivative[1:]) + np.abs(derivative[:-1]) + np.abs(z[1:]) * limit) / np.diff(z)
    excess = np.abs(slopes) - rounding
    if excess.max() > limit * (1 + 1e-6) + 1e-9:
        raise ValueError(
            f"{type(loss).__name__}.smoothness gives {limit:g} for y = {target:g}, but its derivative changes "
            f"at a rate of {excess.max():g}; smoothness must bound that rate everywhere."
        )
    if loss.convex and (slopes + rounding).min() < -1e-9 * max(1.0, limit):
        raise ValueError(
            f"{type(loss).__name__} calls itself convex, but its derivative decreases near "
            f"z = {z[slopes.argmin()]:g} for y = {target:g}; set convex = False on the class."
        )


def _check_conjugate(loss: Loss, z: Floats, y: Floats, value: Floats, derivative: Floats) -> None:
    """``f*(f'(z)) = z f'(z) − f(z)``: too small a conjugate would certify what is not true."""
    conjugate: Any = loss.conjugate  # type: ignore[attr-defined]
    found = np.asarray(conjugate(-derivative, y), dtype=np.float64)
    expected = z * derivative - value
    # Infinity is allowed: rounding may put a derivative on the edge of the domain, and the bound stays valid.
    slack = 1e-6 * (1 + np.abs(z * derivative) + np.abs(value))
    wrong = np.isnan(found) | (np.isfinite(found) & (np.abs(found - expected) > slack))
    if found.shape != z.shape or wrong.any():
        at = int(np.argmax(wrong)) if found.shape == z.shape else 0
        raise ValueError(
            f"{type(loss).__name__}.conjugate(a, y) must be f*(−a), for y = {y[at]:g} and a = {-derivative[at]:g} "
            f"equal to {expected[at]:g}, but it returned {found.flat[at] if found.size else found!r}."
        )


def _check_compiled(loss: Loss, z: Floats, y: Floats, value: Floats, derivative: Floats) -> None:
    native = loss.native
    assert native is not None
    functions = (("value", kernels.loss_value, value), ("derivative", kernels.loss_derivative, derivative))
    for name, kernel, expected in functions:
        found = np.empty_like(z)
        kernel((native[0], y, None, native[3]), z, found)
        wrong = ~(np.abs(found - expected) <= 1e-6 * (1 + np.abs(expected)))
        if wrong.any():
            at = int(np.argmax(wrong))
            raise ValueError(
                f"the compiled {name} of {type(loss).__name__} gives {found[at]:g} at z = {z[at]:g}, y = {y[at]:g}, "
                f"but {name}(z, y) gives {expected[at]:g}; the two must agree."
            )


def _shaped(name: str, values: Any, length: int) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name}(z, y) must return an array of numbers, but it returned {values!r:.60}.") from None
    if array.shape != (length,) or not np.isfinite(array).all():
        raise ValueError(
            f"{name}(z, y) must return one finite number for each of its {length} arguments, "
            f"but it returned shape {array.shape}{'' if np.isfinite(array).all() else ' with NaN or infinity'}."
        )
    return array
