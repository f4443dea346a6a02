"""QUARTZ, SDNA, AdaSDCA's probabilities and SDCA without duality, as literal loops."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats
from dualfree.reference.algorithm import implicit_step
from dualfree.reference.problem import ReferenceProblem


def quartz(
    problem: ReferenceProblem, batches: Sequence[ArrayLike], p: Floats, theta: float, alpha: Floats
) -> tuple[Floats, Floats]:
    """QUARTZ, option II, of Qu, Richtárik and Zhang ("Quartz: Randomized dual coordinate ascent", 2015, Algorithm 1).

    ``w ← (1 − θ)w + θᾱ``, ``α_i ← (1 − θ/p_i)α_i − (θ/p_i)φ_i'(A_iᵀw)`` for i of the batch, ``ᾱ = (1/λn) Σ A_i α_i``.
    Starts at ``w = ᾱ``; returns (w, α).

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(2), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> w, alpha = quartz(problem, [[0], [1]], np.full(2, 0.5), 0.25, np.zeros(2))
    >>> w.tolist(), alpha.tolist()
    ([0.125, 0.0], [0.5, 0.5])
    """
    alpha = np.array(alpha, dtype=np.float64)
    w = problem.primal(alpha)
    for batch in batches:
        w = (1 - theta) * w + theta * problem.primal(alpha)
        for i in np.asarray(batch, dtype=int):
            step = theta / p[i]
            alpha[i] = (1 - step) * alpha[i] - step * problem.derivative(i, problem.X[i] @ w)
    return w, alpha


def sdna(problem: ReferenceProblem, batches: Sequence[ArrayLike], alpha: Floats) -> tuple[Floats, Floats]:
    """SDNA of Qu, Richtárik, Takáč and Fercoq (2016), Method 2: D is maximised over the α_i of each batch.

    The maximum is found by maximising over one α_i after the other, each exactly, until none moves: slow, and D never
    falls. Returns (w, α).

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.ones((2, 1)), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> w, alpha = sdna(problem, [[0, 1]], np.zeros(2))
    >>> w.round(9).tolist(), alpha.round(9).tolist()
    ([0.666666667], [0.333333333, 0.333333333])
    """
    n, lam = problem.n, problem.lam
    alpha = np.array(alpha, dtype=np.float64)
    w = problem.primal(alpha)
    for batch in batches:
        for _ in range(10_000):
            largest = 0.0
            for i in np.asarray(batch, dtype=int):
                x = problem.X[i]
                move = implicit_step(problem, i, float(x @ w), alpha[i], float(x @ x) / (lam * n)) - alpha[i]
                alpha[i] += move
                w = w + x * move / (lam * n)
                largest = max(largest, abs(move))
            if largest <= 1e-14:
                break
    return w, alpha


def adaptive_probabilities(problem: ReferenceProblem, w: Floats, alpha: Floats) -> Floats:
    """``p_i ∝ κ_i √(‖A_i‖² + nλ/l_i)`` with ``κ_i = |α_i + φ_i'(A_iᵀw)|``: Csiba, Qu and Richtárik (2015), Section 4.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.diag([1.0, 1.0]), np.array([1.0, 3.0]), np.ones(2), squared(), lam=0.5)
    >>> adaptive_probabilities(problem, np.zeros(2), np.zeros(2)).tolist()
    [0.25, 0.75]
    """
    n, scores = problem.n, np.zeros(problem.n)
    for i in range(n):
        kappa = abs(alpha[i] + problem.derivative(i, problem.X[i] @ w))
        if kappa > 0:
            scores[i] = kappa * np.sqrt(problem.X[i] @ problem.X[i] + n * problem.lam / problem.l[i])
    return np.asarray(scores / scores.sum())


def sdca_without_duality(
    problem: ReferenceProblem, indices: Sequence[int], eta: float, alpha: Floats
) -> tuple[Floats, Floats]:
    """Dual-Free SDCA of Shalev-Shwartz ("SDCA without duality", 2015), in its own notation.

    ``α_i ← α_i − ηλn (φ_i'(A_iᵀw) + α_i)`` and ``w ← w − η (φ_i'(A_iᵀw) + α_i) A_i`` for the drawn i. Returns (w, α).
    """
    alpha = np.array(alpha, dtype=np.float64)
    w = problem.primal(alpha)
    for i in indices:
        v = problem.derivative(i, problem.X[i] @ w) + alpha[i]
        alpha[i] -= eta * problem.lam * problem.n * v
        w = w - eta * v * problem.X[i]
    return w, alpha
