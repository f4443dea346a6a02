"""Whether P is convex although single φ_i are not: decided where that can be, and said where it cannot.

Every φ_i'' is at least some number κ_i: the weight for squared losses, zero for a convex φ_i, ``−l_i`` otherwise. So P
is σ-strongly convex with ``σ = λ + λ_min((1/n) Σ κ_i A_i A_iᵀ)``, and for squared losses with no larger number. With
several outputs that is the same: every ``∇²φ_i`` is at least ``κ_i I``.

An intercept b has no λ. What must be convex is ``min_b P(w, b)``, and for that ``Σ κ_i`` must be positive; then the
rows are taken around their mean with the weights κ_i: ``σ = λ + λ_min((1/n) Σ κ_i (x_i − x̄)(x_i − x̄)ᵀ)``. Only squared
losses have such κ_i where some weight is negative.
"""

import math
import sys
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dualfree.arrays import Floats
from dualfree.eigenvalues import MOST_DENSE, smallest_eigenvalue
from dualfree.examples import Blocks, MultiOutput, Rows
from dualfree.intercept import without_intercept
from dualfree.losses.builtin import BuiltIn, Squared

if TYPE_CHECKING:
    from dualfree.problem import Problem


class ConvexityWarning(UserWarning):
    """P may not be convex, so that what is said of its minimum rests on an assumption."""


class Convexity(NamedTuple):
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
    rows = _rows(examples)
    low, high = smallest_eigenvalue(rows, _for_rows(problem, _least_curvatures(problem)), lam)
    if lam + low > 0:
        return Convexity(True, lam if low >= -1e-9 * lam else lam + low, "the least curvatures allow no other")
    if isinstance(loss, BuiltIn) and not isinstance(loss, Squared):
        high = _smallest_at_zero(problem, rows)
    if lam + high < 0 and isinstance(loss, BuiltIn):
        where = "" if isinstance(loss, Squared) else " at w = 0"
        return Convexity(False, lam, f"{where} P has a direction of curvature {lam + high:.3g}".strip())
    if loss.bounded:
        return Convexity(False, lam, f"{type(loss).__name__} is bounded, and no average of bounded losses is convex")
    if problem.intercept:
        reason = "far away an intercept lets losses of negative weight bend it down, unless equal rows outweigh them"
        return Convexity(None, lam, reason)
    return Convexity(None, lam, "the curvatures of the single losses do not decide it")


def _rows(examples: Rows) -> Rows:
    """The rows of X, with a constant feature where the examples have one."""
    if isinstance(examples, MultiOutput):
        return Rows(examples.X, constant=examples.constant_value > 0)
    return examples.rows if isinstance(examples, Blocks) else examples


def _for_rows(problem: "Problem", curvatures: Floats) -> Floats:
    """Numbers for the examples as numbers for the rows of X; the sum over these is divided by their own number."""
    owners = problem.examples.owners
    return np.asarray(curvatures[owners] * (len(owners) / problem.n))


def _smallest_at_zero(problem: "Problem", rows: Rows) -> float:
    """An upper bound on the smallest eigenvalue of the Hessian of the average loss at w = 0."""
    zero = np.zeros(problem.examples.total)
    if not problem.loss.vector:
        return smallest_eigenvalue(rows, problem.curvatures(zero), problem.lam)[1]
    if problem.d > MOST_DENSE:
        return math.inf
    values = np.linalg.eigvalsh(without_intercept(problem.hessian(zero), problem.free), UPLO="U")
    return float(values[0]) - problem.lam + 1e-12 * float(np.abs(values).max())


def _least_curvatures(problem: "Problem") -> Floats:
    loss = problem.loss
    weight = np.ones(problem.n) if loss.weight is None else loss.weight
    if isinstance(loss, Squared):
        return weight
    return np.where((weight >= 0) & loss.convex, 0.0, -problem.l)


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
    promise = (
        "nothing but the gradient is certified"
        if found.known is False
        else "the certificate assumes that the average loss is convex between the answer and the minimum"
    )
    warnings.warn(f"{verdict} ({found.reason}); {promise}.", ConvexityWarning, stacklevel=users_level())


def users_level(packages: tuple[str, ...] = ("dualfree", "sklearn", "joblib")) -> int:
    """The stacklevel, for the caller, of the first frame outside the packages between."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in packages:
        level, frame = level + 1, frame.f_back
    return level
