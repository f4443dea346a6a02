"""The built-in losses. Their formulas live in ``cpp/losses.hpp``; `dualfree.reference` holds a NumPy copy."""

import math
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices, positive
from dualfree.losses.base import Loss
from dualfree.losses.targets import several_targets

_SIGNS = (-1.0, 1.0), (1.0, -1.0)
_NUMBERS = tuple(np.dtype(kind) for kind in (np.float64, np.float32, np.int64, np.int32))


class BuiltIn(Loss):
    """A loss whose formulas are native: `value`, `derivative` and `conjugate` call them."""

    kind: ClassVar[str]
    straight: ClassVar[bool] = False  # whether f'' is zero but on a stretch: what steps teach of it is soon out of date
    kinked: ClassVar[bool] = False  # whether f'' jumps to zero: then many α_i are at an end of the domain of f*
    has_ray: ClassVar[bool] = False  # whether the kernels know f* along all multiples of α (cpp/rays.hpp)
    largest_curvature: float  # of f, whatever y is

    def smoothness(self, y: Floats) -> Floats:
        return np.full(len(y), self.largest_curvature)

    @property
    def common_l(self) -> float | Floats:
        return self.largest_curvature if self.weight is None else self.l

    @property
    def parameters(self) -> tuple[float, ...]:
        return ()

    @property
    def native(self) -> tuple[Any, ...]:
        return (self.kind, self.y if self.y.ndim == 1 else self.y.ravel(), self.weight, *self.parameters)

    @property
    def places(self) -> tuple[Any, ...] | None:
        """Where the outputs of each example lie, for the kernels; None where there is one for each."""
        return None if self.outputs is None else (len(self.y), self.outputs)

    def values(self, z: Floats, indices: Indices | None = None) -> Floats:
        if self.places is None:
            return super().values(z, indices)
        out = np.empty(self.places[0] if len(self.places) == 2 else len(self.places[0]) - 1)
        kernels.vector_slopes(self.places, self.native, z, np.empty(len(z)), out)
        return out

    def derivatives(self, z: Floats, indices: Indices | None = None) -> Floats:
        return super().derivatives(z, indices) if self.places is None else self.slopes(z)[1]

    def slopes(self, z: Floats) -> tuple[float, Floats]:
        """``Σ φ_i(z_i)``, and all derivatives."""
        out = np.empty(len(z))
        if self.places is None:
            return float(kernels.loss_slopes(self.native, z, out)), out
        return float(kernels.vector_slopes(self.places, self.native, z, out)), out

    def weighted_conjugate(self, alpha: Floats) -> Floats:
        if self.places is None:
            return super().weighted_conjugate(alpha)
        out = np.empty(self.places[0] if len(self.places) == 2 else len(self.places[0]) - 1)
        kernels.vector_conjugates(self.places, self.native, alpha, out)
        return out

    def project(self, alpha: Floats) -> Floats:
        out = np.empty(len(alpha))
        if self.places is None:
            kernels.loss_project(self.native, alpha, out)
        else:
            kernels.vector_project(self.places, self.native, alpha, out)
        return out

    def _call(self, function: Any, argument: ArrayLike, y: ArrayLike) -> Floats:
        argument, y = np.broadcast_arrays(np.asarray(argument, dtype=np.float64), np.asarray(y, dtype=np.float64))
        out = np.empty(argument.size)
        function(
            (self.kind, np.ascontiguousarray(y).ravel(), None, *self.parameters),
            np.ascontiguousarray(argument).ravel(),
            out,
        )
        return out.reshape(argument.shape)

    def value(self, z: ArrayLike, y: ArrayLike) -> Floats:
        return self._call(kernels.loss_value, z, y)

    def derivative(self, z: ArrayLike, y: ArrayLike) -> Floats:
        return self._call(kernels.loss_derivative, z, y)

    def conjugate(self, a: ArrayLike, y: ArrayLike) -> Floats:
        """``f*(−a)``, infinite outside its domain."""
        return self._call(kernels.loss_conjugate, a, y)


class Labelled(BuiltIn):
    """A loss of two labels, kept in `classes`, which become −1 and +1 in `y`."""

    classes: NDArray[Any]

    def _targets(self, y: ArrayLike) -> Floats:
        try:
            labels = np.asarray(y)
            pair = _two_numbers(labels)
            if pair in _SIGNS and labels.dtype == np.float64:  # as they are needed
                self.classes = np.array([-1.0, 1.0])
                return np.ascontiguousarray(labels)
            self.classes = _in_order(labels, pair)
        except (TypeError, ValueError):
            raise TypeError(
                "y must be a vector of labels that can be sorted, of one type (text, or numbers)."
            ) from None
        if labels.ndim != 1:
            raise ValueError(f"y has shape {labels.shape}; it must be a vector of labels.")
        classes = self.classes.tolist()
        ends = (classes[0], classes[-1]) if labels.dtype.kind == "f" and classes else ()
        if not all(map(math.isfinite, ends)):  # what is not finite comes first or last of all
            at = int(np.flatnonzero(~np.isfinite(labels))[0])
            raise ValueError(f"y[{at}] is {labels[at]}; every label must be finite.")
        if len(labels) and len(self.classes) != 2:
            shown = ", ".join(str(c) for c in classes[:5])
            raise ValueError(
                f"y has {len(self.classes)} class{'es' * (len(self.classes) != 1)} ({shown}"
                f"{', ...' * (len(self.classes) > 5)}); {type(self).__name__} needs exactly two."
            )
        return np.where(labels == self.classes[-1], 1.0, -1.0) if len(labels) else np.empty(0)


