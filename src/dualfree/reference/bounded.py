"""The losses that are bounded, and so not convex, and that of positive and unlabelled examples."""

import numpy as np
from scipy.special import expit

from dualfree.arrays import Floats
from dualfree.reference.losses import ReferenceLoss, logistic


def _no_conjugate(a: Floats, y: Floats) -> Floats:
    return np.full(np.shape(a), np.inf)


def sigmoid() -> ReferenceLoss:
    """``1/(1 + exp(t))``, t = y z; its second derivative ``s(1 − s)(1 − 2s)`` is largest at ``s = (3 − √3)/6``.

    Examples
    --------
    >>> float(sigmoid().value(np.array(0.0), np.array(1.0)))
    0.5
    """
    return ReferenceLoss(
        value=lambda z, y: expit(-y * z),
        derivative=lambda z, y: -y * expit(y * z) * expit(-y * z),
        conjugate=_no_conjugate,
        smoothness=np.sqrt(3) / 18,
    )


def savage() -> ReferenceLoss:
    """``1/(1 + exp(2t))²``; its second derivative is ``8s²(1 − s)(2 − 3s)`` with ``s = 1/(1 + exp(2t))``.

    Examples
    --------
    >>> float(savage().value(np.array(0.0), np.array(1.0)))
    0.25
    """
    s = np.linspace(0, 1, 1_000_001)
    return ReferenceLoss(
        value=lambda z, y: expit(-2 * y * z) ** 2,
        derivative=lambda z, y: -4 * y * expit(-2 * y * z) ** 2 * expit(2 * y * z),
        conjugate=_no_conjugate,
        smoothness=float(np.abs(8 * s**2 * (1 - s) * (2 - 3 * s)).max()),
    )


def tukey(c: float) -> ReferenceLoss:
    """``(c²/6)(1 − (1 − (r/c)²)³)`` for |r| ≤ c, ``c²/6`` beyond, with r = z − y.

    Examples
    --------
    >>> tukey(3.0).value(np.array([0.0, 9.0]), np.array(0.0)).tolist()
    [0.0, 1.5]
    """

    def rest(z: Floats, y: Floats) -> Floats:
        return np.maximum(0, 1 - ((z - y) / c) ** 2)

    return ReferenceLoss(
        value=lambda z, y: c**2 / 6 * (1 - rest(z, y) ** 3),
        derivative=lambda z, y: (z - y) * rest(z, y) ** 2,
        conjugate=_no_conjugate,
        smoothness=1.0,
    )


def positive_unlabelled() -> ReferenceLoss:
    """``−z`` for y = 1, whose ``f*(−a)`` is zero at a = 1 alone; ``log(1 + exp(z))`` for y = −1.

    Examples
    --------
    >>> positive_unlabelled().derivative(np.array([3.0, 0.0]), np.array([1.0, -1.0])).tolist()
    [-1.0, 0.5]
    """
    negative = logistic()
    return ReferenceLoss(
        value=lambda z, y: np.where(y > 0, -z, negative.value(z, -np.ones_like(z))),
        derivative=lambda z, y: np.where(y > 0, -1.0, expit(z)),
        conjugate=lambda a, y: np.where(y > 0, np.where(a == 1, 0, np.inf), negative.conjugate(a, -np.ones_like(a))),
        smoothness=0.25,
    )
