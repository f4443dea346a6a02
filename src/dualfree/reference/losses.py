"""The losses f(z, y) as NumPy functions, each with its derivative, conjugate and smoothness.

An example's loss is ``φ_i(z) = weight_i · f(z, y_i)``. The labels of the classification losses are −1 and +1; they
depend on z through the margin ``t = y z`` alone, and their conjugates on a through ``s = y a``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, xlogy

from dualfree.arrays import Floats

Function = Callable[[Floats, Floats], Floats]


def _unknown(a: Floats, y: Floats) -> Floats:
    return np.full(np.shape(a), np.nan)


@dataclass(frozen=True)
class ReferenceLoss:
    """One loss, element by element.

    Attributes
    ----------
    value, derivative : functions of (z, y)
        f and ``∂f/∂z``.
    conjugate : function of (a, y)
        ``f*(−a) = sup_z (−a z − f(z, y))``, infinite outside its domain.
    smoothness : float
        The least l with ``|f'(z) − f'(x)| ≤ l |z − x|``.
    conjugate_slope : function of (a, y)
        The derivative of ``f*(−a)`` in a; −∞ and ∞ below and above its domain. NaN where there is no conjugate.
    higher : function of (z, y), or None
        The second to the fourth derivative in z, for losses whose implicit step has no formula.

    Examples
    --------
    >>> loss = squared()
    >>> z, y = np.array([3.0]), np.array([1.0])
    >>> a = -loss.derivative(z, y)
    >>> (loss.value(z, y) + loss.conjugate(a, y) + a * z).tolist()  # Fenchel and Young, with equality
    [0.0]
    """

    value: Function
    derivative: Function
    conjugate: Function
    smoothness: float
    conjugate_slope: Function = _unknown
    higher: Callable[[Floats, Floats], tuple[Floats, Floats, Floats]] | None = None


def _between(low: Floats, a: Floats, high: Floats, slope: Floats) -> Floats:
    return np.where(a < low, -np.inf, np.where(a > high, np.inf, slope))


def logistic() -> ReferenceLoss:
    """``log(1 + exp(−t))``; ``f*(−a) = s log s + (1 − s) log(1 − s)`` for s in [0, 1].

    Examples
    --------
    >>> float(logistic().derivative(np.array(0.0), np.array(1.0)))
    -0.5
    """

    def conjugate(a: Floats, y: Floats) -> Floats:
        s = y * a
        inside = np.clip(s, 0, 1)
        return np.where((s >= 0) & (s <= 1), xlogy(inside, inside) + xlogy(1 - inside, 1 - inside), np.inf)

    def higher(z: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
        second = expit(z) * expit(-z)
        return second, -second * np.tanh(z / 2), second * (1 - 6 * second)

    return ReferenceLoss(
        value=lambda z, y: np.logaddexp(0, -y * z),
        derivative=lambda z, y: -y * expit(-y * z),
        conjugate=conjugate,
        smoothness=0.25,
        conjugate_slope=lambda a, y: _between(np.minimum(y, 0), a, np.maximum(y, 0), y * logit(np.clip(y * a, 0, 1))),
        higher=higher,
    )


def squared() -> ReferenceLoss:
    """``(z − y)²/2``; ``f*(−a) = a²/2 − a y``.

    Examples
    --------
    >>> float(squared().value(np.array(3.0), np.array(1.0)))
    2.0
    """
    return ReferenceLoss(
        value=lambda z, y: (z - y) ** 2 / 2,
        derivative=lambda z, y: z - y,
        conjugate=lambda a, y: a**2 / 2 - a * y,
        smoothness=1.0,
        conjugate_slope=lambda a, y: a - y,
    )


def squared_hinge() -> ReferenceLoss:
    """``max(0, 1 − t)²``; ``f*(−a) = s²/4 − s`` for s ≥ 0.

    Examples
    --------
    >>> float(squared_hinge().derivative(np.array(0.0), np.array(-1.0)))
    2.0
    """
    return ReferenceLoss(
        value=lambda z, y: np.maximum(0, 1 - y * z) ** 2,
        derivative=lambda z, y: -2 * y * np.maximum(0, 1 - y * z),
        conjugate=lambda a, y: np.where(y * a >= 0, (y * a) ** 2 / 4 - y * a, np.inf),
        smoothness=2.0,
        conjugate_slope=lambda a, y: np.where(y * a < 0, -y * np.inf, a / 2 - y),
    )


def smoothed_hinge(gamma: float = 1.0) -> ReferenceLoss:
    """0 for t ≥ 1, ``1 − t − γ/2`` for t ≤ 1 − γ, ``(1 − t)²/(2γ)`` between; ``f*(−a) = γs²/2 − s`` for s in [0, 1].

    Examples
    --------
    >>> smoothed_hinge(0.5).value(np.array([0.0, 0.75, 2.0]), np.array(1.0)).tolist()
    [0.75, 0.0625, 0.0]
    """

    def value(z: Floats, y: Floats) -> Floats:
        t = y * z
        return np.where(t >= 1, 0, np.where(t <= 1 - gamma, 1 - t - gamma / 2, (1 - t) ** 2 / (2 * gamma)))

    def derivative(z: Floats, y: Floats) -> Floats:
        t = y * z
        return y * np.where(t >= 1, 0, np.where(t <= 1 - gamma, -1, -(1 - t) / gamma))

    def conjugate(a: Floats, y: Floats) -> Floats:
        s = y * a
        return np.where((s >= 0) & (s <= 1), gamma * s**2 / 2 - s, np.inf)

    def conjugate_slope(a: Floats, y: Floats) -> Floats:
        return _between(np.minimum(y, 0), a, np.maximum(y, 0), gamma * a - y)

    return ReferenceLoss(value, derivative, conjugate, 1 / gamma, conjugate_slope)


def huber(delta: float = 1.0) -> ReferenceLoss:
    """With r = z − y: ``r²/2`` for |r| ≤ δ, ``δ|r| − δ²/2`` beyond; ``f*(−a) = a²/2 − a y`` for |a| ≤ δ.

    Examples
    --------
    >>> huber(1.0).value(np.array([0.5, 3.0]), np.array(0.0)).tolist()
    [0.125, 2.5]
    """

    def value(z: Floats, y: Floats) -> Floats:
        r = z - y
        return np.where(np.abs(r) <= delta, r**2 / 2, delta * np.abs(r) - delta**2 / 2)

    return ReferenceLoss(
        value=value,
        derivative=lambda z, y: np.where(np.abs(z - y) <= delta, z - y, delta * np.sign(z - y)),
        conjugate=lambda a, y: np.where(np.abs(a) <= delta, a**2 / 2 - a * y, np.inf),
        smoothness=1.0,
        conjugate_slope=lambda a, y: _between(np.asarray(-delta), a, np.asarray(delta), a - y),
    )
