"""The values of a problem: P, its gradient, D, and the gap between them."""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation
from dualfree.feasible import balanced
from dualfree.losses.builtin import BuiltIn
from dualfree.problem.setting import Setting


class Values(Setting):
    """What can be asked of a point w, of a dual one α, or of both."""

    def value(self, w: ArrayLike) -> float:
        """``P(w)``."""
        return self.evaluate(w).value

    def gradient(self, w: ArrayLike) -> Floats:
        """``∇P(w) = (1/n) Σ A_i φ_i'(A_iᵀw) + λw``; with μ > 0 `L2L1.residual`, which bounds ``P(w) − P*`` as well."""
        return self.evaluate(w).gradient.reshape(self.examples.w_shape)

    def combination(self, alpha: ArrayLike) -> Floats:
        """``ᾱ = (1/λn) Σ A_i α_i``."""
        combined = self.examples.combine(self.flat_alpha(alpha)) / (self.lam * self.n)
        return combined.reshape(self.examples.w_shape)

    def primal(self, alpha: ArrayLike) -> Floats:
        """``w = (1/λn) Σ A_i α_i``, the point that belongs to α; with μ > 0 ``w = soft(ᾱ, μ/λ)``."""
        return self.point(self.combination(alpha))

    def point(self, combination: Floats) -> Floats:
        """The point that belongs to ᾱ: ᾱ itself (not a copy), with μ > 0 ``soft(ᾱ, μ/λ)``, all but the intercept."""
        if self.mu == 0:
            return combination
        w = combination.copy()
        self._penalised(w)[:] = self.regulariser.point(self._penalised(combination), self.lam)
        return w

    def dual_value(self, alpha: ArrayLike) -> float:
        """``D(α) = −(1/n) Σ φ_i*(−α_i) − (λ/2)‖(1/λn) Σ A_i α_i‖²``; −∞ where a φ_i* is infinite.

        With μ > 0, ``soft(ᾱ, μ/λ)`` stands between the norm signs. With an intercept it is −∞ also where ``Σ α_i`` is
        not zero (up to rounding).
        """
        self.require_conjugate("dual_value")
        alpha = self.flat_alpha(alpha)
        columns = alpha.reshape(self.n, -1)
        if self.intercept and (np.abs(columns.sum(axis=0)) > 1e-12 * np.abs(columns).sum(axis=0)).any():
            return -np.inf
        penalty = self.regulariser.conjugate(self._penalised(self.combination(alpha).ravel()), self.lam)
        return -self._conjugate_sum(alpha) / self.n - penalty

    def gap(self, w: ArrayLike, alpha: ArrayLike) -> float:
        """``P(w) − D(α) ≥ P(w) − P*``."""
        return self.value(w) - self.dual_value(alpha)

    def evaluate(
        self,
        w: ArrayLike,
        alpha: ArrayLike | None = None,
        margins: Floats | None = None,
        *,
        n_threads: int = 1,
    ) -> Evaluation:
        """Value and gradient at w and, with α and a known conjugate, the duality gap.

        `margins` saves a pass, if ``A_iᵀ w`` (with the intercept) is at hand.
        """
        w = self.flat_w(w)
        if alpha is not None and self.loss.has_conjugate:
            return self._evaluate_with_gap(w, self.flat_alpha(alpha), margins, n_threads)
        gradient = memory.zeros(self.d)
        if self.loss.native is not None:
            total = self.examples.loss_and_gradient(self.loss.native, self._inner(w), gradient, n_threads=n_threads)
        else:
            z = self.examples.margins(self._inner(w))
            total = float(self.loss.values(z).sum())
            self.examples.combine(self.loss.derivatives(z), out=gradient)
        return self._evaluation(w, total, gradient, np.inf, None)

    def evaluate_zero(self) -> Evaluation:
        """What is known without a pass of w = 0 and α = 0, for a built-in loss that has a conjugate; no gradient."""
        value, conjugate = cast(BuiltIn, self.loss).at_zero(self.examples.total)
        return Evaluation.without_gradient(value, value + conjugate, self.d)

    def _evaluate_with_gap(self, w: Floats, alpha: Floats, margins: Floats | None, n_threads: int) -> Evaluation:
        loss = self.loss
        if self.settles:
            seen = self.examples.settled(loss.native, w, alpha, self.lam, margins, n_threads=n_threads)
            value = seen.total / self.n + 0.5 * self.lam * seen.squares.w
            gap = seen.fenchel / self.n + 0.5 * self.lam * seen.squares.apart
            return Evaluation(value, seen.gradient, gap, seen.combination, seen.squares)
        if isinstance(loss, BuiltIn) and not self.intercept:
            total, fenchel, gradient, combination = self.examples.certify(loss.native, w, alpha, n_threads=n_threads)
        else:
            a = loss.project(alpha)
            a = balanced(loss, a) if self.intercept else a
            z = self.examples.margins(self._inner(w), n_threads=n_threads) if margins is None else margins
            values = loss.values(z)
            total = float(values.sum())
            slack = values + loss.weighted_conjugate(a) + self.examples.sums(a * z)
            fenchel = float(np.maximum(0.0, slack).sum())
            gradient, combination = self.examples.combine_pair(loss.derivatives(z), a, n_threads=n_threads)
        combination /= self.lam * self.n
        apart = self.regulariser.slack(self._penalised(w), self._penalised(combination), self.lam)
        gap = fenchel / self.n + apart
        return self._evaluation(w, total, gradient, gap, combination)

    @property
    def settles(self) -> bool:
        """Whether an evaluation can be had in two stages: first the gap of a w that is ``ᾱ``, then the proof."""
        plain = isinstance(self.loss, BuiltIn) and not self.intercept and self.mu == 0
        return plain and self.loss.has_conjugate and self.examples.settles

    def _evaluation(
        self, w: Floats, total: float, gradient: Floats, gap: float, combination: Floats | None
    ) -> Evaluation:
        gradient /= self.n
        if self.intercept:
            gradient[self.free] /= self.examples.constant_value
        penalised = self._penalised(w)
        self._penalised(gradient)[:] = self.regulariser.residual(penalised, self._penalised(gradient), self.lam)
        value = total / self.n + self.regulariser.value(penalised, self.lam)
        return Evaluation(value, gradient, gap, combination)

    def in_domain(self, alpha: Floats) -> bool:
        """Whether D(α) is finite: a conjugate is known and every α_i lies in its domain."""
        return self.loss.has_conjugate and bool(np.isfinite(self._conjugate_sum(alpha)))

    def _conjugate_sum(self, alpha: Floats) -> float:
        if isinstance(self.loss, BuiltIn) and self.loss.places is None:
            return float(kernels.conjugate_sum(self.loss.native, alpha))
        return float(self.loss.weighted_conjugate(alpha).sum())