class TwoClasses(Labelled):
    """A loss of the margin ``t = y z``: the same for both classes."""

    def at_zero(self, total: int) -> tuple[float, float]:
        # Both classes have the same loss at z = 0, and no loss is below zero: nothing to add up but the weights.
        mean = 1.0 if self.weight is None else float(self.weight.mean())
        return mean * _value_at_zero(self.kind, self.parameters), 0.0


@lru_cache(maxsize=64)
def _value_at_zero(kind: str, parameters: tuple[float, ...]) -> float:
    """``f(0, 1)``."""
    found = np.empty(1)
    kernels.loss_value((kind, np.ones(1), None, *parameters), np.zeros(1), found)
    return float(found[0])


def different(labels: NDArray[Any]) -> NDArray[Any]:
    """The different labels in order; without sorting all of them where there are two numbers."""
    return _in_order(labels, _two_numbers(labels))


def _in_order(labels: NDArray[Any], pair: tuple[Any, Any] | None) -> NDArray[Any]:
    return np.unique(labels) if pair is None else np.array(sorted(set(pair)), dtype=labels.dtype)


def _two_numbers(labels: NDArray[Any]) -> tuple[Any, Any] | None:
    """The two numbers that all labels are, or one of them twice; None where they are something else."""
    if labels.dtype not in _NUMBERS or labels.ndim != 1:
        return None
    found: tuple[Any, Any] | None = kernels.two_values(np.ascontiguousarray(labels))
    return found


class Logistic(TwoClasses):
    """Logistic loss ``log(1 + exp(−y z))``, 1/4-smooth.

    Examples
    --------
    >>> loss = Logistic(["no", "yes", "yes"])
    >>> loss.y.tolist(), loss.value(0.0, 1.0).round(4).item(), loss.l.tolist()
    ([-1.0, 1.0, 1.0], 0.6931, [0.25, 0.25, 0.25])
    """

    kind = "logistic"
    has_ray = True
    largest_curvature = 0.25


class Squared(BuiltIn):
    """Squared loss ``(z − y)²/2``, 1-smooth; with several targets for each example, y of shape (n, m), their sum.

    Examples
    --------
    >>> Squared([1.0, 2.0]).derivative([3.0, 3.0], [1.0, 2.0]).tolist()
    [2.0, 1.0]
    """

    kind = "squared"
    has_ray = True
    largest_curvature = 1.0
    quadratic = True

    def _targets(self, y: ArrayLike) -> Floats:
        targets, self.outputs = several_targets(y)
        return targets


class SquaredHinge(TwoClasses):
    """Squared hinge loss ``max(0, 1 − y z)²``, 2-smooth.

    Examples
    --------
    >>> SquaredHinge([-1, 1]).value([0.5, 0.5], [-1.0, 1.0]).tolist()
    [2.25, 0.25]
    """

    kind = "squared-hinge"
    has_ray = True
    largest_curvature = 2.0
    kinked = True


class SmoothedHinge(TwoClasses):
    """Hinge loss with its kink rounded over a width of `gamma`; 1/gamma-smooth.

    0 for t ≥ 1, ``1 − t − γ/2`` for t ≤ 1 − γ, and ``(1 − t)²/(2γ)`` between, with t = y z.

    Examples
    --------
    >>> SmoothedHinge([-1, 1], gamma=0.5).value([0.0, 0.75, 2.0], 1.0).tolist()
    [0.75, 0.0625, 0.0]
    """

    kind = "smoothed-hinge"
    has_ray = True
    straight = True
    kinked = True

    def __init__(self, y: ArrayLike, gamma: float = 1.0, weight: ArrayLike | None = None) -> None:
        self.gamma = positive("gamma", gamma)
        self.largest_curvature = 1 / self.gamma
        if self.largest_curvature == np.inf:
            raise ValueError(
                f"gamma is {self.gamma:g}, so small that the curvature 1/gamma overflows; take a larger one."
            )
        super().__init__(y, weight)

    @property
    def parameters(self) -> tuple[float, ...]:
        return (self.gamma,)


class Huber(BuiltIn):
    """Huber loss: ``r²/2`` for |r| ≤ δ, ``δ|r| − δ²/2`` beyond, with r = z − y; 1-smooth.

    With several targets for each example, y of shape (n, m), their sum.

    Examples
    --------
    >>> Huber([0.0, 0.0], delta=1.0).value([0.5, 3.0], 0.0).tolist()
    [0.125, 2.5]
    """

    kind = "huber"
    has_ray = True
    straight = True
    kinked = True
    largest_curvature = 1.0

    def __init__(self, y: ArrayLike, delta: float = 1.0, weight: ArrayLike | None = None) -> None:
        self.delta = positive("delta", delta)
        super().__init__(y, weight)

    def _targets(self, y: ArrayLike) -> Floats:
        targets, self.outputs = several_targets(y)
        return targets

    @property
    def parameters(self) -> tuple[float, ...]:
        return (self.delta,)
