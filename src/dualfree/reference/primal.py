"""The primal stochastic methods as literal loops over gradients of ``f_i(w) = φ_i(A_iᵀw) + (λ/2)‖w‖²``."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats
from dualfree.reference.problem import ReferenceProblem


def smoothness(problem: ReferenceProblem) -> float:
    """``L = max_i l_i‖A_i‖² + λ``: every f_i is L-smooth.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> smoothness(ReferenceProblem(np.diag([1.0, 2.0]), np.ones(2), np.ones(2), squared(), lam=0.5))
    4.5
    """
    return float(max(problem.l[i] * (problem.X[i] @ problem.X[i]) for i in range(problem.n)) + problem.lam)


def sgd(problem: ReferenceProblem, indices: Sequence[int], step: float, w: Floats) -> Floats:
    """``w ← w − η_t ∇f_i(w)`` with ``η_t = step/(1 + step·λt)``, t = 0, 1, ...

    Robbins and Monro (1951), with the 1/(λt) of Pegasos in the long run.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(2), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> sgd(problem, [0, 1], 0.5, np.zeros(2)).tolist()
    [0.4, 0.4]
    """
    for t, i in enumerate(indices):
        eta = step / (1 + step * problem.lam * t)
        w = w - eta * (_loss_gradient(problem, i, w) + problem.lam * w)
    return w


def sag(problem: ReferenceProblem, indices: Sequence[int], step: float, w: Floats, table: Floats) -> Floats:
    """Algorithm 1 of Schmidt, Le Roux and Bach ("Minimizing finite sums with the SAG"), with λw exact.

    ``y_i ← φ_i'(A_iᵀw) A_i`` for the drawn i, then ``w ← w − step ((1/n) Σ y_k + λw)``. `table` holds the numbers t_k
    with ``y_k = t_k A_k`` at the start.
    """
    y = table[:, None] * problem.X
    for i in indices:
        y[i] = _loss_gradient(problem, i, w)
        w = w - step * (y.sum(axis=0) / problem.n + problem.lam * w)
    return w


def saga(problem: ReferenceProblem, indices: Sequence[int], step: float, w: Floats, table: Floats) -> Floats:
    """SAGA of Defazio, Bach and Lacoste-Julien (2014), with λw exact.

    ``w ← w − step (φ_i'(A_iᵀw) A_i − y_i + (1/n) Σ y_k + λw)``, then ``y_i`` takes the new gradient. `table` is as in
    `sag`.
    """
    y = table[:, None] * problem.X
    for i in indices:
        new = _loss_gradient(problem, i, w)
        w = w - step * (new - y[i] + y.sum(axis=0) / problem.n + problem.lam * w)
        y[i] = new
    return w


def semi_stochastic(problem: ReferenceProblem, loops: Sequence[Sequence[ArrayLike]], step: float, w: Floats) -> Floats:
    """SVRG, S2GD and mS2GD, which differ in what they draw and not in what they do.

    Johnson and Zhang (2013), Konečný and Richtárik (2013), and Algorithm 1 of Konečný, Liu, Richtárik and Takáč (2016).
    Each of `loops` holds the sets S of the steps between two full gradients: from the anchor x = w,
    ``w ← w − step ((1/|S|) Σ_{i∈S} (∇f_i(w) − ∇f_i(x)) + ∇P(x))`` for each S. They differ in S (one example, or a
    mini-batch) and in the law of the number of steps, see `length_law`.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(2), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> semi_stochastic(problem, [[[0], [1]], []], 0.5, np.zeros(2)).round(4).tolist()
    [0.4375, 0.3125]
    """
    lam = problem.lam
    for loop in loops:
        anchor, gradient = w, problem.gradient(w)
        for batch in loop:
            S = np.asarray(batch, dtype=int)
            change = np.zeros(len(w))
            for i in S:
                change += _loss_gradient(problem, i, w) + lam * w - _loss_gradient(problem, i, anchor) - lam * anchor
            w = w - step * (change / len(S) + gradient)
    return w


def pair_weights(problem: ReferenceProblem) -> Floats:
    """``W_ij = ω_i l_i A_ij² + λn/ω_j`` where A_ij is not zero, with ω_i and ω_j the nonzeros of row i and of column j.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> X = np.array([[1.0, 1.0], [0.0, 2.0]])
    >>> pair_weights(ReferenceProblem(X, np.ones(2), np.ones(2), squared(), lam=0.5)).tolist()
    [[3.0, 2.5], [0.0, 4.5]]
    """
    W, used = np.zeros(problem.X.shape), problem.X != 0
    for i, j in np.argwhere(used):
        W[i, j] = used[i].sum() * problem.l[i] * problem.X[i, j] ** 2 + problem.lam * problem.n / used[:, j].sum()
    return W


def s2cd(problem: ReferenceProblem, loops: Sequence[Sequence[tuple[int, int]]], step: float, w: Floats) -> Floats:
    """S2CD of Konečný, Qu and Richtárik (2014), with λ shared out among the examples that have a feature.

    Each of `loops` holds the pairs (i, j) of the steps between two full gradients. From the anchor x = w,
    ``w_j ← w_j − (step/p_j) (∇_j P(x) + (∇_j f_i(w) − ∇_j f_i(x))/(n q_ij))``, with ``p_j = Σ_i W_ij/Σ W``,
    ``q_ij = W_ij/Σ_i W_ij`` and ``∇_j f_i(w) = φ_i'(A_iᵀw) A_ij + (λn/ω_j) w_j``.
    """
    W, n = pair_weights(problem), problem.n
    p, counts = W.sum(axis=0) / W.sum(), (problem.X != 0).sum(axis=0)

    def partial(i: int, j: int, at: Floats) -> float:
        return float(_loss_gradient(problem, i, at)[j] + problem.lam * n / counts[j] * at[j])

    for loop in loops:
        anchor, gradient = w, problem.gradient(w)
        for i, j in loop:
            q = W[i, j] / W[:, j].sum()
            w = w.copy()
            w[j] -= step / p[j] * (gradient[j] + (partial(i, j, w) - partial(i, j, anchor)) / (n * q))
    return w


def length_law(m: int, nu_h: float) -> Floats:
    """``Prob(t) = (1 − νh)^{m−t}/β`` for t = 1..m, with β their sum: the law of S2GD; uniform for ν = 0.

    Examples
    --------
    >>> length_law(3, 0.5).round(4).tolist()
    [0.1429, 0.2857, 0.5714]
    """
    powers = np.array([(1 - nu_h) ** (m - t) for t in range(1, m + 1)])
    return np.asarray(powers / powers.sum())


def _loss_gradient(problem: ReferenceProblem, i: int, w: Floats) -> Floats:
    """``φ_i'(A_iᵀw) A_i``."""
    return np.asarray(problem.derivative(i, float(problem.X[i] @ w)) * problem.X[i])
