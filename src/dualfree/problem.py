"""The problem: examples, losses and λ, with every number that methods and certificates need of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices, positive, vector
from dualfree.examples import Rows
from dualfree.intercept import balance, best_intercept
from dualfree.losses.base import Loss
from dualfree.losses.builtin import BuiltIn
from dualfree.losses.check import check_loss
from dualfree.store.examples import Stored
from dualfree.store.opened import Store


@dataclass(frozen=True)
class Evaluation:
    """One look at ``(w, α)``: the value, its gradient, and the duality gap where a conjugate is known.

    `duality_gap` is infinite where it is not known. `combination` is ``(1/λn) Σ A_i a_i`` with a the α moved into
    the domain of the conjugates, or None.
    """

    value: float
    gradient: Floats
    duality_gap: float
    combination: Floats | None


class Problem:
    """``P(w) = (1/n) Σ φ_i(A_iᵀ w) + (λ/2)‖w‖²``, or with an intercept b ``(1/n) Σ φ_i(x_iᵀ w + b) + (λ/2)‖w‖²``.

    Parameters
    ----------
    X : scipy.sparse CSR matrix or array, or ndarray, of shape (n, d)
        float32 or float64; int32 or int64 indices; may be read-only. It is never copied and never written to.
        Or a `Store` (see `dualfree.open_store`), for data larger than memory.
    loss : Loss
        One of `dualfree.losses`, or your own, holding one target for each row.
    lam : float
        λ > 0.
    intercept : bool
        Whether there is an intercept; it is not penalised. Then every w has one entry more, the last, which is b.

    Notes
    -----
    Memory beyond X: O(n + d).

    An intercept is one more feature of the examples, with the same value κ in every row, around a centre that moves
    (see `dualfree.intercept`); `norms`, `L` and `primal` speak of the examples with that feature.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> from dualfree.losses import Squared
    >>> problem = Problem(X, Squared([1.0, 2.0]), lam=0.5)
    >>> problem.value([0.0, 0.0]), problem.gradient([0.0, 0.0]).tolist(), problem.L.tolist()
    (1.25, [-0.5, -2.0], [1.0, 2.0])
    """

    def __init__(self, X: Any, loss: Loss, lam: float, intercept: bool = False) -> None:
        if not isinstance(loss, Loss):
            raise TypeError(f"loss is {loss!r:.60}; it must be one of dualfree.losses, such as Logistic(y).")
        self.lam = positive("lam", lam)
        self.intercept = bool(intercept)
        self.examples = _examples(X, self.intercept)
        if len(loss.y) != self.examples.n:
            raise ValueError(f"X has {self.examples.n} rows but y has {len(loss.y)} entries; they must be equal.")
        if not isinstance(loss, BuiltIn):
            check_loss(loss)
        self.loss = loss
        if self.intercept:
            self.require_convex("intercept=True")

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.examples.n

    @property
    def d(self) -> int:
        """Number of features."""
        return self.examples.d

    @cached_property
    def l(self) -> Floats:  # noqa: E743  (the paper's name)
        """Smoothness ``l_i`` of each φ_i."""
        return self.loss.l

    @cached_property
    def norms(self) -> Floats:
        """``‖A_i‖``."""
        return self.examples.norms

    @cached_property
    def L(self) -> Floats:  # noqa: N802  (the paper's name)
        """``L_i = l_i ‖A_i‖``, for which ``‖∇φ_i(A_iᵀw) − ∇φ_i(A_iᵀz)‖ ≤ L_i ‖w − z‖``."""
        return self.l * self.norms

    def value(self, w: ArrayLike) -> float:
        """``P(w)``."""
        return self.evaluate(w).value

    def gradient(self, w: ArrayLike) -> Floats:
        """``∇P(w) = (1/n) Σ A_i φ_i'(A_iᵀw) + λw``."""
        return self.evaluate(w).gradient

    def primal(self, alpha: ArrayLike) -> Floats:
        """``w = (1/λn) Σ A_i α_i``, the point that belongs to α."""
        coefficients = vector("alpha", alpha, self.n)
        return self.examples.combine(coefficients) / (self.lam * self.n)

    def dual_value(self, alpha: ArrayLike) -> float:
        """``D(α) = −(1/n) Σ φ_i*(−α_i) − (λ/2)‖(1/λn) Σ A_i α_i‖²``; −∞ where a φ_i* is infinite.

        With an intercept also where ``Σ α_i`` is not zero (up to rounding).
        """
        self.require_conjugate("dual_value")
        alpha = vector("alpha", alpha, self.n)
        if self.intercept and abs(alpha.sum()) > 1e-12 * np.abs(alpha).sum():
            return -np.inf
        w = self._penalised(self.primal(alpha))
        return -self._conjugate_sum(alpha) / self.n - 0.5 * self.lam * float(w @ w)

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
        w = vector("w", w, self.d)
        if alpha is not None and self.loss.has_conjugate:
            return self._evaluate_with_gap(w, vector("alpha", alpha, self.n), margins, n_threads)
        gradient = np.zeros(self.d)
        if self.loss.native is not None:
            total = self.examples.loss_and_gradient(self.loss.native, self._inner(w), gradient, n_threads=n_threads)
        else:
            z = self.examples.margins(self._inner(w))
            total = float(self.loss.weighted(self.loss.value(z, self.loss.y)).sum())
            self.examples.combine(self.loss.weighted(self.loss.derivative(z, self.loss.y)), out=gradient)
        return self._evaluation(w, total, gradient, np.inf, None)

    def look(self, w: Floats, *, n_threads: int = 1) -> tuple[Floats, Evaluation, Floats]:
        """Look at w with the intercept that is best for it: the point, its evaluation, and its margins.

        The gap is that of ``α_i = −φ_i'(A_iᵀw)``, which needs no pass of its own: every Fenchel term is zero, and what
        is left is ``‖∇P(w)‖²/(2λ)``.
        """
        z, gradient = np.empty(self.n), np.zeros(self.d)
        if self.intercept:
            w = w.copy()
            start, w[-1] = float(w[-1]), 0.0
            z = self.examples.margins(w, n_threads=n_threads)
            w[-1] = best_intercept(self.loss, z, start)
            z += w[-1]
            derivatives = np.empty(self.n)
            total = kernels.loss_slopes(self.loss.native, z, derivatives)
            self.examples.combine(derivatives, out=gradient, n_threads=n_threads)
        else:
            total = kernels.loss_and_gradient(
                self.examples.native, self.loss.native, w, gradient, margins=z, threads=n_threads
            )
        seen = self._evaluation(w, total, gradient, np.inf, None)
        slope = self._penalised(seen.gradient)
        gap, moved = float(slope @ slope) / (2 * self.lam), seen.gradient / self.lam
        return w, replace(seen, duality_gap=gap, combination=w - moved), z

    def margins(self, w: ArrayLike, *, n_threads: int = 1) -> Floats:
        """``A_iᵀw`` for each example, with the intercept."""
        return self.examples.margins(self._inner(vector("w", w, self.d)), n_threads=n_threads)

    def derivatives(self, w: ArrayLike) -> Floats:
        """``φ_i'(A_iᵀw)`` for each example."""
        return self.loss.weighted(self.loss.derivative(self.margins(w), self.loss.y))

    def curvatures(self, margins: Floats) -> Floats:
        """``φ_i''(z_i)`` for each example, for a built-in loss; at a kink that of one side."""
        out = np.empty(self.n)
        kernels.loss_curvature(self.loss.native, margins, out)
        return out

    def hessian(self, curvatures: Floats, sample: Indices | None = None) -> Floats:
        """``∇²P = (1/n) Σ φ_i'' A_i A_iᵀ + λI`` for few features; the intercept has no λ.

        `curvatures` are φ_i'' at the point in question. With a `sample` of examples, an estimate from these alone.
        """
        indices = np.arange(self.n) if sample is None else sample
        weights = curvatures[indices] / len(indices)
        hessian = self.examples.weighted_gram(weights, indices)
        if self.intercept:
            hessian[-1] /= self.examples.constant_value
            hessian[:, -1] /= self.examples.constant_value
        diagonal = np.einsum("jj->j", hessian)
        self._penalised(diagonal)[:] += self.lam
        return hessian

    def _inner(self, w: Floats) -> Floats:
        """The same point as the examples see it: the intercept is a weight of their constant feature."""
        if not self.intercept:
            return w
        inner = w.copy()
        inner[-1] /= self.examples.constant_value
        return inner

    def _penalised(self, w: Floats) -> Floats:
        return w[:-1] if self.intercept else w

    def _evaluate_with_gap(self, w: Floats, alpha: Floats, margins: Floats | None, n_threads: int) -> Evaluation:
        loss = self.loss
        if isinstance(loss, BuiltIn) and not self.intercept:
            sums = np.zeros(2 * self.d)
            total, fenchel = self.examples.certify(loss.native, w, alpha, sums, n_threads=n_threads)
            gradient, combination = sums[::2].copy(), sums[1::2].copy()
        else:
            a = loss.project(alpha)
            a = balance(a) if self.intercept else a
            z = self.examples.margins(self._inner(w), n_threads=n_threads) if margins is None else margins
            values = loss.weighted(loss.value(z, loss.y))
            total = float(values.sum())
            fenchel = float(np.maximum(0.0, values + loss.weighted_conjugate(a) + a * z).sum())
            derivatives = loss.weighted(np.asarray(loss.derivative(z, loss.y), dtype=np.float64))
            gradient, combination = self.examples.combine_pair(derivatives, a, n_threads=n_threads)
        combination /= self.lam * self.n
        apart = self._penalised(w - combination)
        gap = fenchel / self.n + 0.5 * self.lam * float(apart @ apart)
        return self._evaluation(w, total, gradient, gap, combination)

    def _evaluation(
        self, w: Floats, total: float, gradient: Floats, gap: float, combination: Floats | None
    ) -> Evaluation:
        gradient /= self.n
        if self.intercept:
            gradient[-1] /= self.examples.constant_value
        penalised = self._penalised(w)
        self._penalised(gradient)[:] += self.lam * penalised
        return Evaluation(total / self.n + 0.5 * self.lam * float(penalised @ penalised), gradient, gap, combination)

    def in_domain(self, alpha: Floats) -> bool:
        """Whether D(α) is finite: a conjugate is known and every α_i lies in its domain."""
        return self.loss.has_conjugate and bool(np.isfinite(self._conjugate_sum(alpha)))

    def _conjugate_sum(self, alpha: Floats) -> float:
        if isinstance(self.loss, BuiltIn):
            return float(kernels.conjugate_sum(self.loss.native, alpha))
        return float(self.loss.weighted_conjugate(alpha).sum())

    def require_convex(self, what: str) -> None:
        """Raise one sentence if a single φ_i may be non-convex and `what` needs convexity."""
        if self.loss.all_convex:
            return
        weight = self.loss.weight
        if weight is not None and (weight < 0).any():
            at = int(np.flatnonzero(weight < 0)[0])
            reason = f"weight[{at}] is {weight[at]:g}, and a negative weight makes that φ_i non-convex"
        else:
            reason = f"{type(self.loss).__name__} is not convex"
        raise ValueError(f"{what} needs every φ_i to be convex, but {reason}; step='theorem-1' does not need it.")

    def require_conjugate(self, what: str) -> None:
        """Raise one sentence if the dual is not defined or not known and `what` needs it."""
        self.require_convex(what)
        if not self.loss.has_conjugate:
            raise ValueError(
                f"{what} needs the conjugate of the loss, which {type(self.loss).__name__} does not define; "
                "the bound ‖∇P(w)‖²/(2λ) certifies without it."
            )


def _examples(X: Any, constant: bool) -> Rows:
    """What the problem sees of X: rows in memory, or on the disk where they do not fit."""
    if isinstance(X, Store):
        return Rows(X.matrix(), constant) if X.fits else Stored(X, constant)
    return Rows(X, constant=constant)
