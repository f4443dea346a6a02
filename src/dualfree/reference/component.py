"""One inner loop of shift-and-invert for the leading eigenvector, as dense algebra."""

import numpy as np

from dualfree.arrays import Floats, Indices


def shift_and_invert(rows: Floats, p: Floats, v: Floats, shift: float, step: float, indices: Indices) -> Floats:
    """SVRG for ``(μI − C)w = v``, from its anchor ``v/(μ − θ)``; returns ``(μ − θ)w``.

    ``C = (1/n) Σ a_i a_iᵀ`` and ``θ = vᵀCv`` (Garber and Hazan 2015). For each drawn i, which has probability p_i,
    ``w ← w − h (μ(w − x) − (1/(n p_i)) a_i a_iᵀ(w − x) + (μx − Cx − v))`` with x the anchor.

    Examples
    --------
    >>> rows, v = np.eye(2), np.array([1.0, 0.0])
    >>> shift_and_invert(rows, np.full(2, 0.5), v, 1.0, 0.1, np.array([0, 1])).tolist()
    [1.0, 0.0]
    """
    n = len(rows)
    C = rows.T @ rows / n
    gap = shift - v @ C @ v
    x = v / gap
    w = x.copy()
    for i in indices:
        stochastic = shift * (w - x) - rows[i] * (rows[i] @ (w - x)) / (n * p[i])
        w = w - step * (stochastic + (shift * x - C @ x - v))
    return np.asarray(gap * w)
