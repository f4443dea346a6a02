"""Rounds of dfSDCA in which each part moves a copy of w of its own, literally."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats
from dualfree.reference.algorithm import implicit_step
from dualfree.reference.problem import ReferenceProblem


def dfsdca_copies(
    problem: ReferenceProblem, merges: Sequence[Sequence[ArrayLike]], alpha: Floats, sigma: float = 1.0
) -> tuple[Floats, Floats, float]:
    """w, α and σ after the visits of `merges`, each a list of what each part visits until copies are added up.

    A part's visits move its copy as if λ were σ times smaller, and its move m_t is a σ-th of that. With
    ``r = ‖Σ m_t‖²/Σ ‖m_t‖²``, w moves by ``γ Σ m_t`` and α by γ times what the visits moved it, ``γ = min(1, σ/r)``.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.ones((2, 1)), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> w, alpha, sigma = dfsdca_copies(problem, [[[0], [1]]], np.zeros(2))  # two moves that are one and the same
    >>> w.tolist(), alpha.tolist(), round(sigma, 3)
    ([0.5], [0.25, 0.25], 2.2)
    """
    inverse = 1 / (problem.lam * problem.n)
    alpha, w = np.array(alpha, dtype=np.float64), problem.primal(alpha)
    for parts in merges:
        moves, before = [], alpha.copy()
        for visits in parts:
            copy = w.copy()
            for i in np.asarray(visits, dtype=int):
                row = problem.X[i]
                after = implicit_step(problem, i, float(row @ copy), alpha[i], sigma * inverse * float(row @ row))
                copy = copy + sigma * inverse * (after - alpha[i]) * row
                alpha[i] = after
            moves.append((copy - w) / sigma)
        together, apart = np.sum(moves, axis=0), sum(float(move @ move) for move in moves)
        ratio = float(together @ together) / apart if apart > 0 else 1.0
        gamma = min(1.0, sigma / ratio)
        w, alpha = w + gamma * together, before + gamma * (alpha - before)
        sigma = max(1.0, 1.1 * ratio, 1 + 0.9 * (sigma - 1))
    return w, alpha, sigma
