"""Examples, losses and λ that fit together, and the numbers that follow from them alone."""

import math
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats, mean_of, positive, shape_of, threads, vector
from dualfree.examples import Blocks, MultiOutput, Rows
from dualfree.intercept import no_best_intercept
from dualfree.losses.base import Loss
from dualfree.losses.builtin import BuiltIn
from dualfree.losses.check import check_loss
from dualfree.losses.vector_check import check_vector_loss
from dualfree.regularisers import L2
from dualfree.store.examples import Stored, StoredOutputs
from dualfree.store.opened import Store


class Setting:
    """What a problem is made of, checked when it is made; the parameters are those of `Problem`.

    Attributes
    ----------
    n : int
        Number of examples.
    d : int
        Length of w: the number of features, times that of the outputs where there are several.
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
        if not math.isfinite(self.regulariser.mu / self.lam):
            raise ValueError(f"mu is {self.regulariser.mu:g} and lam {self.lam:g}: μ/λ overflows; take a larger lam.")
        self.intercept = bool(intercept)
        if self.mu > 0 and (loss.outputs is not None or isinstance(X, Blocks)):
            raise ValueError(
                f"regulariser is {self.regulariser!r}, but {type(loss).__name__} takes several numbers for each "
                "example: the L1 part is there for losses of one number; leave it out."
            )
        self.examples = _examples(X, loss, self.intercept, threads(n_threads))
        self.n, self.d = self.examples.n, self.examples.size
        self.loss = loss.bound(self.examples)
        if not isinstance(loss, BuiltIn):
            (check_loss if self.examples.m == 1 and loss.outputs is None else check_vector_loss)(self.loss)
        if self.intercept and not self.loss.all_convex:
            self._require_best_intercept()

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

    def _inner(self, w: Floats) -> Floats:
        """The same point as the examples see it: the intercept is a weight of their constant feature."""
        if not self.intercept:
            return w
        inner = w.copy()
        inner[self.free] /= self.examples.constant_value
        return inner

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
