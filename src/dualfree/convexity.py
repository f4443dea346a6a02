"""Whether P is convex although single φ_i are not: decided where that can be, and said where it cannot.

Every φ_i'' is at least some number κ_i: the weight for squared losses, zero for a convex φ_i, ``−l_i`` otherwise. So P
is σ-strongly convex with ``σ = λ + λ_min((1/n) Σ κ_i A_i A_iᵀ)``, and for squared losses with no larger number.
"""

import math
import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from dualfree.arrays import Floats
from dualfree.examples import Rows
from dualfree.losses.builtin import BuiltIn, Squared

if TYPE_CHECKING:
    from dualfree.problem import Problem

_MOST_DENSE = 128  # features up to which the matrix is formed
_VECTORS, _RESTARTS = 32, 40  # of Lanczos' method: at most some thousand passes
_EPSILON = float(np.finfo(np.float64).eps)


class ConvexityWarning(UserWarning):
    """P may not be convex, so that what is said of its minimum rests on an assumption."""


@dataclass(frozen=True)
class Convexity:
    """What is known of the convexity of P.

    Attributes
    ----------
    known : bool or None
        True where P is proven to be strongly convex, False where it is not or where nothing can be promised, None where
        it could not be decided.
    sigma : float
        P is σ-strongly convex, ``0 < σ ≤ λ``; λ, the assumption, where that is not proven.
    reason : str
        Why, for people.

    Examples
    --------
    >>> import dualfree as df
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> found = df.Problem(X, df.losses.Squared([1.0, 2.0], weight=[1.0, -0.5]), lam=0.5).convexity
    >>> found.known, round(found.sigma, 12)
    (True, 0.25)
    """

    known: bool | None
    sigma: float
    reason: str


def convexity_of(problem: "Problem") -> Convexity:
    """Decide whether P is strongly convex, and how strongly."""
    loss, lam, examples = problem.loss, problem.lam, problem.examples
    if loss.all_convex:
        return Convexity(True, lam, "every φ_i is convex")
    if examples.m != 1:
        return Convexity(None, lam, "for examples of several outputs it is not decided")
    low, high = smallest_eigenvalue(examples, _least_curvatures(problem), lam)
    if lam + low > 0:
        return Convexity(True, lam if low >= -1e-9 * lam else lam + low, "the least curvatures allow no other")
    if isinstance(loss, BuiltIn) and not isinstance(loss, Squared):
        high = smallest_eigenvalue(examples, problem.curvatures(np.zeros(problem.n), np.arange(problem.n)), lam)[1]
    if lam + high < 0 and isinstance(loss, BuiltIn):
        where = "" if isinstance(loss, Squared) else " at w = 0"
        return Convexity(False, lam, f"{where} P has a direction of curvature {lam + high:.3g}".strip())
    if loss.bounded:
        return Convexity(False, lam, f"{type(loss).__name__} is bounded, and no average of bounded losses is convex")
    return Convexity(None, lam, "the curvatures of the single losses do not decide it")


def _least_curvatures(problem: "Problem") -> Floats:
    loss = problem.loss
    weight = np.ones(problem.n) if loss.weight is None else loss.weight
    if isinstance(loss, Squared):
        return weight
    return np.where((weight >= 0) & loss.convex, 0.0, -problem.l)


def smallest_eigenvalue(rows: Rows, weights: Floats, accuracy: float) -> tuple[float, float]:
    """Bounds on the smallest eigenvalue of ``H = (1/n) Σ c_i A_i A_iᵀ``; −∞ below where it was not found.

    For few features from H itself. Otherwise by Lanczos' method, to a thousandth of `accuracy`: the Rayleigh quotient
    of the vector found is an upper bound, and less the length of its residual it is a lower bound on the eigenvalue
    next to it. That this is the smallest one rests on the random start. Both are widened by what rounding may do.

    Examples
    --------
    >>> low, high = smallest_eigenvalue(Rows(np.diag([1.0, 2.0])), np.array([1.0, -1.0]), accuracy=1.0)
    >>> low <= -2.0 <= high, bool(high - low < 1e-12)
    (True, True)
    """
    if (weights >= 0).all():
        return 0.0, math.inf
    size = float(np.abs(weights) @ rows.square_norms) / rows.n  # no eigenvalue is larger than this
    rounding = 16 * _EPSILON * math.sqrt(rows.n) * size
    if rows.d <= _MOST_DENSE:
        value = float(np.linalg.eigvalsh(rows.upper_gram(weights / rows.n, np.arange(rows.n)), UPLO="U")[0])
        return value - rounding, value + rounding

    def product(v: Floats) -> Floats:
        return rows.combine(weights * rows.margins(np.ravel(v)) / rows.n)

    # Shifted, so that ARPACK's tolerance is relative to the size of H and not to an eigenvalue that may be zero.
    shifted = LinearOperator((rows.d, rows.d), matvec=lambda v: product(v) - size * np.ravel(v), dtype=np.float64)
    start = np.random.default_rng(0).normal(size=rows.d)
    tolerance = max(1e-3 * accuracy / size, 1e-12)
    try:
        found = eigsh(shifted, 1, which="SA", v0=start, ncv=_VECTORS, maxiter=_RESTARTS, tol=tolerance)
    except ArpackError:
        return -math.inf, math.inf
    v = found[1][:, 0]
    image = product(v)
    value = float(v @ image)
    return value - float(np.linalg.norm(image - value * v)) - rounding, value + rounding


def announce(problem: "Problem") -> None:
    """Before a run: refuse a P that has no minimum, and warn where nothing is proven of one."""
    found, loss = problem.convexity, problem.loss
    if found.known is True:
        return
    if isinstance(loss, Squared) and found.known is False:
        raise ValueError(
            f"weight is so negative that P has no minimum: {found.reason}; take a larger lam or less negative weights."
        )
    if loss.bounded:  # whoever takes such a loss knows, and the certificate says it
        return
    verdict = "P is not convex" if found.known is False else "whether P is convex was not decided"
    promise = "nothing but the gradient is certified" if found.known is False else "the certificate assumes that it is"
    warnings.warn(f"{verdict} ({found.reason}); {promise}.", ConvexityWarning, stacklevel=users_level())


def users_level(packages: tuple[str, ...] = ("dualfree", "sklearn", "joblib")) -> int:
    """The stacklevel, for the caller, of the first frame outside the packages between."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in packages:
        level, frame = level + 1, frame.f_back
    return level
