"""Bounded losses, which outliers cannot move: no average of them is convex, so nothing is guaranteed of a minimum."""

import math

from numpy.typing import ArrayLike

from dualfree.arrays import positive
from dualfree.losses.builtin import BuiltIn, TwoClasses


class Sigmoid(TwoClasses):
    """Sigmoid loss ``1/(1 + exp(y z))``, √3/18-smooth: a smooth count of the errors.

    Examples
    --------
    >>> Sigmoid([-1, 1]).value([0.0, 100.0], -1.0).tolist()
    [0.5, 1.0]
    """

    kind = "sigmoid"
    largest_curvature = math.sqrt(3) / 18
    convex = False
    bounded = True


class Savage(TwoClasses):
    """Savage loss ``1/(1 + exp(2 y z))²`` of Masnadi-Shirazi and Vasconcelos (2008), 0.616-smooth.

    Examples
    --------
    >>> Savage([-1, 1]).derivative([0.0], [1.0]).tolist()
    [-0.5]
    """

    kind = "savage"
    convex = False
    bounded = True
    _STEEPEST = (15 - math.sqrt(33)) / 24  # where f'' = 8s²(1 − s)(2 − 3s) is largest, s = 1/(1 + exp(2yz))
    largest_curvature = 8 * _STEEPEST**2 * (1 - _STEEPEST) * (2 - 3 * _STEEPEST)


class Tukey(BuiltIn):
    """Tukey's biweight: ``(c²/6)(1 − (1 − (r/c)²)³)`` for |r| ≤ c, ``c²/6`` beyond, with r = z − y; 1-smooth.

    Residuals beyond c do not count at all. The default c is that of 95 % efficiency for normal errors of variance one.

    Examples
    --------
    >>> Tukey([0.0, 0.0], c=2.0).derivative([1.0, 5.0], 0.0).tolist()
    [0.5625, 0.0]
    """

    kind = "tukey"
    largest_curvature = 1.0
    convex = False
    bounded = True

    def __init__(self, y: ArrayLike, c: float = 4.685, weight: ArrayLike | None = None) -> None:
        self.c = positive("c", c)
        super().__init__(y, weight)

    @property
    def parameters(self) -> tuple[float, ...]:
        return (self.c,)
