"""What a sampling is: probabilities, ESO parameters, and a way to draw sets of examples."""

import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualfree import eso
from dualfree.arrays import Floats, Indices, probabilities, vector, whole

if TYPE_CHECKING:
    from dualfree.lookout import Watch
    from dualfree.problem import Problem


@dataclass(frozen=True)
class Draws:
    """Many iterations' sets, one after the other.

    `indices` lists the examples; iteration t visits ``indices[batch_start[t]:batch_start[t + 1]]``, or
    ``indices[t]`` alone where `batch_start` is None. `part_start` cuts the same list into the pieces of work that
    stay together on one core (chunks, parts); None means that each example is a piece of its own.
    """

    indices: Indices
    batch_start: Indices | None = None
    part_start: Indices | None = None

    @property
    def count(self) -> int:
        """Number of iterations."""
        return len(self.indices) if self.batch_start is None else len(self.batch_start) - 1

    def between(self, first: int, last: int) -> "Draws":
        """Iterations ``first .. last − 1`` of these, without their parts.

        Examples
        --------
        >>> draws = Draws.of_equal_size(np.arange(6), size=2).between(1, 3)
        >>> draws.indices.tolist(), draws.batch_start.tolist()
        ([2, 3, 4, 5], [0, 2, 4])
        """
        if self.batch_start is None:
            return Draws(self.indices[first:last])
        start = self.batch_start[first : last + 1]
        return Draws(self.indices[start[0] : start[-1]], start - start[0])

    @classmethod
    def of_equal_size(cls, indices: Indices, size: int, part: int | None = None) -> "Draws":
        """Batches of `size` examples each, in parts of `part` examples each."""
        batch_start = np.arange(0, len(indices) + 1, size, dtype=np.int64)
        part_start = None if part is None else np.arange(0, len(indices) + 1, part, dtype=np.int64)
        return cls(indices, batch_start, part_start)


class Looks(NamedTuple):
    """When a run may be done, by what α has moved since `every` epochs ago; see `dualfree.lookout`."""

    every: float
    ratio: float
    """Of the gap to the sum that the moves bound, for a condition number of one ..."""
    power: float
    """... and the power of the condition number with which it grows."""
    margin: float
    """By how much the predicted gap must be below the tolerance: an evaluation in vain costs about an epoch."""


Drawer = Callable[[int, int, int], Draws]  # (seed, first step, number of steps)


class Sampling:
    """A random set Ŝ of examples, drawn afresh at each iteration.

    To write one of your own, subclass it and define ``probabilities(problem)``, the n numbers ``Prob(i ∈ Ŝ)``, and
    ``draw(problem, rng)``, one set as an array of distinct example numbers. Optional: ``largest(problem)``, a bound on
    |Ŝ| that sharpens the fall-back ESO ``β_j = min(ω_j, largest)``, or ``eso(problem)``, a better v altogether.

    Examples
    --------
    >>> class EvenOrOdd(Sampling):
    ...     def probabilities(self, problem): return np.full(problem.n, 0.5)
    ...     def draw(self, problem, rng): return np.arange(rng.integers(2), problem.n, 2)
    ...     def largest(self, problem): return (problem.n + 1) // 2
    >>> import dualfree as df
    >>> problem = df.Problem(np.eye(4), df.losses.Squared(np.ones(4)), lam=0.25)
    >>> df.solve(problem, sampling=EvenOrOdd(), step="theorem-2").certificate.relative_gap < 1e-6
    True
    """

    covered: ClassVar[bool] = True
    """Whether the theorems cover it: the sets of different iterations are independent."""

    adapts: ClassVar[bool] = False
    """Whether the probabilities follow the run: then no step may rest on them."""

    looks: ClassVar[Looks] = Looks(every=1.0, ratio=0.35, power=0.5, margin=1.0)
    """Measured: how the moves of an epoch tell the duality gap."""

    def probabilities(self, problem: "Problem") -> ArrayLike:
        """``p_i = Prob(i ∈ Ŝ)``."""
        raise TypeError(f"{type(self).__name__} does not define probabilities(problem).")

    def draw(self, problem: "Problem", rng: np.random.Generator) -> ArrayLike:
        """One set, as an array of distinct example numbers."""
        raise TypeError(f"{type(self).__name__} does not define draw(problem, rng).")

    def largest(self, problem: "Problem") -> int:
        """A bound on |Ŝ|."""
        return problem.n

    def eso(self, problem: "Problem") -> Floats:
        """Parameters v with ``E‖Σ_{i∈Ŝ} A_i h_i‖² ≤ Σ p_i v_i ‖h_i‖²``."""
        return eso.bounded(problem.examples, self._checked_largest(problem))

    def _checked_largest(self, problem: "Problem") -> int:
        largest = whole(f"{type(self).__name__}.largest(problem)", self.largest(problem), 1)
        mean = float(np.sum(self.probabilities(problem)))
        if mean > largest * (1 + 1e-9):
            raise ValueError(
                f"{type(self).__name__}.largest(problem) is {largest}, but the probabilities add up to {mean:g}: "
                "sets have that many examples on average, so largest must be at least that."
            )
        return largest

    def drawer(self, problem: "Problem", p: Floats) -> Drawer:
        """How to draw many sets at once: native for the built-in samplings, by `draw` otherwise."""
        return lambda seed, first, count: _draw_in_python(self, problem, seed, first, count)

    def bind(self, problem: "Problem") -> "BoundSampling":
        """Everything that this sampling is on one problem: p, v and a draw."""
        p = probabilities("p", self.probabilities(problem), problem.n)
        v = np.asarray(self.eso(problem), dtype=np.float64)
        if np.isinf(v).any():
            raise ValueError(
                f"v[{int(np.argmax(v))}] is inf: the entries of X are too large to be squared; scale X down."
            )
        v = vector("v", v, problem.n)
        if (v < 0).any():
            raise ValueError(f"v[{int(np.argmin(v))}] is {v.min():g}; ESO parameters cannot be negative.")
        return BoundSampling(self, problem, p, v, self.drawer(problem, p))

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={reprlib.repr(v)}" for k, v in vars(self).items() if not k.startswith("_"))
        return f"{type(self).__name__}({shown})"


