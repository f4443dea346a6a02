"""The intercept: not penalised, solved exactly, without centring or copying X.

Take b = centre + κu, where u is the weight of one more feature with the value κ in every row, penalised like the
others. dfSDCA on those examples keeps ``u = (κ/λn) Σ α_i``, and moving the centre to the present b is one step of the
method of multipliers on ``Σ α_i = 0``, the condition that the dual of a free b brings. One such step reduces the error
in b by a factor of about ``λ/(λ + κ²σ)``, σ the curvature of min_w P(w, b) in b, so a step an epoch is plenty.

The certificate trusts none of this. It takes the b that is best for w, so that the gradient bound of the penalised part
holds, and for the duality gap an α that is made feasible by `balance`.

With negative weights there is no α to speak of, and the gradient bound alone is left: ``min_b P(w, b)`` is as strongly
convex as P is in w (see `dualfree.convexity`), and its gradient is that of P at the best b.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.intercepts import best_intercepts
from dualfree.losses.base import Loss
from dualfree.losses.builtin import BuiltIn, Logistic, Squared
from dualfree.losses.softmax import Softmax

_ROUNDS = 60
_NO_BEST = "there is no best intercept"


def balance(a: Floats) -> Floats:
    """An a with ``Σ a_i = 0``: of the positive and the negative entries, the heavier side is scaled down.

    Every conjugate's domain is an interval around or up to zero, so that scaling down does not leave it.

    Examples
    --------
    >>> balance(np.array([3.0, 1.0, -2.0])).tolist()
    [1.5, 0.5, -2.0]
    """
    up, down = float(a[a > 0].sum()), -float(a[a < 0].sum())
    if up == down:
        return a
    heavier, factor = (a > 0, down / up) if up > down else (a < 0, up / down)
    return np.where(heavier, a * factor, a)


def no_best_intercept(loss: Loss) -> str | None:
    """Why, of these weights, some of which are negative, no b may be best; None where one is for every w.

    Far out, ``Σ φ_i(z_i + b)`` grows like ``b² Σ weight_i/2`` for squared losses, and for logistic ones like ``|b|``
    times the weights of one class, so that these sums must be positive.

    Examples
    --------
    >>> from dualfree.losses import Squared
    >>> no_best_intercept(Squared([1.0, 2.0, 6.0], weight=[1.0, -0.5, 1.0])) is None
    True
    >>> print(no_best_intercept(Squared([1.0, 2.0], weight=[1.0, -1.5])))
    the weights add up to -0.5, and below or at 0 there is no best intercept
    """
    weight = loss.weight
    if weight is None or not isinstance(loss, (Squared, Logistic, Softmax)):
        return f"{type(loss).__name__} takes none with an intercept; Squared, Logistic and Softmax do"
    negligible = 1e-12 * float(np.abs(weight).sum())
    if isinstance(loss, Squared):
        total = float(weight.sum())
        return None if total > negligible else f"the weights add up to {total:g}, and below or at 0 {_NO_BEST}"
    for label in np.unique(loss.y):
        total = float(weight[loss.y == label].sum())
        if total <= negligible:
            named = (
                f"class {label:+g}" if isinstance(loss, Logistic) else f"class {loss.classes.tolist()[int(label)]!r}"
            )
            return f"the weights of {named} add up to {total:g}, and below or at 0 {_NO_BEST}"
    return None


def without_intercept(hessian: Floats, free: slice) -> Floats:
    """The Hessian of the minimum over the intercepts, which come last: the Schur complement, its upper triangle.

    Examples
    --------
    >>> without_intercept(np.array([[3.0, 2.0], [0.0, 4.0]]), slice(1, 2)).tolist()
    [[2.0]]
    """
    d = free.start
    if d == len(hessian):
        return hessian
    columns, corner = hessian[:d, d:], np.triu(hessian[d:, d:]) + np.triu(hessian[d:, d:], 1).T
    # What moves no product has no curvature: to add one number to all scores of a softmax, for example.
    inverse = np.linalg.pinv(corner, rcond=1e-12, hermitian=True)
    found = hessian[:d, :d].copy()
    for left, right in zip((columns @ inverse).T, columns.T, strict=True):  # BLAS would start threads for that
        found -= np.multiply.outer(left, right)
    return found


def best_intercept(loss: Loss, z: Floats, start: Any) -> Any:
    """The b that minimises ``Σ φ_i(z_i + b)``: the root of an increasing function, kept in a bracket.

    By Newton's method, or by secants where no curvature is known. With several outputs, one number for each. Where some
    weights are negative the function may fall between its roots; then the b found is a local minimum.

    Examples
    --------
    >>> from dualfree.losses import Squared
    >>> best_intercept(Squared([1.0, 2.0, 6.0]), np.zeros(3), start=0.0)
    3.0
    """
    if loss.outputs is not None:
        return best_intercepts(loss, z, start)
    start = float(np.asarray(start).item())
    rates = _native_rates(loss, z) if loss.native is not None and isinstance(loss, BuiltIn) else _rates(loss, z)
    return root_of_slopes(rates, float(loss.l.sum()), start)


def root_of_slopes(rates: "Rates", steepest: float, start: float, accuracy: float = 4e-16) -> float:
    """The b where the slope that `rates` gives is zero, or no larger than rounding, `accuracy`, may have made of it.

    The slope changes at most at the rate `steepest`, so that a first move cannot overshoot.
    """
    low, high, longest, reach = -np.inf, np.inf, np.inf, 0.0
    b, (at_b, size, rate) = start, rates(start, start)
    for _ in range(_ROUNDS):
        if abs(at_b) <= accuracy * size or steepest == 0:
            break
        low, high = (low, b) if at_b > 0 else (b, high)
        rate = rate if rate > 1e-12 * steepest else steepest  # where all losses are flat, curvature says nothing
        move, bracketed = -at_b / rate, np.isfinite(high - low)
        if bracketed and not (low < b + move < high and abs(move) <= longest):
            move = 0.5 * (low + high) - b
        elif not bracketed and reach > 0:  # far out, where the slope hardly changes: ever longer moves, but no leaps
            move = float(np.copysign(np.clip(abs(move), reach, 8 * reach), move))
        if b + move == b:
            break
        reach = 2 * abs(move)
        longest = 0.5 * abs(move) if bracketed else np.inf
        b, before = b + move, b
        at_b, size, rate = rates(b, before)
    return b


Rates = Callable[[float, float], tuple[float, float, float]]


def _native_rates(loss: Loss, z: Floats) -> Rates:
    """Slope, its size without cancellation, and curvature at b."""
    return lambda b, before: kernels.slope_sums(loss.native, z, b)


def _rates(loss: Loss, z: Floats) -> Rates:
    """The same where no curvature is known: that of the last two points."""
    slopes: dict[float, float] = {}

    def rates(b: float, before: float) -> tuple[float, float, float]:
        each = loss.weighted(loss.derivative(z + b, loss.y))
        slopes[b] = float(each.sum())
        rate = (slopes[b] - slopes[before]) / (b - before) if b != before else 0.0
        return slopes[b], float(np.abs(each).sum()), rate

    return rates
