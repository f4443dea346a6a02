"""What methods of whole passes ask: value, gradient and margins at once, and Hessians."""

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.evaluation import Evaluation, Look, Squares
from dualfree.inner import go_between, inner
from dualfree.intercept import best_intercept
from dualfree.losses.builtin import BuiltIn
from dualfree.problem.values import Values

_COARSE = 1e-6  # of the trace of a Hessian, what sums in single precision may be off by
_IN_RANGE = 1e-25, 1e25  # of λ, so that all other numbers are in the range of single precision too
_NOTHING = np.empty(0)


class Passes(Values):
    """Looks at w from which a method of second order takes its next step."""

    def look(self, w: Floats, *, n_threads: int = 1, reuse: Look | None = None) -> Look:
        """Look at w with the intercept that is best for it, into the memory of a look that is no longer needed.

        The gap is that of ``α_i = −φ_i'(A_iᵀw)``, which needs no pass of its own: every Fenchel term is zero, and what
        is left is ``‖∇P(w)‖²/(2λ)``.
        """
        size = self.examples.total
        z, derivatives = (memory.empty(size), memory.empty(size)) if reuse is None else reuse[2:4]
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

    def least_on_line(self, here: Look, there: Look) -> Look:
        """A look at the point of the line through both at which P is least, without a pass; in the memory of `there`.

        For losses whose curvature is the same everywhere: all that a look tells is as linear as w is, but for P, which
        is a parabola. Where the least is not far from `there`, it is `there`.
        """
        t, value = here.least_on_line(there)
        if t == 1:
            return there
        blur, (w, _, *before), (v, ended, *after) = here.blur_at(t, there), here[:4], there[:4]
        gradient = ended.gradient
        for first, last in zip((w, here.evaluation.gradient, *before), (v, gradient, *after), strict=True):
            go_between(first, t, last)
        penalised = self._penalised(gradient)
        square = inner(penalised, penalised)
        squares = None if self.intercept else Squares(inner(v, v), square, np.nan)
        return there._replace(evaluation=Evaluation(value, gradient, self._gap_of(square), None, squares), blur=blur)

    def newton_steps(
        self, w: Floats, tol: float, most: int, absolute_tol: float = 0.0, draws: int | None = None
    ) -> tuple[Look | None, int, bool]:
        """Up to `most` steps of Newton's method from w, in place, until the gap that `look` knows is small enough.

        The first Hessian is from so many `draws` of examples, with probabilities in the proportion of ``φ_i''‖A_i‖²``,
        and later ones from four times as many each time that a step leaves too much; by default from all.

        A look at where they led, how many there were, and whether a step is missing: then there is no look. For up to
        128 features (an intercept is one more), rows in memory, a built-in convex loss and no L1 part.
        """
        z, derivatives, gradient = memory.empty(self.n), memory.empty(self.n), np.empty(self.d)
        sampled = draws is not None and draws < self.n
        sample = (draws, self.examples.square_norms) if sampled else (self.n, _NOTHING)
        setting = (self.examples.native, self.loss.native, self.lam, tol, absolute_tol, most, *sample)
        if self.intercept:
            w[self.free] /= self.examples.constant_value
        steps, value, w_square, square, stuck = kernels.newton_steps(*setting, w, gradient, z, derivatives)
        if self.intercept:
            w[self.free] *= self.examples.constant_value
        if stuck:
            return None, steps, True
        if not self.intercept:
            seen = Evaluation(value, gradient, self._gap_of(square), None, Squares(w_square, square, np.nan))
            return Look(w.copy(), seen, z, derivatives), steps, False
        look = self.look(w)  # at the best intercept, or it would be no bound
        w[:] = look.w
        return look, steps, False

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
        return Evaluation(value, gradient, self._gap_of(square), None, squares)

    def _gap_of(self, square: float) -> float:
        """The duality gap at ``α_i = −φ_i'(A_iᵀw)``, from ``‖∇P(w)‖²``."""
        return square / (2 * self.lam) if self.loss.all_convex else np.inf

    def margins(self, w: ArrayLike, *, n_threads: int = 1) -> Floats:
        """``A_iᵀw`` for each example, with the intercept."""
        return self.examples.margins(self._inner(self.flat_w(w)), n_threads=n_threads)

    def derivatives(self, w: ArrayLike) -> Floats:
        """``φ_i'(A_iᵀw)`` for each example."""
        return self.loss.derivatives(self.margins(w))

    def hessian(self, margins: Floats, sample: Indices | None = None, *, n_threads: int = 1) -> Floats:
        """The upper triangle of ``∇²P = (1/n) Σ φ_i''(z_i) A_i A_iᵀ + λI``, for few features and built-in losses.

        That is all that a Cholesky factor reads; the other triangle is not filled in. The intercept has no λ. `margins`
        are the z_i of the point in question; at a kink the curvature is that of one side. With a `sample` of examples,
        an estimate from these alone, in single precision where that is fine beside λ; but where it is of all and some
        are concave, so that it may be near singular, it is exact.
        """
        indices = np.arange(self.n) if sample is None else sample
        exact = sample is None or (not self.loss.all_convex and len(sample) == self.n)
        curvatures = self.curvatures(margins, sample) / len(indices)
        return self.weighted_hessian(curvatures, indices, exact=exact, n_threads=n_threads)

    def weighted_hessian(
        self, curvatures: Floats, indices: Indices, *, exact: bool = False, n_threads: int = 1
    ) -> Floats:
        """The upper triangle of ``Σ A_i C_i A_iᵀ + λI`` over the listed examples, C_i of `curvatures` one by one."""
        coarse = not exact and self.single_will_do(_COARSE)
        hessian = self.examples.hessian_sum(curvatures, indices, coarse, n_threads)
        if self.intercept:
            hessian[self.free] /= self.examples.constant_value
            hessian[:, self.free] /= self.examples.constant_value
        diagonal = np.einsum("jj->j", hessian)
        self._penalised(diagonal)[:] += self.lam
        return hessian

    def single_will_do(self, doubt: float) -> bool:
        """Whether λ is large enough beside `doubt` times the trace of a Hessian, and in range for single precision."""
        least, most = _IN_RANGE
        return bool(least <= self.lam <= most and doubt * self.n * self.hardness <= 1)

    def curvatures(self, margins: Floats, indices: Indices | None = None) -> Floats:
        """``φ_i''(z_i)`` for all examples or the listed ones, for a built-in loss; at a kink that of one side.

        With several outputs the Hessians ``∇²φ_i(z_i)``, one after the other.
        """
        assert isinstance(self.loss, BuiltIn)
        return self.examples.curvatures(self.loss.native, margins, indices)
