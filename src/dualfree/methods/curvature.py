"""Models of the curvature of P for the full-pass methods: a sampled Hessian, or less, and what steps taught."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, mean_of
from dualfree.inner import inner, norm
from dualfree.intercept import without_intercept
from dualfree.problem import Problem

_PAIRS, _LONG, _FEWER = 50, 20_000, 20  # moves that are remembered; and where they are long, which is how many
_WORTH_SINGLE = 100  # features from which on single precision is quicker
_SINGLE = 1e-5  # of the trace of a Hessian, what that may do to a step


class Base(ABC):
    """An estimate of the Hessian with respect to the penalised weights, the intercept eliminated."""

    @abstractmethod
    def solve(self, gradient: Floats) -> Floats:
        """``H⁻¹ g``."""

    def learn(self, move: Floats, change: Floats) -> None:  # noqa: B027  (a Hessian knows better)
        """Take in that a move changed the gradient so; nothing by default."""


class SampledHessian(Base):
    """An estimate of ``∇²P``, of which the upper triangle is given and may be overwritten, factorised.

    In single precision where it is `rough` anyway and large enough for that to matter, and λ not too small beside it.
    Memory: the factor, O(d²).
    """

    def __init__(self, problem: Problem, estimate: Floats, rough: bool, n_threads: int = 1) -> None:
        hessian = without_intercept(estimate, problem.free)
        diagonal = np.einsum("jj->j", hessian)
        # The complement may lose its last digits, and with them λ: what is left must stay positive.
        floor = 1e-14 * float(diagonal.sum())
        diagonal += floor
        factor = _cholesky(hessian, np.float32, n_threads) if rough and _single(problem, len(hessian)) else None
        if factor is None:
            factor = _cholesky(hessian, np.float64, n_threads)
        if factor is None and not problem.loss.all_convex:  # P was assumed to be convex, and is not here
            diagonal += problem.lam - min(0.0, float(np.linalg.eigvalsh(hessian, UPLO="U")[0])) + floor
            factor = _cholesky(hessian, np.float64, n_threads)
        if factor is None:
            raise np.linalg.LinAlgError("The Hessian is not positive definite.")
        self._factor = factor

    def solve(self, gradient: Floats) -> Floats:
        solution = memory.copy(gradient)
        kernels.cholesky_solve(self._factor, solution)
        return solution


def _single(problem: Problem, d: int) -> bool:
    """Whether single precision is quicker and good enough for a step."""
    return d >= _WORTH_SINGLE and problem.loss.all_convex and problem.single_will_do(_SINGLE)


def _cholesky(matrix: Floats, precision: type, n_threads: int) -> NDArray[Any] | None:
    """The factor of a matrix of which the upper triangle is given, as the kernel keeps it; None where there is none."""
    d = len(matrix)
    factor = memory.empty(kernels.cholesky_room(d), precision)
    found = kernels.cholesky(matrix.ravel(), d, factor, threads=n_threads)
    return factor if found else None


class Scaled(Base):
    """A multiple of the identity: the bound ``mean of l_i‖A_i‖² + λ`` at first, then what the last move showed."""

    def __init__(self, problem: Problem) -> None:
        self._curvature = mean_of(problem.common_l) * problem.examples.typical_square_norm + problem.lam

    def learn(self, move: Floats, change: Floats) -> None:
        self._curvature = inner(change, change) / inner(move, change)

    def solve(self, gradient: Floats) -> Floats:
        return gradient / self._curvature


class RootDiagonal(Base):
    """``√(H_jj tr H)``, half way between the Hessian's diagonal and one number, times what the last move showed.

    Rare features have little curvature, so that one number for all is too much for them, by the more the smaller λ is.
    The diagonal itself is too little: a row moves by the steps of all its features together.
    """

    def __init__(self, problem: Problem, margins: Floats) -> None:
        curvatures = problem.curvatures(margins)
        diagonal = problem.examples.feature_squares(curvatures)[: problem.free.start] / problem.n
        self._curvatures = np.sqrt((diagonal + problem.lam) * (float(diagonal.sum()) + problem.lam))
        self._scale = 1.0

    def learn(self, move: Floats, change: Floats) -> None:
        self._scale = inner(change, change / self._curvatures) / inner(move, change)

    def solve(self, gradient: Floats) -> Floats:
        return gradient / (self._scale * self._curvatures)


class LimitedMemory:
    """BFGS over the last moves, from a base that is better than a multiple of the identity."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self._room = self._count = self._oldest = 0
        self._moves: Floats  # `_room` rows, of which `_count` are used, from the oldest on and round
        self._changes: Floats
        self._products: Floats
        self._factors: Floats

    def learn(self, move: Floats, change: Floats) -> None:
        """Remember that a move changed the gradient so."""
        product = inner(move, change)
        if not product > 1e-14 * norm(move) * norm(change):
            return
        if self._count == 0:
            self._room = _PAIRS if len(move) <= _LONG else _FEWER
            self._moves, self._changes = memory.empty(self._room * len(move)), memory.empty(self._room * len(move))
            self._products, self._factors = np.empty(self._room), np.empty(self._room)
        row = (self._oldest + self._count) % self._room
        self._products[row] = product
        self._row_of(self._moves, row)[:] = move
        self._row_of(self._changes, row)[:] = change
        if self._count < self._room:
            self._count += 1
        else:
            self._oldest = (self._oldest + 1) % self._room
        self.base.learn(move, change)

    @property
    def pairs(self) -> list[tuple[Floats, Floats]]:
        """The moves and the changes, the oldest first: views, until something is learnt again."""
        rows = [(self._oldest + k) % self._room for k in range(self._count)]
        return [(self._row_of(self._moves, row), self._row_of(self._changes, row)) for row in rows]

    def _row_of(self, array: Floats, row: int) -> Floats:
        d = len(array) // self._room
        return array[row * d : (row + 1) * d]

    def solve(self, gradient: Floats) -> Floats:
        """``H⁻¹ g`` by the two-loop recursion."""
        if self._count == 0:
            return self.base.solve(gradient)
        q, pairs = gradient.copy(), (self._moves, self._changes, self._products, self._count, self._oldest)
        kernels.before_base(*pairs, q, self._factors)
        q = self.base.solve(q)
        kernels.after_base(*pairs, self._factors, q)
        return q
