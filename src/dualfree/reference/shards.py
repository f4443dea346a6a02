"""dfSDCA in batches whose steps become smaller where they were too long, literally."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats
from dualfree.reference.algorithm import implicit_step
from dualfree.reference.problem import ReferenceProblem


def cautious_dfsdca(
    problem: ReferenceProblem,
    batches: Sequence[ArrayLike],
    omega: Floats,
    tau: int,
    alpha: Floats,
    caution: float = 1.0,
) -> tuple[Floats, Floats, float]:
    """Algorithm 1 with implicit steps and ``v_i = Σ_j (1 + c (ω_j − 1)(τ − 1)/(n − 1)) A_ij²``; w, α and c at the end.

    After the first batch, and every 16th from there on, ``‖Σ A_i δ_i‖²`` and the two parts of ``Σ v_i δ_i²`` are
    added to sums that forget a tenth each time; where the first sum is larger than the others allow, c becomes 1.25
    times what would have been enough.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.ones((2, 1)), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> w, alpha, c = cautious_dfsdca(problem, [[0, 1]], np.full(1, 2.0), 2, np.zeros(2))
    >>> w.round(3).tolist(), alpha.round(3).tolist(), c
    ([0.667], [0.333, 0.333], 1.0)
    """
    n, inverse = problem.n, 1 / (problem.lam * problem.n)
    alpha, w = np.array(alpha, dtype=np.float64), problem.primal(alpha)
    overlap = own = shared = 0.0
    for b, batch in enumerate(batches):
        deltas = {}
        for i in np.asarray(batch, dtype=int):
            squares = problem.X[i] ** 2
            v = squares.sum() + caution * ((omega - 1) * squares).sum() * (tau - 1) / max(1, n - 1)
            deltas[i] = implicit_step(problem, i, float(problem.X[i] @ w), alpha[i], v * inverse) - alpha[i]
        together = sum((problem.X[i] * delta for i, delta in deltas.items()), np.zeros(problem.X.shape[1]))
        for i, delta in deltas.items():
            alpha[i] += delta
        w = w + inverse * together
        if b % 16 == 0 and b + 1 < len(batches):
            squares_of = {i: problem.X[i] ** 2 for i in deltas}
            overlap = 0.9 * overlap + float(together @ together)
            own = 0.9 * own + sum(delta**2 * squares_of[i].sum() for i, delta in deltas.items())
            shared = 0.9 * shared + sum(
                delta**2 * ((omega - 1) * squares_of[i]).sum() * (tau - 1) / max(1, n - 1)
                for i, delta in deltas.items()
            )
            if overlap > own + caution * shared and shared > 0:
                caution = 1.25 * (overlap - own) / shared
    return w, alpha, caution
