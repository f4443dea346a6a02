"""The intercepts of examples with several outputs: the best ones for given products."""

from typing import Any

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.losses.base import Loss
from dualfree.losses.builtin import BuiltIn

_ROUNDS = 60
_SHORTEST = 2.0**-30


def best_intercepts(loss: Loss, z: Floats, start: Any) -> Floats:
    """The b in R^m that minimises ``Σ φ_i(z_i + b)``, by Newton's method with a line search.

    Directions that change nothing (adding one number to all scores of a softmax) are left as they are.

    Examples
    --------
    >>> from dualfree.losses import Squared
    >>> best_intercepts(Squared([[1.0, 2.0], [3.0, 6.0]]), np.zeros(4), 0.0).tolist()
    [2.0, 4.0]
    """
    m = loss.outputs or 1
    if not isinstance(loss, BuiltIn):
        raise ValueError(
            f"intercept=True with several outputs needs the curvature of the loss, which {type(loss).__name__} does "
            "not give; append a column of ones to X instead, which is penalised."
        )
    b = np.broadcast_to(np.asarray(start, dtype=np.float64), (m,)).copy()
    steepest = float(loss.l.sum())
    rounding = 1e-16 * float(np.abs(z).sum())  # of a sum of losses, each the difference of two numbers as large as z
    value, slope, hessian = _sums(loss, z, b)
    for _ in range(_ROUNDS):
        if np.abs(slope).max() <= 1e-15 * steepest:
            break
        move = _newton_move(slope, hessian, steepest)
        length, promised = 1.0, float(slope @ move)
        there = _sums(loss, z, b + move)
        while length > _SHORTEST and not there[0] <= value + 1e-4 * length * promised + 1e-15 * abs(value) + rounding:
            length *= 0.5
            there = _sums(loss, z, b + length * move)
        while length >= 1 and float(there[1] @ move) < 0.5 * promised:  # far out, where slopes hardly change
            further = _sums(loss, z, b + 2 * length * move)
            if not further[0] < there[0]:
                break
            length, there = 2 * length, further
        # Where the values differ by rounding alone, the slope decides.
        if not (there[0] < value or np.abs(there[1]).max() < np.abs(slope).max()):
            break
        b += length * move
        value, slope, hessian = there
    return b


def _newton_move(slope: Floats, hessian: Floats, steepest: float) -> Floats:
    """``−H⁻¹ g``; where the losses are flat, curvature says nothing and the largest possible one serves."""
    curvature, directions = np.linalg.eigh(hessian)
    usable = np.where(curvature > 1e-12 * steepest, curvature, max(steepest, 1e-300))
    return np.asarray(-directions @ ((directions.T @ slope) / usable))


def _sums(loss: BuiltIn, z: Floats, b: Floats) -> tuple[float, Floats, Floats]:
    slope, hessian = np.zeros(len(b)), np.zeros(len(b) ** 2)
    value = kernels.vector_slope_sums(loss.places, loss.native, z, b, slope, hessian)
    return float(value), slope, hessian.reshape(len(b), len(b))
