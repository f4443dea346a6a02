"""Rounds of dfSDCA in which each part moves a copy of w of its own, literally."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats
from dualfree.reference.algorithm import implicit_step
from dualfree.reference.problem import ReferenceProblem


def dfsdca_copies(
    problem: ReferenceProblem,
    blocks: Sequence[Sequence[Sequence[ArrayLike]]],
    alpha: Floats,
    sigma: float = 1.0,
    popular: ArrayLike = (),
) -> tuple[Floats, Floats, float]:
    """w, α and σ after the visits of `blocks`, each a list of stretches, each a list of what each part visits in it.

    A part's visits move its copy as if λ were σ times smaller, and its move is a σ-th of that. After a stretch the
    moves of the features `popular` are added up, and after the last of a block those of all: the moves m are then those
    of each stretch for themselves, or of the block. With ``r = Σ ‖Σ_t m_t‖²/Σ Σ_t ‖m_t‖²``, w moves by γ times what
    all added up to, and α by γ times what the visits moved it, where γ is 1 if r is at most σ, and else
    ``1 − (r − σ) Σ Σ_t ‖m_t‖²/‖Δw‖²``, but at least 0.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.ones((2, 1)), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> w, alpha, sigma = dfsdca_copies(problem, [[[[0], [1]]]], np.zeros(2))  # two moves that are one and the same
    >>> w.tolist(), alpha.tolist(), round(sigma, 3)
    ([0.5], [0.25, 0.25], 2.2)
    """
    alpha, w = np.array(alpha, dtype=np.float64), problem.primal(alpha)
    shared = np.isin(np.arange(len(w)), np.asarray(popular, dtype=int))
    for stretches in blocks:
        began, before, apart, together = w.copy(), alpha.copy(), 0.0, 0.0
        copies = [w.copy() for _ in stretches[0]]
        for number, parts in enumerate(stretches, start=1):
            for copy, visits in zip(copies, parts, strict=True):
                _visit(problem, visits, sigma, copy, alpha)
            heard = shared | (number == len(stretches))
            moves = [np.where(heard, copy - w, 0.0) / sigma for copy in copies]
            whole = np.sum(moves, axis=0)
            apart, together = apart + sum(float(move @ move) for move in moves), together + float(whole @ whole)
            w = w + whole
            copies = [np.where(heard, w, copy) for copy in copies]
        ratio, way = together / apart if apart > 0 else 1.0, w - began
        gamma = max(0.0, 1 - (ratio - sigma) * apart / float(way @ way)) if ratio > sigma else 1.0
        w, alpha = began + gamma * way, before + gamma * (alpha - before)
        sigma = max(1.0, 1.1 * ratio, 1 + 0.9 * (sigma - 1))
    return w, alpha, sigma


def _visit(problem: ReferenceProblem, visits: ArrayLike, sigma: float, copy: Floats, alpha: Floats) -> None:
    """Move a copy of w and α in place."""
    inverse = 1 / (problem.lam * problem.n)
    for i in np.asarray(visits, dtype=int):
        row = problem.X[i]
        after = implicit_step(problem, i, float(row @ copy), alpha[i], sigma * inverse * float(row @ row))
        copy += sigma * inverse * (after - alpha[i]) * row
        alpha[i] = after
