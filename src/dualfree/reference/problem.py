"""The objective, its gradient, its dual and the gap between them."""

from dataclasses import dataclass

import numpy as np

from dualfree.arrays import Floats
from dualfree.reference.losses import ReferenceLoss


@dataclass(frozen=True)
class ReferenceProblem:
    """``P(w) = (1/n) Σ φ_i(A_iᵀw) + (λ/2)‖w‖² + μ‖w‖₁`` with ``φ_i(z) = weight_i f(z, y_i)``.

    Attributes
    ----------
    X : array of shape (n, d)
        Row i is A_i.
    y, weight : arrays of length n
        Targets, and one factor for each loss; a negative one turns that loss upside down.
    loss : ReferenceLoss
        f.
    lam, mu : float
        λ and μ.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.diag([1.0, 2.0]), np.array([1.0, 2.0]), np.ones(2), squared(), lam=0.5)
    >>> problem.value(np.zeros(2)), problem.gradient(np.zeros(2)).tolist()
    (1.25, [-0.5, -2.0])
    >>> problem.gap(np.zeros(2), np.zeros(2))
    1.25
    """

    X: Floats
    y: Floats
    weight: Floats
    loss: ReferenceLoss
    lam: float
    mu: float = 0.0

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.X)

    @property
    def l(self) -> Floats:  # noqa: E743  (the paper's name)
        """``l_i = |weight_i| · smoothness of f``."""
        return np.abs(self.weight) * self.loss.smoothness

    @property
    def L(self) -> Floats:  # noqa: N802  (the paper's name)
        """``L_i = l_i ‖A_i‖``."""
        return np.asarray(self.l * np.sqrt((self.X**2).sum(axis=1)))

    def derivative(self, i: int, z: float) -> float:
        """``φ_i'(z)``."""
        return float(self.weight[i] * self.loss.derivative(np.asarray(z), self.y[i]))

    def value(self, w: Floats) -> float:
        """``P(w)``."""
        losses = [self.weight[i] * self.loss.value(self.X[i] @ w, self.y[i]) for i in range(self.n)]
        return float(sum(losses) / self.n + self.lam / 2 * (w @ w) + self.mu * np.abs(w).sum())

    def gradient(self, w: Floats) -> Floats:
        """``∇P(w) = (1/n) Σ A_i φ_i'(A_iᵀw) + λw``, without a part for μ."""
        total = np.zeros(len(w))
        for i in range(self.n):
            total += self.X[i] * self.derivative(i, self.X[i] @ w)
        return total / self.n + self.lam * w

    def combination(self, alpha: Floats) -> Floats:
        """``ᾱ = (1/λn) Σ A_i α_i``."""
        total = np.zeros(self.X.shape[1])
        for i in range(self.n):
            total += self.X[i] * alpha[i]
        return total / (self.lam * self.n)

    def point(self, combination: Floats) -> Floats:
        """``w = argmax_x λᾱᵀx − (λ/2)‖x‖² − μ‖x‖₁``: ``w_j = sign(ᾱ_j) max(0, |ᾱ_j| − μ/λ)``."""
        return np.asarray(np.sign(combination) * np.maximum(0.0, np.abs(combination) - self.mu / self.lam))

    def primal(self, alpha: Floats) -> Floats:
        """The point that belongs to ``(1/λn) Σ A_i α_i``, which is itself for μ = 0."""
        return self.point(self.combination(alpha))

    def conjugate(self, i: int, alpha: float) -> float:
        """``φ_i*(−α) = weight_i f*(−α/weight_i)``; for weight 0 it is 0 at 0 and infinite elsewhere."""
        if self.weight[i] < 0:
            raise ValueError(f"weight[{i}] is negative, so φ_{i} is not convex and has no useful conjugate.")
        if self.weight[i] == 0:
            return 0.0 if alpha == 0 else np.inf
        return float(self.weight[i] * self.loss.conjugate(np.asarray(alpha / self.weight[i]), self.y[i]))

    def dual_value(self, alpha: Floats) -> float:
        """``D(α) = −(1/n) Σ φ_i*(−α_i) − g*(λᾱ)``.

        ``g*(λᾱ) = sup_x λᾱᵀx − (λ/2)‖x‖² − μ‖x‖₁``, attained at the point of ᾱ.
        """
        combination = self.combination(alpha)
        w = self.point(combination)
        penalty = self.lam * float(combination @ w) - self.lam / 2 * float(w @ w) - self.mu * float(np.abs(w).sum())
        return -sum(self.conjugate(i, alpha[i]) for i in range(self.n)) / self.n - penalty

    def gap(self, w: Floats, alpha: Floats) -> float:
        """``P(w) − D(α)``, never less than ``P(w) − P*``."""
        return self.value(w) - self.dual_value(alpha)

    def potential(self, w: Floats, alpha: Floats, w_star: Floats, alpha_star: Floats, theorem: int) -> float:
        """``E`` of Theorem 2 or ``D`` of Theorem 1.

        ``E = (λ/2)‖w−w*‖² + (1/2n) Σ (α_i−α_i*)²/l_i``, ``D = (λ/2)‖w−w*‖² + (λ/2n) Σ (α_i−α_i*)²/L_i²``.
        """
        total = self.lam / 2 * float((w - w_star) @ (w - w_star))
        for i in range(self.n):
            if theorem == 2:
                total += (alpha[i] - alpha_star[i]) ** 2 / self.l[i] / (2 * self.n)
            else:
                total += self.lam * (alpha[i] - alpha_star[i]) ** 2 / self.L[i] ** 2 / (2 * self.n)
        return total
