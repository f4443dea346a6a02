"""The smallest eigenvalue of a weighted sum of the rows' products, between bounds."""

import math

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from dualfree.arrays import Floats
from dualfree.examples import Rows
from dualfree.intercept import without_intercept

MOST_DENSE = 128  # features up to which the matrix is formed
_VECTORS, _RESTARTS = 32, 40  # of Lanczos' method: at most some thousand passes
_EPSILON = float(np.finfo(np.float64).eps)


def smallest_eigenvalue(rows: Rows, weights: Floats, accuracy: float) -> tuple[float, float]:
    """Bounds on the smallest eigenvalue of ``H = (1/n) Σ c_i A_i A_iᵀ``; −∞ below where it was not found.

    Where the rows have a constant feature, H is that of the others, around their mean with the weights c_i. That is the
    least over the constant's weight, which exists where ``Σ c_i`` is positive; −∞ otherwise.

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
    d, total = rows.d, float(weights.sum())
    if rows.constant_value > 0:
        if total <= 0:
            return -math.inf, math.inf
        d -= 1
        size += float(np.sum((rows.combine(weights)[:d]) ** 2)) / (total * rows.n)
    rounding = 16 * _EPSILON * math.sqrt(rows.n) * size
    if rows.d <= MOST_DENSE:
        gram = rows.upper_gram(weights / rows.n, np.arange(rows.n))
        value = float(np.linalg.eigvalsh(without_intercept(gram, slice(d, rows.d)), UPLO="U")[0])
        return value - rounding, value + rounding

    def product(v: Floats) -> Floats:
        padded = np.zeros(rows.d)
        padded[:d] = np.ravel(v)
        margins = rows.margins(padded)
        if d < rows.d:
            margins -= (weights @ margins) / total
        return rows.combine(weights * margins / rows.n)[:d]

    # Shifted, so that ARPACK's tolerance is relative to the size of H and not to an eigenvalue that may be zero.
    shifted = LinearOperator((d, d), matvec=lambda v: product(v) - size * np.ravel(v), dtype=np.float64)
    start = np.random.default_rng(0).normal(size=d)
    tolerance = max(1e-3 * accuracy / size, 1e-12)
    try:
        found = eigsh(shifted, 1, which="SA", v0=start, ncv=_VECTORS, maxiter=_RESTARTS, tol=tolerance)
    except ArpackError:
        return -math.inf, math.inf
    v = found[1][:, 0]
    image = product(v)
    value = float(v @ image)
    return value - float(np.linalg.norm(image - value * v)) - rounding, value + rounding
