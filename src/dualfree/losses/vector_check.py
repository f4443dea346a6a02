"""A look at a user's loss of several numbers before any work starts: its functions must agree with each other."""

from typing import cast

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.losses.base import Loss
from dualfree.losses.vectors import VectorLoss

_SCALES = (1e-2, 0.3, 1.0, 10.0)
_WIDTH = 1e-5


def check_vector_loss(loss: Loss) -> None:
    """Raise one sentence if the functions of `loss` contradict each other at a few random points.

    `derivative` must be the rate of change of `value` and change no faster than `smoothness`, a loss that calls itself
    convex must have a derivative that increases along every line, `conjugate` must be the conjugate of `value`, and
    `compiled` must compute the same.
    """
    loss = cast(VectorLoss, loss)
    rng, total = np.random.default_rng(0), int(loss._sizes.sum())
    points = [scale * rng.normal(size=total) for scale in _SCALES]
    for z in points:
        value, gradient = _checked(loss, z)
        step = rng.normal(size=total)
        step /= np.repeat(np.sqrt(_sums(loss, step**2)) + 1e-300, loss._sizes)
        _check_slopes(loss, z, step, value, gradient)
        if loss.has_conjugate:
            _check_conjugate(loss, z, value, gradient)
        if loss.compiled is not None:
            _check_compiled(loss, z, value, gradient)


def _sums(loss: VectorLoss, values: Floats) -> Floats:
    start = np.concatenate([[0], np.cumsum(loss._sizes)])
    return np.asarray(np.add.reduceat(values, start[:-1]))


def _checked(loss: VectorLoss, z: Floats) -> tuple[Floats, Floats]:
    value, gradient = loss.values(z), loss.derivatives(z)
    for name, found, wanted in (("value", value, len(loss._sizes)), ("derivative", gradient, len(z))):
        if found.shape != (wanted,) or not np.isfinite(found).all():
            raise ValueError(
                f"{type(loss).__name__}.{name} must return {wanted} finite numbers for these examples, but it returned "
                f"shape {found.shape}{'' if np.isfinite(found).all() else ' with NaN or infinity'}."
            )
    return value, gradient


def _check_slopes(loss: VectorLoss, z: Floats, step: Floats, value: Floats, gradient: Floats) -> None:
    limit = loss.l
    above, below = loss.values(z + _WIDTH * step), loss.values(z - _WIDTH * step)
    rate, expected = (above - below) / (2 * _WIDTH), _sums(loss, gradient * step)
    slack = 1e-10 * (np.abs(value) + 1) / _WIDTH + 10 * _WIDTH * (1 + limit) + 1e-6 * np.abs(expected)
    worst = int(np.argmax(np.abs(rate - expected) - slack))
    if abs(rate[worst] - expected[worst]) > slack[worst]:
        raise ValueError(
            f"{type(loss).__name__}.derivative says that the value of example {worst} rises at a rate of "
            f"{expected[worst]:g} along some direction, but it rises at {rate[worst]:g}; the two must agree."
        )
    change = loss.derivatives(z + step) - gradient
    length, along = np.sqrt(_sums(loss, change**2)), _sums(loss, change * step)
    worst = int(np.argmax(length - limit))
    if length[worst] > limit[worst] * (1 + 1e-6) + 1e-9:
        raise ValueError(
            f"{type(loss).__name__}.smoothness gives {limit[worst]:g} for example {worst}, but its derivative changes "
            f"at a rate of {length[worst]:g}; smoothness must bound that rate everywhere."
        )
    if loss.all_convex and along.min() < -1e-9 * max(1.0, float(limit.max())):
        raise ValueError(
            f"{type(loss).__name__} calls itself convex, but along some direction its derivative decreases for example "
            f"{int(along.argmin())}; set convex = False on the class."
        )


def _check_conjugate(loss: VectorLoss, z: Floats, value: Floats, gradient: Floats) -> None:
    """``f*(∇f(z)) = zᵀ∇f(z) − f(z)``: too small a conjugate would certify what is not true."""
    found, expected = loss.weighted_conjugate(-gradient), _sums(loss, z * gradient) - value
    wrong = np.isnan(found) | (
        np.isfinite(found) & (np.abs(found - expected) > 1e-6 * (1 + np.abs(expected) + np.abs(value)))
    )
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"{type(loss).__name__}.conjugate must be f*(−a), for example {at} at −a = its derivative equal to "
            f"{expected[at]:g}, but it returned {found[at]:g}."
        )


def _check_compiled(loss: VectorLoss, z: Floats, value: Floats, gradient: Floats) -> None:
    values, gradients = np.empty(len(value)), np.empty(len(z))
    starts = np.concatenate([[0], np.cumsum(loss._sizes)]).astype(np.int64)
    kernels.vector_slopes((starts,), loss.native, z, gradients, values)
    for name, found, expected in (("value", values, value), ("gradient", gradients, gradient)):
        if not (np.abs(found - expected) <= 1e-6 * (1 + np.abs(expected))).all():
            at = int(np.argmax(~(np.abs(found - expected) <= 1e-6 * (1 + np.abs(expected)))))
            raise ValueError(
                f"the compiled {name} of {type(loss).__name__} gives {found[at]:g} where the Python one gives "
                f"{expected[at]:g} (at place {at}); the two must agree."
            )
