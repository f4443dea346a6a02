"""Losses of several numbers from a user: on the m outputs of a row, or on the rows of a block."""

import copy
import ctypes
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import LowLevelCallable

from dualfree.arrays import Floats, Indices, vector, whole
from dualfree.examples.blocks import Blocks, rows_of
from dualfree.losses.base import Loss
from dualfree.losses.callables import pointer_of
from dualfree.losses.targets import several_targets

_ROUNDS = 10_000


class VectorLoss(Loss, ABC):
    """Base of both: what the solver asks for, on the outputs of examples one after the other, in a flat vector.

    With ``compiled``, a `scipy.LowLevelCallable` of ``double (double *z, double *y, double *gradient, long m)``, which
    returns the value for one example and writes its gradient, the loss runs inside the kernel.
    """

    vector = True
    compiled: ClassVar[LowLevelCallable | None] = None
    _sizes: Indices  # outputs of each example

    @abstractmethod
    def _value(self, z: Floats, indices: Indices) -> Floats:
        """F for each of the listed examples."""

    @abstractmethod
    def _derivative(self, z: Floats, indices: Indices) -> Floats:
        """Its gradients, one after the other."""

    @abstractmethod
    def _conjugate(self, a: Floats, indices: Indices) -> Floats:
        """``f*(−a)`` for each of the listed examples, where the loss defines `conjugate`."""

    def values(self, z: Floats, indices: Indices | None = None) -> Floats:
        indices = np.arange(len(self._sizes)) if indices is None else indices
        return self.weighted(np.asarray(self._value(z, indices), dtype=np.float64), indices)

    def derivatives(self, z: Floats, indices: Indices | None = None) -> Floats:
        indices = np.arange(len(self._sizes)) if indices is None else indices
        found = np.asarray(self._derivative(z, indices), dtype=np.float64).ravel()
        return found if self.weight is None else found * np.repeat(self.weight[indices], self._sizes[indices])

    def weighted_conjugate(self, alpha: Floats) -> Floats:
        every = np.arange(len(self._sizes))
        if self.weight is None:
            return np.asarray(self._conjugate(alpha, every), dtype=np.float64)
        used = np.flatnonzero(self.weight > 0)
        start = np.concatenate([[0], np.cumsum(self._sizes)])
        out = np.where(np.logical_and.reduceat(alpha == 0, start[:-1]), 0.0, np.inf)
        k = np.repeat(self.weight[used], self._sizes[used])
        out[used] = self.weight[used] * self._conjugate(alpha[rows_of(start, used)] / k, used)
        return out

    def implicit(self, indices: Indices, z: Floats, alpha: Floats, scale: Floats) -> Floats:
        """Roots of ``α⁺ = −∇φ_i(z_i + c_i (α⁺ − α_i))``, c the scale.

        ``u = z + c(α⁺ − α)`` minimises ``c φ_i(u) + ‖u − (z − cα)‖²/2``, of condition number ``1 + c l_i``: Nesterov's
        method for strongly convex functions, all examples at once, until the residual is rounding.
        """
        sizes = self._sizes[indices]
        c = np.repeat(scale, sizes)
        largest = np.repeat(1 + scale * self.l[indices], sizes)
        momentum = (np.sqrt(largest) - 1) / (np.sqrt(largest) + 1)
        u, y = z, z
        for _ in range(_ROUNDS):
            gradient = self.derivatives(y, indices)
            slope = y - z + c * (alpha + gradient)
            to = y - slope / largest
            u, y = to, to + momentum * (to - u)
            if not (np.abs(slope) > 1e-14 * (np.abs(y - z) + c * (np.abs(alpha) + np.abs(gradient)))).any():
                break
        return -self.derivatives(u, indices)

    @property
    def native(self) -> tuple[Any, ...] | None:
        if self.compiled is None:
            return None
        smoothness = vector("smoothness", self.l if self.weight is None else self._plain_l(), len(self._sizes))
        return ("compiled", self.y.ravel(), self.weight, pointer_of("compiled", self.compiled), smoothness)

    def _plain_l(self) -> Floats:
        """Smoothness without weights."""
        plain = copy.copy(self)
        plain.weight = None
        return plain.l


