"""A look at a user's loss before any work starts: its three functions must agree with each other."""

import numpy as np

from dualfree.arrays import Floats, Indices
from dualfree.losses.base import Loss

_POINTS = np.concatenate([-np.geomspace(1e-2, 1e2, 15)[::-1], [0.0], np.geomspace(1e-2, 1e2, 15)])
_EXAMPLES = 20


def check_loss(loss: Loss) -> None:
    """Raise one sentence if `derivative`, `smoothness` or `convex` contradicts `value` at a few test points.

    Compares a central difference of `value` with `derivative`, slopes of `derivative` with `smoothness`, and
    requires slopes of at least zero of a loss that calls itself convex. Points: 31 values of z around
    zero, for up to 20 of the targets.
    """
    chosen: Indices = np.unique(np.linspace(0, len(loss.y) - 1, _EXAMPLES).astype(np.int64))
    for i in chosen:
        y = np.full(len(_POINTS), loss.y[i])
        derivative = _shaped("derivative", loss.derivative(_POINTS, y))
        _check_derivative(loss, y, derivative)
        slopes = np.diff(derivative) / np.diff(_POINTS)
        limit = float(np.asarray(loss.smoothness(y))[0])
        if np.abs(slopes).max() > limit * (1 + 1e-6) + 1e-9:
            raise ValueError(
                f"{type(loss).__name__}.smoothness gives {limit:g} for y = {loss.y[i]:g}, but its derivative changes "
                f"at a rate of {np.abs(slopes).max():g}; smoothness must bound that rate everywhere."
            )
        if loss.convex and slopes.min() < -1e-9 * max(1.0, limit):
            raise ValueError(
                f"{type(loss).__name__} calls itself convex, but its derivative decreases near "
                f"z = {_POINTS[slopes.argmin()]:g} for y = {loss.y[i]:g}; set convex = False on the class."
            )


def _check_derivative(loss: Loss, y: Floats, derivative: Floats) -> None:
    width = 1e-5 * np.maximum(1.0, np.abs(_POINTS))
    above = _shaped("value", loss.value(_POINTS + width, y))
    below = _shaped("value", loss.value(_POINTS - width, y))
    difference = (above - below) / (2 * width)
    # Rounding of the values, and the change of the derivative across the width, both show in the difference.
    slack = 1e-10 * (np.abs(above) + np.abs(below) + 1) / width + width * np.asarray(loss.smoothness(y)) + 1e-7
    worst = int(np.argmax(np.abs(difference - derivative) - slack))
    if abs(difference[worst] - derivative[worst]) > slack[worst]:
        raise ValueError(
            f"{type(loss).__name__}.derivative is {derivative[worst]:g} at z = {_POINTS[worst]:g}, y = {y[worst]:g}, "
            f"but its value rises at a rate of {difference[worst]:g} there; the two must agree."
        )


def _shaped(name: str, values: Floats) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != _POINTS.shape or not np.isfinite(array).all():
        raise ValueError(
            f"{name}(z, y) must return one finite number for each of its {len(_POINTS)} arguments, "
            f"but it returned shape {array.shape}{'' if np.isfinite(array).all() else ' with NaN or infinity'}."
        )
    return array
