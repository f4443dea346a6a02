"""Step sizes, the implicit step, and Algorithm 1 (dfSDCA) as a literal loop."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from dualfree.arrays import Floats
from dualfree.reference.problem import ReferenceProblem


def theta(problem: ReferenceProblem, p: Floats, v: Floats, theorem: int) -> float:
    """The largest θ that a theorem allows.

    ``min_i p_i nλ²/(L_i² v_i + nλ²)`` for Theorem 1, ``min_i p_i nλ/(l_i v_i + nλ)`` for Theorem 2.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(2), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> theta(problem, p=np.full(2, 0.5), v=np.ones(2), theorem=2)
    0.25
    """
    n, lam = problem.n, problem.lam
    if theorem == 1:
        return float(min(p[i] * n * lam**2 / (problem.L[i] ** 2 * v[i] + n * lam**2) for i in range(n)))
    return float(min(p[i] * n * lam / (problem.l[i] * v[i] + n * lam) for i in range(n)))


def implicit_step(problem: ReferenceProblem, i: int, z: float, alpha: float, c: float) -> float:
    """The root α⁺ of ``α⁺ = −φ_i'(z + c (α⁺ − α))``, with ``c = v_i/(λn)``.

    For a convex φ_i the left side minus the right side is increasing, and its root lies between α and ``−φ_i'(z)``.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(1), np.ones(1), np.ones(1), squared(), lam=1.0)
    >>> implicit_step(problem, 0, z=0.0, alpha=0.0, c=1.0)
    0.5
    """

    def residual(a: float) -> float:
        return a + problem.derivative(i, z + c * (a - alpha))

    end = -problem.derivative(i, z)
    low, high = min(alpha, end), max(alpha, end)
    if residual(low) >= 0:
        return low
    if residual(high) <= 0:
        return high
    return float(brentq(residual, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps, maxiter=1000))


def nearly_implicit_step(problem: ReferenceProblem, i: int, z: float, alpha: float, c: float) -> float:
    """`implicit_step` within a hundredth of its length, where the loss has no formula for it; else that step itself.

    Moves of fourth order (Householder) towards the root a of ``F(a) = a + φ_i'(u)``, ``u = z + c (a − α)``, from α; the
    first that moves u by no more than 1 is the last one. Where a move leaves the conjugate's domain, or moves u by more
    than 4, the root itself is taken.

    Examples
    --------
    >>> from dualfree.reference import logistic
    >>> problem = ReferenceProblem(np.eye(1), np.ones(1), np.ones(1), logistic(), lam=1.0)
    >>> near, root = (step(problem, 0, z=0.0, alpha=0.3, c=20.0) for step in (nearly_implicit_step, implicit_step))
    >>> round(near, 5), round(root, 5)
    (0.33439, 0.33441)
    """
    root, k, y, a, u = implicit_step(problem, i, z, alpha, c), problem.weight[i], problem.y[i], alpha, z
    if problem.loss.higher is None or k == 0:
        return root
    for _ in range(6):
        second, third, fourth = (float(k * derivative) for derivative in problem.loss.higher(np.asarray(u), y))
        F, slope, bend, twist = a + problem.derivative(i, u), 1 + c * second, c**2 * third, c**3 * fourth
        move = -F * (6 * slope**2 - 3 * F * bend) / (6 * slope**3 - 6 * F * slope * bend + F**2 * twist)
        a += move
        if not (np.isfinite(problem.loss.conjugate(np.asarray(a / k), y)) and abs(c * move) <= 4):
            return root
        if abs(c * move) <= 1:
            return float(a)
        u += c * move
    return root


def dfsdca(
    problem: ReferenceProblem,
    batches: Sequence[ArrayLike],
    p: Floats,
    v: Floats,
    step: str | float,
    alpha: Floats,
) -> tuple[Floats, Floats]:
    """Algorithm 1 from α, one iteration for each of `batches`.

    For all i of a batch, all at the same w: ``g_i = φ_i'(A_iᵀw) + α_i``, ``α_i ← α_i − (θ/p_i) g_i`` and
    ``w ← w − Σ θ/(nλp_i) A_i g_i``. The step ``per-example`` has ``1/(1 + l_i v_i/(λn))`` in place of θ/p_i, and
    ``implicit`` moves α_i to the root of `implicit_step`, ``nearly-implicit`` to that of `nearly_implicit_step`. With
    μ > 0, ``ᾱ = (1/λn) Σ A_i α_i`` moves in the place of w, and ``w = soft(ᾱ, μ/λ)``.

    Parameters
    ----------
    problem : ReferenceProblem
        The objective.
    batches : sequence of index arrays
        The sets S_1, S_2, ...
    p, v : arrays of length n
        Probabilities and ESO parameters of the sampling.
    step : {"theorem-1", "theorem-2", "per-example", "implicit", "nearly-implicit"} or float
        A number is θ itself.
    alpha : array of length n
        α at the start; it is not changed.

    Returns
    -------
    w, alpha : arrays
        After the last batch.

    Examples
    --------
    >>> from dualfree.reference import squared
    >>> problem = ReferenceProblem(np.eye(2), np.ones(2), np.ones(2), squared(), lam=0.5)
    >>> w, alpha = dfsdca(problem, [[0], [1], []], np.full(2, 0.5), np.ones(2), "theorem-2", np.zeros(2))
    >>> w.tolist(), alpha.tolist()
    ([0.5, 0.5], [0.5, 0.5])
    """
    n, lam = problem.n, problem.lam
    alpha = np.array(alpha, dtype=np.float64)
    combination = problem.combination(alpha)
    for batch in batches:
        w, moves = problem.point(combination), {}
        for i in np.asarray(batch, dtype=int):
            z = float(problem.X[i] @ w)
            if step == "implicit":
                moves[i] = implicit_step(problem, i, z, alpha[i], v[i] / (lam * n)) - alpha[i]
            elif step == "nearly-implicit":
                moves[i] = nearly_implicit_step(problem, i, z, alpha[i], v[i] / (lam * n)) - alpha[i]
            else:
                moves[i] = -_relative_step(problem, i, p, v, step) * (problem.derivative(i, z) + alpha[i])
        for i, move in moves.items():
            alpha[i] += move
            combination = combination + problem.X[i] * move / (lam * n)
    return problem.point(combination), alpha


def _relative_step(problem: ReferenceProblem, i: int, p: Floats, v: Floats, step: str | float) -> float:
    """``θ/p_i``, or what stands in its place."""
    match step:
        case "theorem-1":
            return float(theta(problem, p, v, 1) / p[i])
        case "theorem-2":
            return float(theta(problem, p, v, 2) / p[i])
        case "per-example":
            return float(1 / (1 + problem.l[i] * v[i] / (problem.lam * problem.n)))
    return float(float(step) / p[i])
