"""NSync, UCDC, Hydra and ALPHA: descent along features, as literal loops over partial derivatives of P."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats
from dualfree.reference.overapproximation import eso_parameters
from dualfree.reference.problem import ReferenceProblem
from dualfree.reference.samplings import ReferenceSampling


def feature_curvatures(problem: ReferenceProblem, sampling: ReferenceSampling) -> Floats:
    """``v_j = Σ_i β_ji (l_i/n) X_ij² + λ``: an ESO of a sampling of features for P.

    ``∇²P ⪯ (1/n) XᵀDiag(l)X + λI``, so the "examples" of the sampling are the columns of ``Diag(l/n)^{1/2} X``.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> from dualfree.reference.samplings import serial
    >>> problem = ReferenceProblem(np.diag([1.0, 2.0]), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> feature_curvatures(problem, serial([0.5, 0.5])).round(9).tolist()
    [1.0, 2.5]
    """
    columns = (np.sqrt(problem.l / problem.n)[:, None] * problem.X).T
    return eso_parameters(columns, sampling) + problem.lam


def nsync(problem: ReferenceProblem, sets: Sequence[ArrayLike], v: Floats, w: Floats) -> Floats:
    """NSync of Richtárik and Takáč ("On optimal probabilities in stochastic coordinate descent methods", 2013).

    ``w_j ← w_j − ∇_j P(w)/v_j`` for all j of a set, all at the same w. Hydra ("Distributed coordinate descent method
    for learning with big data", 2013, Algorithm 1) is this loop with the sets of c machines.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(2), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> nsync(problem, [[0, 1]], np.ones(2), np.zeros(2)).tolist()
    [0.5, 0.5]
    """
    w = np.array(w, dtype=np.float64)
    for features in sets:
        gradient = problem.gradient(w)
        for j in np.asarray(features, dtype=int):
            w[j] -= gradient[j] / v[j]
    return w


def ucdc(problem: ReferenceProblem, indices: Sequence[int], w: Floats) -> Floats:
    """UCDC of Richtárik and Takáč ("Iteration complexity of randomized block-coordinate descent methods", 2014).

    Their composite form, with the losses as the smooth part f and ``λw_j²/2`` as the separable one: ``w_j ← w_j + t``
    with t the minimiser of ``∇_j f(w) t + (L_j/2) t² + λ(w_j + t)²/2`` and ``L_j = (1/n) Σ l_i X_ij²``.
    """
    w, n, lam = np.array(w, dtype=np.float64), problem.n, problem.lam
    for j in indices:
        slope = sum(problem.X[i, j] * problem.derivative(i, problem.X[i] @ w) for i in range(n)) / n
        smooth = sum(problem.l[i] * problem.X[i, j] ** 2 for i in range(n)) / n
        w[j] -= (slope + lam * w[j]) / (smooth + lam)
    return w


def alpha(problem: ReferenceProblem, sets: Sequence[ArrayLike], p: Floats, v: Floats, w: Floats, period: int) -> Floats:
    """ALPHA of Qu and Richtárik ("Coordinate descent with arbitrary sampling I", 2014, Algorithm 1), smooth case.

    ``y = (1 − θ)x + θg``; ``g_j ← g_j − p_j/(θv_j) ∇_j P(y)`` for j of the set; ``x = y + (θ/p_j)Δg_j`` there;
    ``θ ← (√(θ⁴ + 4θ²) − θ²)/2``. Every `period` steps g = x and θ = 1. Returns x.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(2), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> alpha(problem, [[0, 1]], np.ones(2), np.ones(2), np.zeros(2), period=9).tolist()
    [0.5, 0.5]
    """
    x = np.array(w, dtype=np.float64)
    for k, features in enumerate(sets):
        if k % period == 0:
            theta, g = 1.0, x.copy()
        y = (1 - theta) * x + theta * g
        x, gradient = y.copy(), problem.gradient(y)
        for j in np.asarray(features, dtype=int):
            move = -p[j] / (theta * v[j]) * gradient[j]
            g[j] += move
            x[j] += theta / p[j] * move
        theta = (np.sqrt(theta**4 + 4 * theta**2) - theta**2) / 2
    return x
