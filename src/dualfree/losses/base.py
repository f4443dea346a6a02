"""The base of every loss, and the door for a user's own."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats, Indices, vector
from dualfree.losses.callables import address


class Loss:
    """Base of every loss: targets `y`, optional weights, and ``φ_i(z) = weight_i · f(z, y_i)``.

    To write a loss of your own, subclass it and define, on arrays of equal length,

    - ``value(z, y)``: f,
    - ``derivative(z, y)``: its derivative in z,
    - ``smoothness(y)``: for each example a bound on ``|f''|``.

    Optional: ``conjugate(a, y)``, f*(−a), which brings the duality gap; ``convex = False`` if f is not convex
    in z, and ``bounded = True`` if it is bounded; ``compiled = (value, derivative)``, two `scipy.LowLevelCallable` of
    signature ``double (double, double)`` (or with a trailing ``void *``) taking z and y, which makes the loss run
    inside the kernel. Without `compiled`, Python is called once for each batch, so prefer mini-batch samplings.

    Parameters
    ----------
    y : array of length n
        Targets.
    weight : array of length n, optional
        One factor for each example. A negative one makes that φ_i non-convex: then only Theorem 1 applies.

    Examples
    --------
    >>> class LogCosh(Loss):
    ...     def value(self, z, y): return np.logaddexp(z - y, y - z) - np.log(2)
    ...     def derivative(self, z, y): return np.tanh(z - y)
    ...     def smoothness(self, y): return np.ones_like(y)
    >>> import dualfree as df
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> problem = df.Problem(X, LogCosh(X @ [1.0, 2.0, 3.0]), lam=0.1)
    >>> df.solve(problem, sampling=df.samplings.Nice(5), step="theorem-2").status
    <Status.CONVERGED: 'converged'>
    """

    convex: ClassVar[bool] = True
    bounded: ClassVar[bool] = False  # whether f is: then no average of it is convex
    quadratic: ClassVar[bool] = False  # whether f'' is the same everywhere
    compiled: ClassVar[Any] = None
    outputs: int | None = None  # numbers that f takes where examples have several outputs, and all equally many

    def __init__(self, y: ArrayLike, weight: ArrayLike | None = None) -> None:
        self.y: Floats = self._targets(y)
        self.weight: Floats | None = None if weight is None else vector("weight", weight, len(self.y))
        if len(self.y) == 0:
            raise ValueError("y is empty; a loss needs at least one example.")

    def _targets(self, y: ArrayLike) -> Floats:
        return vector("y", y)

    def value(self, z: Floats, y: Floats) -> Floats:
        """``f(z, y)``, element by element."""
        raise TypeError(f"{type(self).__name__} does not define value(z, y).")

    def derivative(self, z: Floats, y: Floats) -> Floats:
        """``∂f/∂z (z, y)``, element by element."""
        raise TypeError(f"{type(self).__name__} does not define derivative(z, y).")

    def smoothness(self, y: Floats) -> Floats:
        """A bound on ``|f''|`` for each example."""
        raise TypeError(f"{type(self).__name__} does not define smoothness(y).")

    @property
    def vector(self) -> bool:
        """Whether f takes several numbers: the outputs of an example, or the rows of a block."""
        return self.outputs is not None

    def bound(self, examples: Any) -> "Loss":
        """The loss for these examples, or one sentence that says why the two do not go together."""
        if examples.grouped:
            raise TypeError(
                f"X is Blocks, rows that belong together, but {type(self).__name__} takes one row at a time."
            )
        if len(self.y) != examples.n:
            raise ValueError(f"X has {examples.n} rows but y has {len(self.y)} entries; they must be equal.")
        return self

    def values(self, z: Floats, indices: Indices | None = None) -> Floats:
        """``φ_i(z_i)``, weighted, for all examples or for the listed ones."""
        y = self.y if indices is None else self.y[indices]
        return self.weighted(np.asarray(self.value(z, y), dtype=np.float64), indices)

    def derivatives(self, z: Floats, indices: Indices | None = None) -> Floats:
        """``φ_i'(z_i)``, weighted, for all examples or for the listed ones."""
        y = self.y if indices is None else self.y[indices]
        return self.weighted(np.asarray(self.derivative(z, y), dtype=np.float64), indices)

    @property
    def has_conjugate(self) -> bool:
        """Whether a duality gap can be computed: a conjugate is known and every φ_i is convex."""
        return hasattr(self, "conjugate") and self.all_convex

    @property
    def all_convex(self) -> bool:
        """Whether every single φ_i is convex; a negative weight turns f upside down."""
        return self.convex and (self.weight is None or bool((self.weight >= 0).all()))

    @property
    def l(self) -> Floats:  # noqa: E743  (the paper's name)
        """Smoothness constants ``l_i = |weight_i| · smoothness``."""
        base = vector("smoothness(y)", self.smoothness(self.y), len(self.y))
        return base if self.weight is None else np.abs(self.weight) * base

    @property
    def common_l(self) -> float | Floats:
        """The l_i, or the one number that all of them are, where that is known."""
        return self.l

    def weighted(self, values: Floats, indices: Indices | None = None) -> Floats:
        """`values`, each times its example's weight."""
        if self.weight is None:
            return values
        return values * (self.weight if indices is None else self.weight[indices])

    def weighted_conjugate(self, alpha: Floats) -> Floats:
        """``φ_i*(−α_i) = weight_i f*(−α_i/weight_i)`` for each example, for a loss that defines `conjugate`."""
        conjugate = self.conjugate  # type: ignore[attr-defined]
        if self.weight is None:
            return np.asarray(conjugate(alpha, self.y), dtype=np.float64)
        used = self.weight > 0
        out = np.where(alpha == 0, 0.0, np.inf)
        out[used] = self.weight[used] * conjugate(alpha[used] / self.weight[used], self.y[used])
        return out

    def at_zero(self, total: int) -> tuple[float, float]:
        """Means of ``φ_i(0)`` and of ``φ_i*(0)``, of `total` outputs, for a loss that defines `conjugate`."""
        zero = np.zeros(total)
        return float(self.values(zero).mean()), float(self.weighted_conjugate(zero).mean())

    def project(self, alpha: Floats) -> Floats:
        """α moved to the nearest point where every ``φ_i*(−α_i)`` is finite; a loss of your own leaves it as it is."""
        return alpha

    @property
    def native(self) -> tuple[Any, ...] | None:
        """What the kernels need to evaluate this loss themselves, or None for a loss in Python."""
        if self.compiled is None:
            return None
        if not isinstance(self.compiled, tuple) or len(self.compiled) != 2:
            raise TypeError(f"compiled is {self.compiled!r:.60}; it must be a pair (value, derivative).")
        functions = tuple(address(name, f) for name, f in zip(("value", "derivative"), self.compiled, strict=True))
        return ("compiled", self.y, self.weight, functions)