class MultiOutputLoss(VectorLoss):
    """Your own loss on R^m for the m outputs of every row; w then has shape (d, m) and α (n, m).

    Define, for k examples at a time, ``value(z, y)`` (z of shape (k, m), returns k numbers), ``derivative(z, y)`` (the
    gradients, of shape (k, m)), and ``smoothness(y)`` (k Lipschitz constants of the gradient, in the Euclidean norm).
    Optional: ``conjugate(a, y)``, k numbers f*(−a), for a duality gap; ``convex = False``; ``compiled``.

    Parameters
    ----------
    y : array of shape (n,) or (n, m)
        Targets.
    outputs : int, optional
        m; not needed where y has m columns.
    weight : array of length n, optional
        One factor for each example.

    Examples
    --------
    >>> class Distance(MultiOutputLoss):  # sqrt(1 + |z − y|²) − 1
    ...     def value(self, z, y): return np.sqrt(1 + ((z - y) ** 2).sum(axis=1)) - 1
    ...     def derivative(self, z, y): return (z - y) / np.sqrt(1 + ((z - y) ** 2).sum(axis=1, keepdims=True))
    ...     def smoothness(self, y): return np.ones(len(y))
    >>> import dualfree as df
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> problem = df.Problem(X, Distance(X @ np.ones((3, 2))), lam=1.0)
    >>> df.solve(problem, sampling="nice:5", step="theorem-2").w.shape
    (3, 2)
    """

    def __init__(self, y: ArrayLike, outputs: int | None = None, weight: ArrayLike | None = None) -> None:
        self.outputs = None if outputs is None else whole("outputs", outputs, 1)
        super().__init__(y, weight)
        self._sizes = np.full(len(self.y), self.outputs)

    def _targets(self, y: ArrayLike) -> Floats:
        targets, columns = several_targets(y)
        if self.outputs is None and columns is None:
            raise ValueError("outputs is needed where y is a vector: the numbers that the loss takes for each example.")
        self.outputs = self.outputs or columns
        return targets

    def _value(self, z: Floats, indices: Indices) -> Floats:
        return self.value(z.reshape(len(indices), -1), self.y[indices])

    def _derivative(self, z: Floats, indices: Indices) -> Floats:
        return self.derivative(z.reshape(len(indices), -1), self.y[indices])

    def _conjugate(self, a: Floats, indices: Indices) -> Floats:
        conjugate: Any = self.conjugate  # type: ignore[attr-defined]
        return np.asarray(conjugate(a.reshape(len(indices), -1), self.y[indices]))


class BlockLoss(VectorLoss):
    """Your own loss on the rows of a group, for `dualfree.Blocks`.

    Define, for k groups at a time whose products are in one flat vector z, group g at ``start[g] .. start[g + 1]``:
    ``value(z, y, start)`` (k numbers), ``derivative(z, y, start)`` (as long as z), and ``smoothness(y, start)`` (k
    numbers). Optional: ``conjugate(a, y, start)``, f*(−a) for each group; ``convex = False``; ``compiled``.

    Parameters
    ----------
    y : array
        Targets, one for each group or one for each row.
    weight : array, optional
        One factor for each group.

    Examples
    --------
    >>> class Spread(BlockLoss):  # half the squared distance of a group's mean from its target
    ...     def _apart(self, z, y, start): return np.add.reduceat(z, start[:-1]) / np.diff(start) - y
    ...     def value(self, z, y, start): return 0.5 * self._apart(z, y, start) ** 2
    ...     def derivative(self, z, y, start):
    ...         return np.repeat(self._apart(z, y, start) / np.diff(start), np.diff(start))
    ...     def smoothness(self, y, start): return 1 / np.diff(start)
    >>> import dualfree as df
    >>> problem = df.Problem(df.Blocks(np.eye(5), [0, 2, 5]), Spread([1.0, 2.0]), lam=0.1)
    >>> df.solve(problem).status
    <Status.CONVERGED: 'converged'>
    """

    _start: Indices

    def bound(self, examples: Any) -> Self:
        if not isinstance(examples, Blocks):
            raise TypeError(
                f"{type(self).__name__} needs rows that belong together: give df.Blocks(X, group_ptr) for X."
            )
        if len(self.y) not in (examples.n, examples.total):
            raise ValueError(
                f"X has {examples.n} groups of {examples.total} rows but y has {len(self.y)} entries; it must have one "
                "for each group or one for each row."
            )
        bound = copy.copy(self)
        bound._start, bound._sizes = examples.start, examples.sizes
        if bound.weight is not None:
            vector("weight", bound.weight, examples.n)
        return bound

    def __init__(self, y: ArrayLike, weight: ArrayLike | None = None) -> None:
        super().__init__(y)
        self.weight = None if weight is None else vector("weight", weight)

    @property
    def l(self) -> Floats:  # noqa: E743  (the paper's name)
        base = vector("smoothness(y, start)", self.smoothness(self.y, self._start), len(self._sizes))  # type: ignore[call-arg]
        return base if self.weight is None else np.abs(self.weight) * base

    def _of(self, indices: Indices) -> tuple[Floats, Indices]:
        """Targets and starts of the listed groups."""
        each = len(self.y) == len(self._sizes)
        y = self.y[indices] if each else self.y[rows_of(self._start, indices)]
        return y, np.concatenate([[0], np.cumsum(self._sizes[indices])])

    def _value(self, z: Floats, indices: Indices) -> Floats:
        return self.value(z, *self._of(indices))  # type: ignore[call-arg]

    def _derivative(self, z: Floats, indices: Indices) -> Floats:
        return self.derivative(z, *self._of(indices))  # type: ignore[call-arg]

    def _conjugate(self, a: Floats, indices: Indices) -> Floats:
        conjugate: Any = self.conjugate  # type: ignore[attr-defined]
        return np.asarray(conjugate(a, *self._of(indices)))


def compiled_vector(function: Any) -> LowLevelCallable:
    """A `LowLevelCallable` for ``compiled`` from a numba ``cfunc`` or a ctypes function.

    The signature, for numba: ``float64(CPointer(float64), CPointer(float64), CPointer(float64), int64)`` for z, y, the
    gradient to be written, and m.
    """
    prototype = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.POINTER(ctypes.c_double)] * 3, ctypes.c_long)
    address = getattr(function, "address", None) or ctypes.cast(function, ctypes.c_void_p).value
    return LowLevelCallable(prototype(int(address or 0)))
