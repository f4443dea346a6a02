"""The penalty g of a problem: the squared norm, alone or with μ‖w‖₁.

A method that keeps ``ᾱ = (1/λn) Σ A_i α_i`` needs two things of a penalty g: the point ``w = ∇g*(λᾱ)`` that belongs to
ᾱ, and how far a pair (w, ᾱ) is from belonging together, the slack ``g(w) + g*(λᾱ) − λᾱᵀw`` of Fenchel and Young. Both
are sums over the features here. λ is the problem's and is handed in.
"""

import numpy as np

from dualfree.arrays import Floats, not_negative
from dualfree.inner import inner


class L2:
    """``g(w) = (λ/2)‖w‖²``, the default.

    Examples
    --------
    >>> L2().value(np.array([3.0, 4.0]), lam=2.0)
    25.0
    """

    mu = 0.0

    def value(self, w: Floats, lam: float) -> float:
        """``g(w)``."""
        return 0.5 * lam * inner(w, w)

    def conjugate(self, combination: Floats, lam: float) -> float:
        """``g*(λᾱ) = (λ/2)‖w‖²`` with w the point of ᾱ."""
        w = self.point(combination, lam)
        return 0.5 * lam * inner(w, w)

    def point(self, combination: Floats, lam: float) -> Floats:
        """The w that belongs to ᾱ: ᾱ itself."""
        return combination

    def slack(self, w: Floats, combination: Floats, lam: float) -> float:
        """``g(w) + g*(λᾱ) − λᾱᵀw ≥ 0``, here ``(λ/2)‖w − ᾱ‖²``."""
        apart = w - combination
        return 0.5 * lam * inner(apart, apart)

    def residual(self, w: Floats, gradient: Floats, lam: float) -> Floats:
        """From the gradient of the average loss, a vector r with ``P(w) − P* ≤ ‖r‖²/(2λ)``: here ∇P(w)."""
        gradient += lam * w
        return gradient

    def __repr__(self) -> str:
        return "L2()"


class L2L1(L2):
    """``g(w) = (λ/2)‖w‖² + μ‖w‖₁``, which makes weights exactly zero.

    The point of ᾱ is ``soft(ᾱ, μ/λ)``: each entry moved towards zero by μ/λ, and zero where it would pass it. So
    ``g*(λᾱ) = (λ/2)‖soft(ᾱ, μ/λ)‖²``. With ``ᾱ = s + r``, s the point and ``|r_j| ≤ μ/λ`` the rest, the slack is
    ``Σ_j (λ/2)(w_j − s_j)² + |w_j| (μ − λ r_j sign w_j)``: terms that are each at least zero, without cancellation.

    Parameters
    ----------
    mu : float
        μ ≥ 0.

    Examples
    --------
    >>> penalty = L2L1(mu=1.0)
    >>> penalty.value(np.array([3.0, -4.0]), lam=2.0), penalty.point(np.array([3.0, -4.0, 0.25]), lam=2.0).tolist()
    (32.0, [2.5, -3.5, 0.0])
    """

    def __init__(self, mu: float) -> None:
        self.mu = not_negative("mu", mu)

    def value(self, w: Floats, lam: float) -> float:
        return super().value(w, lam) + self.mu * float(np.abs(w).sum())

    def point(self, combination: Floats, lam: float) -> Floats:
        return combination - self._rest(combination, lam)

    def slack(self, w: Floats, combination: Floats, lam: float) -> float:
        return 0.5 * lam * float(self._squares(w, combination, lam).sum())

    def residual(self, w: Floats, gradient: Floats, lam: float) -> Floats:
        """A vector r with ``P(w) − P* ≤ ‖r‖²/(2λ)``, which is zero at the optimum alone.

        The gradient of a convex average loss f says ``P(x) ≥ f(w) + ∇f(w)ᵀ(x − w) + g(x)``, and the least value of the
        right side is ``P(w)`` minus the slack of ``(w, −∇f(w)/λ)``. So ``r_j = ±√(2λ slack_j)``; where w_j is not zero
        and moves without a change of sign, that is the partial derivative of P.
        """
        combination = gradient / -lam
        sign = np.sign(w - self.point(combination, lam))
        return np.asarray(lam * sign * np.sqrt(self._squares(w, combination, lam)))

    def _rest(self, combination: Floats, lam: float) -> Floats:
        """What is taken off ᾱ: its entries, clipped to ±μ/λ."""
        threshold = self.mu / lam
        return np.clip(combination, -threshold, threshold)

    def _squares(self, w: Floats, combination: Floats, lam: float) -> Floats:
        """2/λ times the slack of each feature."""
        rest = self._rest(combination, lam)
        apart = w - (combination - rest)
        return np.asarray(apart * apart + 2 * np.abs(w) * (self.mu / lam - rest * np.sign(w)))

    def __repr__(self) -> str:
        return f"L2L1(mu={self.mu:g})"
