"""Each sampling as three formulas: ``p_i``, ``Prob(i, k ∈ Ŝ)`` and the ESO weights ``β_ij``.

``J`` below is the set ``J_j`` of the examples with a nonzero in a feature j, ω_j its size.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats

Support = frozenset[int]
PartitionOfExamples = Sequence[Sequence[int]]


@dataclass(frozen=True)
class ReferenceSampling:
    """A random set Ŝ.

    Attributes
    ----------
    p : array of length n
        ``Prob(i ∈ Ŝ)``.
    pairs : array of shape (n, n)
        ``Prob(i ∈ Ŝ and k ∈ Ŝ)``; its diagonal is p.
    beta : function of (i, J_j)
        ``β_ij``, with which ``v_i = Σ_j β_ij A_ij²`` is an ESO.
    """

    p: Floats
    pairs: Floats
    beta: Callable[[int, Support], float]


def supports(X: Floats) -> list[Support]:
    """``J_j`` for each feature j.

    Examples
    --------
    >>> [sorted(J) for J in supports(np.array([[1.0, 0.0], [2.0, 3.0]]))]
    [[0, 1], [1]]
    """
    return [frozenset(np.flatnonzero(X[:, j]).tolist()) for j in range(X.shape[1])]


def serial(p: ArrayLike) -> ReferenceSampling:
    """One example, i with probability p_i: ``β_ij = 1``.

    Examples
    --------
    >>> serial([0.25, 0.75]).pairs.tolist()
    [[0.25, 0.0], [0.0, 0.75]]
    """
    p = np.asarray(p, dtype=np.float64)
    return ReferenceSampling(p, np.diag(p), lambda i, J: 1.0)


def nice(n: int, tau: int) -> ReferenceSampling:
    """τ examples, every subset equally likely: ``β_ij = 1 + (ω_j − 1)(τ − 1)/max(1, n − 1)``.

    Examples
    --------
    >>> nice(4, tau=2).p.tolist(), float(nice(4, tau=3).pairs[0, 1])
    ([0.5, 0.5, 0.5, 0.5], 0.5)
    """
    pairs = _pairs(n, lambda i, k: tau / n if i == k else tau * (tau - 1) / (n * (n - 1)))
    return ReferenceSampling(np.diag(pairs), pairs, lambda i, J: 1 + (len(J) - 1) * (tau - 1) / max(1, n - 1))


def independent(p: ArrayLike) -> ReferenceSampling:
    """Each example by its own coin: ``β_ij = 1 − p_i + Σ_{k∈J_j} p_k``.

    Examples
    --------
    >>> independent([0.5, 1.0]).pairs.tolist()
    [[0.5, 0.5], [0.5, 1.0]]
    """
    p = np.asarray(p, dtype=np.float64)
    pairs = _pairs(len(p), lambda i, k: p[i] if i == k else p[i] * p[k])
    return ReferenceSampling(p, pairs, lambda i, J: 1 - p[i] + sum(p[k] for k in J))


def chunks(groups: PartitionOfExamples, tau: int) -> ReferenceSampling:
    """τ of k chunks, every choice equally likely: ``β_ij = c_jG · (1 + (κ_j − 1)(τ − 1)/max(1, k − 1))``.

    ``c_jG = |J_j ∩ G|`` for the chunk G of i, and κ_j is the number of chunks that touch j.

    Examples
    --------
    >>> chunks([[0, 1], [2]], tau=1).pairs.tolist()
    [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.5]]
    """
    k, of = len(groups), _group_of(groups)
    both = tau * (tau - 1) / (k * (k - 1)) if k > 1 else 0.0
    pairs = _pairs(len(of), lambda a, b: tau / k if of[a] == of[b] else both)

    def beta(i: int, J: Support) -> float:
        return _inside(J, groups[of[i]]) * (1 + (_touching(J, groups) - 1) * (tau - 1) / max(1, k - 1))

    return ReferenceSampling(np.diag(pairs), pairs, beta)


def partition(groups: PartitionOfExamples, q: ArrayLike) -> ReferenceSampling:
    """One block of a partition, G with probability q_G: ``β_ij = |J_j ∩ G(i)|``.

    Examples
    --------
    >>> partition([[0, 1], [2]], [0.25, 0.75]).p.tolist()
    [0.25, 0.25, 0.75]
    """
    of, probability = _group_of(groups), np.asarray(q, dtype=np.float64)
    pairs = _pairs(len(of), lambda a, b: probability[of[a]] if of[a] == of[b] else 0.0)
    return ReferenceSampling(np.diag(pairs), pairs, lambda i, J: _inside(J, groups[of[i]]))


def distributed(groups: PartitionOfExamples, tau: int) -> ReferenceSampling:
    """τ-nice in each part, independently; part l has s_l examples.

    ``β_ij = 1 + (ω_jl − 1)(τ − 1)/max(1, s_l − 1) + (ω'_j − 1)(τ/s_l) ω_jl``, with
    ``ω_jl = |J_j ∩ part l|`` for the part l of i, and ω'_j the number of parts that touch j.

    Examples
    --------
    >>> distributed([[0, 1], [2, 3]], tau=1).pairs[0].tolist()
    [0.5, 0.0, 0.25, 0.25]
    """
    of = _group_of(groups)
    size = [len(group) for group in groups]

    def together(a: int, b: int) -> float:
        s, t = size[of[a]], size[of[b]]
        if a == b:
            return tau / s
        return tau * (tau - 1) / (s * (s - 1)) if of[a] == of[b] else tau / s * tau / t

    def beta(i: int, J: Support) -> float:
        s, omega = size[of[i]], _inside(J, groups[of[i]])
        return 1 + (omega - 1) * (tau - 1) / max(1, s - 1) + (_touching(J, groups) - 1) * (tau / s) * omega

    pairs = _pairs(len(of), together)
    return ReferenceSampling(np.diag(pairs), pairs, beta)


def buckets(groups: PartitionOfExamples, p: ArrayLike) -> ReferenceSampling:
    """One example of each bucket, i with probability p_i: ``β_ij = 1 + (ω'_j − 1) Σ_{k∈J_j∩bucket(i)} p_k``.

    Examples
    --------
    >>> buckets([[0, 1], [2]], [0.25, 0.75, 1.0]).pairs[0].tolist()
    [0.25, 0.0, 0.25]
    """
    of, probability = _group_of(groups), np.asarray(p, dtype=np.float64)

    def together(a: int, b: int) -> float:
        if a == b:
            return float(probability[a])
        return 0.0 if of[a] == of[b] else float(probability[a] * probability[b])

    def beta(i: int, J: Support) -> float:
        mass = sum(probability[k] for k in groups[of[i]] if k in J)
        return float(1 + (_touching(J, groups) - 1) * mass)

    return ReferenceSampling(probability, _pairs(len(of), together), beta)


def set_list(n: int, sets: Sequence[Sequence[int]], q: ArrayLike) -> ReferenceSampling:
    """Set r with probability q_r; the fall-back ``β_ij = min(ω_j, τ)`` with ``τ = max_r |S_r|``.

    Examples
    --------
    >>> set_list(3, [[0, 1], [1, 2]], [0.5, 0.5]).p.tolist()
    [0.5, 1.0, 0.5]
    """
    probability = np.asarray(q, dtype=np.float64)
    pairs = _pairs(n, lambda a, b: float(sum(x for x, s in zip(probability, sets, strict=True) if a in s and b in s)))
    tau = max(len(s) for s in sets)
    return ReferenceSampling(np.diag(pairs), pairs, lambda i, J: float(min(len(J), tau)))


def _pairs(n: int, together: Callable[[int, int], float]) -> Floats:
    return np.array([[together(i, k) for k in range(n)] for i in range(n)], dtype=np.float64)


def _group_of(groups: PartitionOfExamples) -> dict[int, int]:
    return {i: g for g, group in enumerate(groups) for i in group}


def _inside(J: Support, group: Sequence[int]) -> float:
    return float(sum(i in J for i in group))


def _touching(J: Support, groups: PartitionOfExamples) -> int:
    return sum(any(i in J for i in group) for group in groups)
