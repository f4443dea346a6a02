"""The problem: examples, losses and λ, with every number that methods and certificates need of them."""

from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices, mean_of, positive, shape_of, threads, vector
from dualfree.convexity import Convexity, convexity_of
from dualfree.evaluation import Evaluation, Look, Squares
from dualfree.examples import Rows
from dualfree.feasible import balanced
from dualfree.inner import inner
from dualfree.intercept import best_intercept, no_best_intercept
from dualfree.losses.base import Loss
from dualfree.losses.builtin import BuiltIn
from dualfree.losses.check import check_loss
from dualfree.losses.vector_check import check_vector_loss
from dualfree.regularisers import L2
from dualfree.store.examples import Stored, StoredOutputs
from dualfree.store.opened import Store
from dualfree.vector_examples import Blocks, MultiOutput

# A Hessian from single precision is off by up to 1e-7 of its trace, where it was looked at; this is λ in that unit.
_COARSE = 1e-6


class Problem:
    """``P(w) = (1/n) Σ φ_i(A_iᵀ w) + (λ/2)‖w‖²``, or with an intercept b ``(1/n) Σ φ_i(x_iᵀ w + b) + (λ/2)‖w‖²``.

    A `regulariser` may add ``μ‖w‖₁`` to either.

    Parameters
    ----------
    X : scipy.sparse CSR matrix or array, or ndarray, of shape (n, d), or Blocks, or Store
        float32 or float64; int32 or int64 indices; may be read-only. It is never copied and never written to. With
        `dualfree.Blocks`, an example is a group of rows. A `Store` (see `dualfree.open_store`) is for data larger than
        memory.
    loss : Loss
        One of `dualfree.losses`, or your own, holding one target for each row. With a loss of m outputs, such as
        `Softmax`, w has shape (d, m) and α (n, m).
    lam : float
        λ > 0.
    intercept : bool
        Whether there is an intercept; it is not penalised. Then every w has one entry more, the last, which is b.
    regulariser : L2 or L2L1, optional
        One of `dualfree.regularisers`: ``L2L1(mu)`` adds ``μ‖w‖₁``. The plain squared norm by default.
    n_threads : int, optional
        Threads that look whether X is sound, which takes about half a pass; None is all cores.

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

    def __init__(
        self,
        X: Any,
        loss: Loss,
        lam: float,
        intercept: bool = False,
        regulariser: L2 | None = None,
        *,
        n_threads: int | None = 1,
    ) -> None:
        if not isinstance(loss, Loss):
            raise TypeError(f"loss is {loss!r:.60}; it must be one of dualfree.losses, such as Logistic(y).")
        self.lam = positive("lam", lam)
        self.regulariser = L2() if regulariser is None else regulariser
        if not isinstance(self.regulariser, L2):
            raise TypeError(
                f"regulariser is {regulariser!r:.60}; it must be one of dualfree.regularisers, such as L2L1(mu=0.01)."
            )
        if not np.isfinite(self.regulariser.mu / self.lam):
            raise ValueError(f"mu is {self.regulariser.mu:g} and lam {self.lam:g}: μ/λ overflows; take a larger lam.")
        self.intercept = bool(intercept)
        if self.mu > 0 and (loss.outputs is not None or isinstance(X, Blocks)):
            raise ValueError(
                f"regulariser is {self.regulariser!r}, but {type(loss).__name__} takes several numbers for each "
                "example: the L1 part is there for losses of one number; leave it out."
            )
        self.examples = _examples(X, loss, self.intercept, threads(n_threads))
        self.loss = loss.bound(self.examples)
        if not isinstance(loss, BuiltIn):
            (check_loss if self.examples.m == 1 and loss.outputs is None else check_vector_loss)(self.loss)
        if self.intercept and not self.loss.all_convex:
            self._require_best_intercept()

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
    def common_l(self) -> float | Floats:
        """The l_i, or the one number that all of them are: for what needs no vector of them."""
        return self.loss.common_l

    @cached_property
    def norms(self) -> Floats:
        """``‖A_i‖``."""
        return self.examples.norms

    @cached_property
    def L(self) -> Floats:  # noqa: N802  (the paper's name)
        """``L_i = l_i ‖A_i‖``, for which ``‖∇φ_i(A_iᵀw) − ∇φ_i(A_iᵀz)‖ ≤ L_i ‖w − z‖``."""
        return self.l * self.norms

    @cached_property
    def hardness(self) -> float:
        """``l ‖A‖²/(λn)`` for a typical example: what dfSDCA's epochs grow with."""
        return mean_of(self.common_l) * self.examples.typical_square_norm / (self.lam * self.n)

    @property
    def mu(self) -> float:
        """μ, the weight of ``‖w‖₁``; 0 by default."""
        return self.regulariser.mu

    @cached_property
    def convexity(self) -> Convexity:
        """What is known of the convexity of P; where some φ_i is not convex, finding out may cost some passes.

        Who knows better may set it: ``problem.convexity = Convexity(True, problem.lam, "why")``.
        """
        return convexity_of(self)

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

    def look(self, w: Floats, *, n_threads: int = 1, reuse: Look | None = None) -> Look:
        """Look at w with the intercept that is best for it, into the memory of a look that is no longer needed.

        The gap is that of ``α_i = −φ_i'(A_iᵀw)``, which needs no pass of its own: every Fenchel term is zero, and what
        is left is ``‖∇P(w)‖²/(2λ)``.
        """
        size = self.examples.total
        z, derivatives = (memory.empty(size), memory.empty(size)) if reuse is None else reuse[2:]
        gradient = memory.zeros(self.d)
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
            native = self.loss.native
            total = self.examples.loss_and_gradient(native, w, gradient, z, derivatives, n_threads=n_threads)
        return Look(w, self._looked(w, total, gradient), z, derivatives)

    def _looked(self, w: Floats, total: float, gradient: Floats) -> Evaluation:
        """What `look` knows, from the sums of the losses and of their gradients."""
        squares: Squares | None = None
        if self.intercept:
            value = self._evaluation(w, total, gradient, np.inf, None).value
            slope = self._penalised(gradient)
            square = inner(slope, slope)
        else:
            w_square, square = kernels.settle_gradient(gradient, w, self.n, self.lam)
            value, squares = total / self.n + 0.5 * self.lam * w_square, Squares(w_square, square, np.nan)
        gap = square / (2 * self.lam) if self.loss.all_convex else np.inf
        return Evaluation(value, gradient, gap, None, squares)

    def margins(self, w: ArrayLike, *, n_threads: int = 1) -> Floats:
        """``A_iᵀw`` for each example, with the intercept."""
        return self.examples.margins(self._inner(self.flat_w(w)), n_threads=n_threads)

    def derivatives(self, w: ArrayLike) -> Floats:
        """``φ_i'(A_iᵀw)`` for each example."""
        return self.loss.derivatives(self.margins(w))

    def hessian(self, margins: Floats, sample: Indices | None = None) -> Floats:
        """The upper triangle of ``∇²P = (1/n) Σ φ_i''(z_i) A_i A_iᵀ + λI``, for few features and built-in losses.

        That is all that a Cholesky factor reads; the other triangle is not filled in. The intercept has no λ. `margins`
        are the z_i of the point in question; at a kink the curvature is that of one side. With a `sample` of examples,
        an estimate from these alone, in single precision where that is fine beside λ; but where it is of all, and the
        same everywhere, or some are concave, so that it may be near singular, it is exact.
        """
        indices = np.arange(self.n) if sample is None else sample
        delicate = self.loss.quadratic or not self.loss.all_convex
        exact = sample is None or (delicate and len(sample) == self.n)
        return self.weighted_hessian(self.curvatures(margins, sample) / len(indices), indices, exact=exact)

    def weighted_hessian(self, curvatures: Floats, indices: Indices, *, exact: bool = False) -> Floats:
        """The upper triangle of ``Σ A_i C_i A_iᵀ + λI`` over the listed examples, C_i of `curvatures` one by one."""
        coarse = not exact and _COARSE * self.n * self.hardness <= 1
        hessian = self.examples.hessian_sum(curvatures, indices, coarse)
        if self.intercept:
            hessian[self.free] /= self.examples.constant_value
            hessian[:, self.free] /= self.examples.constant_value
        diagonal = np.einsum("jj->j", hessian)
        self._penalised(diagonal)[:] += self.lam
        return hessian

    def curvatures(self, margins: Floats, indices: Indices | None = None) -> Floats:
        """``φ_i''(z_i)`` for all examples or the listed ones, for a built-in loss; at a kink that of one side.

        With several outputs the Hessians ``∇²φ_i(z_i)``, one after the other.
        """
        assert isinstance(self.loss, BuiltIn)
        return self.examples.curvatures(self.loss.native, margins, indices)

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

    def _require_best_intercept(self) -> None:
        """Raise one sentence if some φ_i is not convex and no intercept may be best for some w."""
        weight = self.loss.weight
        if weight is None or not (weight < 0).any():
            self.require_convex("intercept=True")
        reason = no_best_intercept(self.loss)
        if self.mu > 0 or isinstance(self.examples, Stored):
            reason = "no method takes both with an L1 part, or on a store larger than its memory_limit"
        if weight is not None and reason is not None:
            at = int(np.argmax(weight < 0))
            raise ValueError(f"intercept is True and weight[{at}] is {weight[at]:g}, a negative weight: {reason}.")

    def require_conjugate(self, what: str) -> None:
        """Raise one sentence if the dual is not defined or not known and `what` needs it."""
        self.require_convex(what)
        if not self.loss.has_conjugate:
            raise ValueError(
                f"{what} needs the conjugate of the loss, which {type(self.loss).__name__} does not define; "
                "the bound ‖∇P(w)‖²/(2λ) certifies without it."
            )


def _examples(X: Any, loss: Loss, intercept: bool, n_threads: int) -> Rows:
    """Rows in memory or on the disk, rows of several outputs, or blocks: as X and the loss say."""
    if isinstance(X, Blocks):
        if intercept:
            raise ValueError(
                "intercept is True and X is Blocks: rows of a group are compared, and an intercept cancels."
            )
        return cast(Rows, X)  # the same interface
    if isinstance(X, Store):
        if not X.fits_for(loss.outputs or 1):
            return Stored(X, intercept) if loss.outputs is None else StoredOutputs(X, loss.outputs, intercept)
        X = X.matrix()
    if loss.outputs is None:
        return Rows(X, intercept, n_threads)
    return MultiOutput(X, loss.outputs, intercept, n_threads)
