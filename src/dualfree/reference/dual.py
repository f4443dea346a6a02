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
