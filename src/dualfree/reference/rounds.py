"""One round of dfSDCA on several partitions, literally: the local subproblems of CoCoA⁺ and the sum of their moves."""

from collections.abc import Sequence

import numpy as np

from dualfree.arrays import Floats
from dualfree.reference.algorithm import implicit_step
from dualfree.reference.problem import ReferenceProblem


def local_moves(problem: ReferenceProblem, visits: Sequence[int], sigma: float, alpha: Floats) -> tuple[Floats, Floats]:
    """What one partition proposes from α: its moves of α, and its ``Δw = (1/λn) Σ A_i move_i``.

    From ``v = w(α)``, for each visit i: ``α⁺ = −φ_i'(A_iᵀv + σ'(‖A_i‖²/λn)(α⁺ − α_i))``, then
    ``v ← v + (σ'/λn) A_i (α⁺ − α_i)``. The σ' makes up for what the other partitions do at the same time (Ma, Smith,
    Jaggi, Jordan, Richtárik, Takáč 2015, the subproblem G_k^σ').

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(2), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> moves, change = local_moves(problem, [0], 1.0, np.zeros(2))
    >>> moves.tolist(), change.tolist()
    ([0.5, 0.0], [0.5, 0.0])
    """
    inverse = 1 / (problem.lam * problem.n)
    after, v = np.array(alpha, dtype=np.float64), problem.primal(alpha)
    for i in visits:
        curvature = sigma * inverse * float(problem.X[i] @ problem.X[i])
        moved = implicit_step(problem, i, float(problem.X[i] @ v), after[i], curvature) - after[i]
        after[i] += moved
        v = v + sigma * inverse * problem.X[i] * moved
    moves = after - alpha
    return moves, problem.primal(moves)
