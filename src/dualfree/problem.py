"""The problem: examples, losses and λ, with every number that methods and certificates need of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices, positive, shape_of, vector
from dualfree.examples import Rows
from dualfree.feasible import balanced
from dualfree.intercept import best_intercept
from dualfree.losses.base import Loss
from dualfree.losses.builtin import BuiltIn
from dualfree.losses.check import check_loss
from dualfree.losses.vector_check import check_vector_loss
from dualfree.vector_examples import Blocks, MultiOutput


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
    X : scipy.sparse CSR matrix or array, or ndarray, of shape (n, d), or Blocks
        float32 or float64; int32 or int64 indices; may be read-only. It is never copied and never written to. With
        `dualfree.Blocks`, an example is a group of rows.
    loss : Loss
        One of `dualfree.losses`, or your own, holding one target for each row. With a loss of m outputs, such as
        `Softmax`, w has shape (d, m) and α (n, m).
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
        self.examples = _examples(X, loss, self.intercept)
        self.loss = loss.bound(self.examples)
        if not isinstance(loss, BuiltIn):
            (check_loss if self.examples.m == 1 and loss.outputs is None else check_vector_loss)(self.loss)
        if self.intercept:
            self.require_convex("intercept=True")

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.examples.n

    @property
    def d(self) -> int:
        """Length of w: the number of features, times that of the outputs where there are several."""
        return self.examples.size

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
        return self.evaluate(w).gradient.reshape(self.examples.w_shape)

    def primal(self, alpha: ArrayLike) -> Floats:
        """``w = (1/λn) Σ A_i α_i``, the point that belongs to α."""
        combined = self.examples.combine(self.flat_alpha(alpha)) / (self.lam * self.n)
        return combined.reshape(self.examples.w_shape)

    def dual_value(self, alpha: ArrayLike) -> float:
        """``D(α) = −(1/n) Σ φ_i*(−α_i) − (λ/2)‖(1/λn) Σ A_i α_i‖²``; −∞ where a φ_i* is infinite.

        With an intercept also where ``Σ α_i`` is not zero (up to rounding).
        """
        self.require_conjugate("dual_value")
        alpha = self.flat_alpha(alpha)
        columns = alpha.reshape(self.n, -1)
        if self.intercept and (np.abs(columns.sum(axis=0)) > 1e-12 * np.abs(columns).sum(axis=0)).any():
            return -np.inf
        w = self._penalised(self.primal(alpha).ravel())
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
        w = self.flat_w(w)
        if alpha is not None and self.loss.has_conjugate:
            return self._evaluate_with_gap(w, self.flat_alpha(alpha), margins, n_threads)
        gradient = np.zeros(self.d)
        if self.loss.native is not None:
            total = self.examples.loss_and_gradient(self.loss.native, self._inner(w), gradient, n_threads=n_threads)
        else:
            z = self.examples.margins(self._inner(w))
            total = float(self.loss.values(z).sum())
            self.examples.combine(self.loss.derivatives(z), out=gradient)
        return self._evaluation(w, total, gradient, np.inf, None)

    def look(self, w: Floats, *, n_threads: int = 1) -> tuple[Floats, Evaluation, Floats]:
        """Look at w with the intercept that is best for it: the point, its evaluation, and its margins.

        The gap is that of ``α_i = −φ_i'(A_iᵀw)``, which needs no pass of its own: every Fenchel term is zero, and what
        is left is ``‖∇P(w)‖²/(2λ)``.
        """
        z, gradient = np.empty(self.examples.total), np.zeros(self.d)
        if self.intercept:
            w, free = w.copy(), self.free
            start = w[free].copy()
            w[free] = 0.0
            z = self.examples.margins(w, n_threads=n_threads)
            w[free] = best_intercept(self.loss, z, start)
            z = self.examples.shift(z, w[free])
            total, derivatives = cast(BuiltIn, self.loss).slopes(z)
            self.examples.combine(derivatives, out=gradient, n_threads=n_threads)
        else:
            total = self.examples.loss_and_gradient(self.loss.native, w, gradient, z, n_threads=n_threads)
        seen = self._evaluation(w, total, gradient, np.inf, None)
        slope = self._penalised(seen.gradient)
        gap, moved = float(slope @ slope) / (2 * self.lam), seen.gradient / self.lam
        return w, replace(seen, duality_gap=gap, combination=w - moved), z

    def margins(self, w: ArrayLike, *, n_threads: int = 1) -> Floats:
        """``A_iᵀw`` for each example, with the intercept."""
        return self.examples.margins(self._inner(self.flat_w(w)), n_threads=n_threads)

    def derivatives(self, w: ArrayLike) -> Floats:
        """``φ_i'(A_iᵀw)`` for each example."""
        return self.loss.derivatives(self.margins(w))

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
        inner[self.free] /= self.examples.constant_value
        return inner

    @property
    def free(self) -> slice:
        """Where the intercept is in a flat w: one number, or one for each output; nothing where there is none."""
        return slice(self.d - self.examples.m if self.intercept else self.d, self.d)

    def _penalised(self, w: Floats) -> Floats:
        return w[: self.free.start]

    def flat_w(self, w: ArrayLike, name: str = "w") -> Floats:
        """A w from outside, in its shape or flat, as a checked flat vector."""
        shaped = shape_of(w) == self.examples.w_shape
        return vector(name, np.ravel(w) if shaped else w, self.d)

    def flat_alpha(self, alpha: ArrayLike, name: str = "alpha") -> Floats:
        """An α from outside, in its shape or flat, as a checked flat vector."""
        shaped = shape_of(alpha) == self.examples.alpha_shape
        return vector(name, np.ravel(alpha) if shaped else alpha, self.examples.total)

    def _evaluate_with_gap(self, w: Floats, alpha: Floats, margins: Floats | None, n_threads: int) -> Evaluation:
        loss = self.loss
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
        apart = self._penalised(w - combination)
        gap = fenchel / self.n + 0.5 * self.lam * float(apart @ apart)
        return self._evaluation(w, total, gradient, gap, combination)

    def _evaluation(
        self, w: Floats, total: float, gradient: Floats, gap: float, combination: Floats | None
    ) -> Evaluation:
        gradient /= self.n
        if self.intercept:
            gradient[self.free] /= self.examples.constant_value
        penalised = self._penalised(w)
        self._penalised(gradient)[:] += self.lam * penalised
        return Evaluation(total / self.n + 0.5 * self.lam * float(penalised @ penalised), gradient, gap, combination)

    def in_domain(self, alpha: Floats) -> bool:
        """Whether D(α) is finite: a conjugate is known and every α_i lies in its domain."""
        return self.loss.has_conjugate and bool(np.isfinite(self._conjugate_sum(alpha)))

    def _conjugate_sum(self, alpha: Floats) -> float:
        if isinstance(self.loss, BuiltIn) and self.loss.places is None:
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


def _examples(X: Any, loss: Loss, intercept: bool) -> Rows:
    """Rows, rows of several outputs, or blocks: as X and the loss say."""
    if isinstance(X, Blocks):
        if intercept:
            raise ValueError(
                "intercept is True and X is Blocks: rows of a group are compared, and an intercept cancels."
            )
        return cast(Rows, X)  # the same interface
    return Rows(X, constant=intercept) if loss.outputs is None else MultiOutput(X, loss.outputs, constant=intercept)