@dataclass(frozen=True, eq=False)
class BoundSampling:
    """A sampling on one problem.

    Attributes
    ----------
    p : array of length n
        ``Prob(i ∈ Ŝ)``.
    v : array of length n
        ESO parameters.
    """

    sampling: Sampling
    problem: "Problem"
    p: Floats
    v: Floats
    _drawer: Drawer | None  # not its own method: a ring of references keeps X, and all memory of a fit, for long

    @cached_property
    def thetas(self) -> dict[int, float]:
        """θ of each theorem, once it is known: see `dualfree.steps.theorem_theta`."""
        return {}

    @property
    def even(self) -> bool:
        """Whether p is one number repeated (see `dualfree.memory.repeated`)."""
        return self.p.strides == (0,)

    @property
    def largest_v(self) -> float:
        """``max_i v_i``."""
        examples = self.problem.examples
        return examples.largest_square_norm if self.v is examples.square_norms else float(self.v.max())

    @cached_property
    def mean_size(self) -> float:
        """``E|Ŝ| = Σ p_i``; whole where only rounding keeps it from being so, and then epochs are whole too."""
        total = len(self.p) * float(self.p[0]) if self.even else float(self.p.sum())
        return float(round(total)) if abs(total - round(total)) <= 1e-9 * total else total

    @cached_property
    def iterations_per_epoch(self) -> float:
        """Iterations that visit n examples on average."""
        return self.problem.n / self.mean_size

    @cached_property
    def look_every(self) -> float:
        """Epochs after which to ask whether a run may be done."""
        return self.sampling.looks.every

    @property
    def fresh_until(self) -> float:
        """The iteration up to which draws may be asked for; then `refresh` is due. Most samplings never need it."""
        return np.inf

    def refresh(self, w: Floats, alpha: Floats, offset: float = 0.0, iteration: int = 0) -> None:
        """Called with where the run stands, when it has come to `fresh_until`."""

    def rounds(self, first: int, until: int, seed: int, watch: "Watch | None" = None) -> Any:
        """After `refresh`, whole rounds up to iteration `until` for a kernel that draws by itself; None: use `draw`.

        With a `watch`, a question is asked after each `every` epochs of it.
        """
        return None

    @property
    def memory(self) -> dict[str, NDArray[Any]]:
        """What the draws to come depend on, beside seed and iteration; a checkpoint keeps it."""
        return {}

    def recall(self, memory: dict[str, NDArray[Any]]) -> None:
        """Take back what `memory` gave."""

    def draw(self, first: int, count: int, seed: int = 0) -> Draws:
        """The sets of iterations ``first .. first + count − 1``: they depend on (seed, iteration) alone."""
        seed, first = whole("seed", seed, 0, 2**64 - 1), whole("first", first, 0, 2**62)
        return self._draw(seed, first, whole("count", count, 0, 2**40))

    def _draw(self, seed: int, first: int, count: int) -> Draws:
        assert self._drawer is not None
        return self._drawer(seed, first, count)


_PYTHON_STREAM = 1000  # apart from the streams of the native samplings


def _draw_in_python(sampling: Sampling, problem: "Problem", seed: int, first: int, count: int) -> Draws:
    sets = [np.empty(0, dtype=np.int64)]
    key = np.array([seed, _PYTHON_STREAM], dtype=np.uint64)  # a list of a large and a small int would become floats
    for step in range(first, first + count):
        generator = np.random.Philox(key=key, counter=[0, step, 0, 0])
        sets.append(_checked(sampling, sampling.draw(problem, np.random.Generator(generator)), problem))
    start = np.cumsum([len(s) for s in sets], dtype=np.int64)
    return Draws(np.concatenate(sets), start)


def _checked(sampling: Sampling, drawn: ArrayLike, problem: "Problem") -> Indices:
    name, n = type(sampling).__name__, problem.n
    try:
        indices = np.atleast_1d(np.asarray(drawn))
    except ValueError:
        raise TypeError(f"{name}.draw returned {drawn!r:.60}; it must be a vector of example numbers.") from None
    if indices.size == 0:
        return np.empty(0, dtype=np.int64)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise TypeError(
            f"{name}.draw returned {indices.dtype} of shape {indices.shape}; it must be a vector of example numbers."
        )
    if indices.min() < 0 or indices.max() >= n:
        outside = indices[(indices < 0) | (indices >= n)][0]
        raise ValueError(f"{name}.draw returned example {outside}; examples are numbered 0..{n - 1}.")
    if len(np.unique(indices)) != len(indices):
        raise ValueError(f"{name}.draw returned an example twice; a set holds each at most once.")
    if len(indices) > sampling.largest(problem):
        raise ValueError(
            f"{name}.draw returned {len(indices)} examples; {name}.largest(problem) promises at most "
            f"{sampling.largest(problem)}."
        )
    return indices.astype(np.int64)
