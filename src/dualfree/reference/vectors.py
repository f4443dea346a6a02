"""Examples with several outputs: ``A_i ∈ R^{d×m}`` and ``φ_i : R^m → R``, as the paper states its problem (equation 1).

Every A_i is written out as a dense matrix, so that both shapes of the library are the same thing here: ``x_i ⊗ I_m``
for multi-output examples, and the transposed rows of a group for blocks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, optimize
from scipy.special import logsumexp, softmax, xlogy

from dualfree.arrays import Floats
from dualfree.reference.losses import ReferenceLoss
from dualfree.reference.samplings import ReferenceSampling


@dataclass(frozen=True)
class VectorLoss:
    """One loss of several numbers: value, gradient and conjugate ``f*(−a)`` for one example, with its target."""

    value: Callable[[Floats, Floats], float]
    gradient: Callable[[Floats, Floats], Floats]
    conjugate: Callable[[Floats, Floats], float]
    smoothness: float


def cross_entropy() -> VectorLoss:
    """``log Σ exp(z_k) − qᵀz`` for a distribution q; ``f*(−a) = Σ s_k log s_k`` for ``s = q − a`` in the simplex.

    Examples
    --------
    >>> loss = cross_entropy()
    >>> z, q = np.array([1.0, 2.0, 0.5]), np.array([0.0, 1.0, 0.0])
    >>> a = -loss.gradient(z, q)
    >>> abs(round(float(loss.value(z, q) + loss.conjugate(a, q) + a @ z), 12))  # Fenchel and Young, with equality
    0.0
    """

    def conjugate(a: Floats, q: Floats) -> float:
        s = q - a
        inside = (s >= -1e-12).all() and abs(s.sum() - 1) <= 1e-9
        return float(xlogy(np.maximum(s, 0), np.maximum(s, 0)).sum()) if inside else np.inf

    return VectorLoss(
        value=lambda z, q: float(logsumexp(z) - q @ z),
        gradient=lambda z, q: np.asarray(softmax(z) - q),
        conjugate=conjugate,
        smoothness=0.5,
    )


def separable(loss: ReferenceLoss) -> VectorLoss:
    """The sum of a loss of one number over the outputs, each with its own target."""
    return VectorLoss(
        value=lambda z, y: float(loss.value(z, y).sum()),
        gradient=lambda z, y: np.asarray(loss.derivative(z, y)),
        conjugate=lambda a, y: float(loss.conjugate(a, y).sum()),
        smoothness=loss.smoothness,
    )


def multi_output(X: Floats, m: int) -> list[Floats]:
    """``A_i = x_i ⊗ I_m``, of shape (d m, m): the weights of a feature side by side.

    Examples
    --------
    >>> multi_output(np.array([[2.0, 3.0]]), 2)[0].T.tolist()
    [[2.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 3.0]]
    """
    return [np.kron(x[:, None], np.eye(m)) for x in X]


def blocks(X: Floats, start: Sequence[int]) -> list[Floats]:
    """``A_i`` with the rows of group i as its columns."""
    return [X[first:last].T for first, last in pairwise(start)]


@dataclass(frozen=True)
class VectorProblem:
    """``P(w) = (1/n) Σ weight_i f(A_iᵀw, y_i) + (λ/2)‖w‖²``; α is a list of vectors."""

    A: Sequence[Floats]
    y: Sequence[Floats]
    weight: Floats
    loss: VectorLoss
    lam: float

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.A)

    @property
    def l(self) -> Floats:  # noqa: E743  (the paper's name)
        """``l_i``."""
        return np.abs(self.weight) * self.loss.smoothness

    def gradient_of(self, i: int, z: Floats) -> Floats:
        """``∇φ_i(z)``."""
        return np.asarray(self.weight[i] * self.loss.gradient(z, self.y[i]))

    def value(self, w: Floats) -> float:
        """``P(w)``."""
        losses = [self.weight[i] * self.loss.value(self.A[i].T @ w, self.y[i]) for i in range(self.n)]
        return float(sum(losses) / self.n + self.lam / 2 * (w @ w))

    def gradient(self, w: Floats) -> Floats:
        """``∇P(w) = (1/n) Σ A_i ∇φ_i(A_iᵀw) + λw``."""
        total = np.zeros(len(w))
        for i in range(self.n):
            total += self.A[i] @ self.gradient_of(i, self.A[i].T @ w)
        return total / self.n + self.lam * w

    def primal(self, alpha: Sequence[Floats]) -> Floats:
        """``w = (1/λn) Σ A_i α_i``."""
        return np.asarray(sum(self.A[i] @ alpha[i] for i in range(self.n)) / (self.lam * self.n))

    def dual_value(self, alpha: Sequence[Floats]) -> float:
        """``D(α) = −(1/n) Σ φ_i*(−α_i) − (λ/2)‖(1/λn) Σ A_i α_i‖²``."""
        w, total = self.primal(alpha), 0.0
        for i in range(self.n):
            k = self.weight[i]
            total += k * self.loss.conjugate(alpha[i] / k, self.y[i]) if k > 0 else (np.inf if alpha[i].any() else 0.0)
        return -total / self.n - self.lam / 2 * float(w @ w)


def implicit_step(problem: VectorProblem, i: int, z: Floats, alpha: Floats, c: float) -> Floats:
    """The root α⁺ of ``α⁺ = −∇φ_i(z + c (α⁺ − α))``, by a general solver of equations."""
    found = optimize.root(lambda a: a + problem.gradient_of(i, z + c * (a - alpha)), alpha, tol=1e-14)
    return np.asarray(found.x)


def dfsdca(
    problem: VectorProblem,
    batches: Sequence[ArrayLike],
    relative_step: Floats | None,
    c: Floats,
    alpha: Sequence[Floats],
) -> tuple[Floats, list[Floats]]:
    """Algorithm 1, one iteration for each of `batches`: all i of a batch at the same w.

    ``g_i = ∇φ_i(A_iᵀw) + α_i``, ``α_i ← α_i − (θ/p_i) g_i``, ``w ← w − Σ θ/(nλp_i) A_i g_i``. `relative_step` is θ/p_i;
    None means the implicit step, with ``c_i = v_i/(λn)``.
    """
    alpha = [np.array(a, dtype=np.float64) for a in alpha]
    w = problem.primal(alpha)
    for batch in batches:
        moves = {}
        for i in np.asarray(batch, dtype=int):
            z = problem.A[i].T @ w
            if relative_step is None:
                moves[i] = implicit_step(problem, i, z, alpha[i], c[i]) - alpha[i]
            else:
                moves[i] = -relative_step[i] * (problem.gradient_of(i, z) + alpha[i])
        for i, move in moves.items():
            alpha[i] += move
            w = w + problem.A[i] @ move / (problem.lam * problem.n)
    return w, alpha


def eso_parameters(A: Sequence[Floats], sampling: ReferenceSampling) -> Floats:
    """``v_i = λ_max(Σ_j β_ij a_ij a_ijᵀ)``, a_ij the j-th row of A_i and J_j the examples whose a_ij is not zero."""
    d = len(A[0])
    J = [frozenset(i for i in range(len(A)) if A[i][j].any()) for j in range(d)]
    v = np.zeros(len(A))
    for i in range(len(A)):
        matrix = np.zeros((A[i].shape[1], A[i].shape[1]))
        for j in range(d):
            if A[i][j].any():
                matrix += sampling.beta(i, J[j]) * np.outer(A[i][j], A[i][j])
        v[i] = linalg.eigvalsh(matrix)[-1]
    return v


def eso_constant(A: Sequence[Floats], p: Floats, v: Floats, pairs: Floats) -> float:
    """The largest ``E‖Σ_{i∈Ŝ} A_i h_i‖² / Σ p_i v_i ‖h_i‖²`` over all h: v is an ESO if and only if it is ≤ 1."""
    used = [i for i in range(len(A)) if A[i].any()]
    if not used:
        return 0.0
    if (v[used] <= 0).any():
        return np.inf
    owner = np.repeat(used, [A[i].shape[1] for i in used])
    joined = np.hstack([A[i] for i in used])
    scale = 1 / np.sqrt(p[owner] * v[owner])
    matrix = pairs[np.ix_(owner, owner)] * (joined.T @ joined) * np.outer(scale, scale)
    return float(linalg.eigvalsh(matrix).max())
