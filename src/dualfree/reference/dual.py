"""The dual coordinate ascent methods as literal loops: each step is said in terms of the dual D(α)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats
from dualfree.reference.problem import ReferenceProblem


def exact_step(problem: ReferenceProblem, i: int, z: float, alpha: float, c: float) -> float:
    """The a that maximises ``−φ_i*(−a) − z a − (c/2)(a − α)²``, by bisection of its slope.

    With ``c = ‖A_i‖²/(λn)`` and μ = 0 that is n D along coordinate i, up to a constant (Figure 1 of Shalev-Shwartz and
    Zhang, "Stochastic dual coordinate ascent methods for regularized loss minimization", 2013); with μ > 0, or an ESO
    parameter v_i in the place of ``‖A_i‖²``, it is a lower bound of it (Option I of Prox-SDCA in "Accelerated proximal
    stochastic dual coordinate ascent", 2014, Figure 1).

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(1), np.ones(1), np.ones(1), squared(), lam=1.0)
    >>> exact_step(problem, 0, z=0.0, alpha=0.0, c=1.0)
    0.5
    """
    weight, end = problem.weight[i], -problem.derivative(i, z)
    if weight == 0:
        return 0.0
    low, high = min(alpha, end), max(alpha, end)  # between the maximum without c and the one with an infinite c
    while low < (middle := (low + high) / 2) < high:
        if problem.loss.conjugate_slope(np.asarray(middle / weight), problem.y[i]) + z + c * (middle - alpha) > 0:
            high = middle
        else:
            low = middle
    return float(low)


def best_multiple(problem: ReferenceProblem, alpha: Floats, offset: float = 0.0) -> float:
    """The c in [0, 10] that maximises ``D(cα)``, by thirds; `offset` is added to every ``A_iᵀw``.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(2), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> round(best_multiple(problem, np.array([0.1, 0.1])), 6)  # D is largest at α = (1/2, 1/2)
    5.0
    """

    def dual(c: float) -> float:
        return problem.dual_value(c * alpha) - offset * c * float(alpha.mean())

    low, high = 0.0, 10.0
    for _ in range(200):
        one, other = (2 * low + high) / 3, (low + 2 * high) / 3
        if dual(one) > dual(other) or not np.isfinite(dual(other)):
            high = other
        else:
            low = one
    return low


def sdca(
    problem: ReferenceProblem, batches: Sequence[ArrayLike], v: Floats, step: str | float, alpha: Floats
) -> tuple[Floats, Floats]:
    """SDCA for μ = 0, Prox-SDCA for μ > 0, and with other probabilities Iprox-SDCA, from α.

    Figure 1 of both papers named at `exact_step`, and Algorithm 2 of Zhao and Zhang ("Stochastic optimization with
    importance sampling", 2015); for sets of several examples, v_i stands for ``‖A_i‖²``, as in "Mini-batch primal and
    dual methods for SVMs" (Takáč, Bijral, Richtárik and Srebro, 2013). At ``w = soft(ᾱ, μ/λ)``, for all i of a set:

    - step ``"exact"``, Option I: `exact_step` with ``c = v_i/(λn)``;
    - step ``"fixed"``, Option V: ``α_i ← α_i + s_i (u_i − α_i)``, ``u_i = −φ_i'(A_iᵀw)``,
      ``s_i = λnγ_i/(v_i + λnγ_i)``, ``γ_i = 1/l_i``;
    - a number is s_i itself.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(2), np.ones(2), np.ones(2), squared(), lam=0.5, mu=0.25)
    >>> w, alpha = sdca(problem, [[0], [1], [0]], np.ones(2), "exact", np.zeros(2))
    >>> w.tolist(), alpha.tolist()
    ([0.25, 0.0], [0.75, 0.5])
    """
    lam, n = problem.lam, problem.n
    alpha = np.array(alpha, dtype=np.float64)
    for batch in batches:
        w, moved = problem.primal(alpha), alpha.copy()
        for i in np.asarray(batch, dtype=int):
            z = float(problem.X[i] @ w)
            if step == "exact":
                moved[i] = exact_step(problem, i, z, alpha[i], v[i] / (lam * n))
                continue
            s = float(lam * n / (v[i] * problem.l[i] + lam * n)) if step == "fixed" else float(step)
            moved[i] += s * (-problem.derivative(i, z) - alpha[i])
        alpha = moved
    return problem.primal(alpha), alpha


def asdca(
    problem: ReferenceProblem, batches: Sequence[ArrayLike], theta: float, alpha: Floats
) -> tuple[Floats, Floats]:
    """ASDCA from α and ``w = (1/λn) Σ A_i α_i``.

    Figure 1 of Shalev-Shwartz and Zhang, "Accelerated mini-batch stochastic dual coordinate ascent", 2013. Their α_i is
    ours divided by λ, and ``u = (1 − θ) w + θ ᾱ``; for i of the set
    ``α_i ← (1 − θ) α_i − θ φ_i'(A_iᵀu)``; then ᾱ anew, and ``w ← (1 − θ) w + θ ᾱ``.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(2), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> w, alpha = asdca(problem, [[0, 1], [0]], 0.5, np.zeros(2))
    >>> w.tolist(), alpha.tolist()
    ([0.40625, 0.375], [0.5625, 0.5])
    """
    alpha = np.array(alpha, dtype=np.float64)
    w = problem.combination(alpha)
    for batch in batches:
        u = (1 - theta) * w + theta * problem.combination(alpha)
        for i in np.asarray(batch, dtype=int):
            alpha[i] = (1 - theta) * alpha[i] - theta * problem.derivative(i, float(problem.X[i] @ u))
        w = (1 - theta) * w + theta * problem.combination(alpha)
    return w, alpha


def acc_prox_sdca(
    problem: ReferenceProblem, epochs: Sequence[Sequence[ArrayLike]], v: Floats, kappa: float, alpha: Floats
) -> tuple[list[Floats], list[float], Floats]:
    """Acc-Prox-SDCA, Figure 2 of Shalev-Shwartz and Zhang (2014), from α and its point.

    ``μ = λ/2`` (theirs), ``ρ = μ + κ``, ``η = √(μ/ρ)``, ``β = (1 − η)/(1 + η)``, ``ξ_1 = (1 + η⁻²)(P(w) − D(α))``.
    Prox-SDCA minimises ``P_t(w) = P(w) + (κ/2)‖w‖² − κ wᵀy`` to a gap of ``η ξ_{t−1}/(2(1 + η⁻²))``, looked at after
    each of `epochs`; then ``y = w + β (w − w_before)`` and ``ξ_t = (1 − η/2)^{t−1} ξ_1``.

    Returns
    -------
    points, excesses, alpha
        The point and ξ after each P_t (the first: those of the start; the last: those where the epochs ended), and α.
    """
    lam, n, alpha = problem.lam, problem.n, np.array(alpha, dtype=np.float64)
    inner = lam + kappa
    eta = float(np.sqrt((lam / 2) / (lam / 2 + kappa)))
    w = problem.primal(alpha)
    y, excess = w, (1 + eta**-2) * problem.gap(w, alpha)
    points, excesses = [w], [excess]

    def point() -> Floats:
        combination = problem.X.T @ alpha / (inner * n) + kappa / inner * y
        return np.asarray(np.sign(combination) * np.maximum(0.0, np.abs(combination) - problem.mu / inner))

    def gap() -> float:
        x = point()
        extra = kappa / 2 * float(x @ x) - kappa * float(x @ y)
        penalty = lam / 2 * float(x @ x) + problem.mu * float(np.abs(x).sum()) + extra
        conjugate = float(problem.X.T @ alpha @ x) / n - penalty
        dual = -sum(problem.conjugate(i, alpha[i]) for i in range(n)) / n - conjugate
        return problem.value(x) + extra - dual

    for batches in epochs:
        for batch in batches:
            x, moved = point(), alpha.copy()
            for i in np.asarray(batch, dtype=int):
                moved[i] = exact_step(problem, i, float(problem.X[i] @ x), alpha[i], v[i] / (inner * n))
            alpha = moved
        if gap() <= eta * excesses[-1] / (2 * (1 + eta**-2)):
            x = point()
            y = x + (1 - eta) / (1 + eta) * (x - points[-1])
            points.append(x)
            excesses.append((1 - eta / 2) * excesses[-1])
    return [*points, point()], excesses, alpha
