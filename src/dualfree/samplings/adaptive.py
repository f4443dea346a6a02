"""Probabilities that follow the run: an example is drawn more often, the further its α_i is from where it should be."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices, positive
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.samplings.serial import _Even

if TYPE_CHECKING:
    from dualfree.problem import Problem


class Adaptive(_Even):
    """AdaSDCA's probabilities ``p_i ∝ |α_i + φ_i'(A_iᵀw)| √(‖A_i‖² + nλ/l_i)``, taken anew at the start of each epoch.

    Given (w, α), these are the serial probabilities with the largest proven gain of the dual. Taking them anew costs a
    pass over the data, which the count of epochs leaves out and the clock does not. Steps that rest on p (θ/p_i) are
    refused; ``implicit`` and ``per-example`` steps do not rest on it.

    Parameters
    ----------
    shrink : float, optional
        Divide p_i by this after each visit of i within the epoch, as AdaSDCA+ does with 10: what was just visited has
        little left to gain. By default the probabilities of an epoch stay as they are.

    Notes
    -----
    The theory has probabilities that are fresh in each iteration; no theorem here covers those of an epoch.

    Examples
    --------
    >>> import dualfree as df
    >>> problem = df.Problem(np.diag([1.0, 2.0]), df.losses.Squared([1.0, 3.0]), lam=0.5)
    >>> bound = Adaptive().bind(problem)
    >>> bound.now.round(6).tolist()  # in proportion to 1·√(1 + 1) and 3·√(4 + 1), at w = 0 and α = 0
    [0.174112, 0.825888]
    >>> bound.refresh(np.zeros(2), np.array([1.0, 0.0]))
    >>> bound.now.tolist()
    [0.0, 1.0]
    """

    covered = False
    adapts = True

    def __init__(self, shrink: float | None = None) -> None:
        self.shrink = None if shrink is None else positive("shrink", shrink)
        if self.shrink is not None and self.shrink <= 1:
            raise ValueError(f"shrink is {shrink!r}; it must be above 1, for it divides the probability of a visit.")

    def bind(self, problem: "Problem") -> "AdaptiveBound":
        problem.require_convex("sampling='adaptive'")
        return AdaptiveBound(self, problem, self.probabilities(problem), self.eso(problem))


def gain_sizes(problem: "Problem", v: Floats) -> Floats:
    """``√(v_i + nλ/l_i)``: a move of α_i by δ gains the dual about ``(δ times this)²``, up to a factor for all."""
    l = problem.common_l  # noqa: E741  (the paper's name)
    # A loss of weight zero has l_i = 0 and nothing to move: any finite number will do.
    if isinstance(l, float):
        sizes = np.add(v, problem.n * problem.lam / l if l > 0 else 0.0, out=memory.empty(len(v)))
        return np.asarray(np.sqrt(sizes, out=sizes))
    with np.errstate(divide="ignore"):
        slack = problem.n * problem.lam / l
    return np.asarray(np.sqrt(v + np.where(np.isfinite(slack), slack, 0.0)))


class AdaptiveBound(BoundSampling):
    """`Adaptive` on one problem: `now` holds the present probabilities, and p those without knowledge, 1/n each."""

    def __init__(self, sampling: Adaptive, problem: "Problem", p: Floats, v: Floats) -> None:
        super().__init__(sampling, problem, p, v, None)
        set_once = object.__setattr__  # the class is frozen for its users
        set_once(self, "_size", gain_sizes(problem, v))
        set_once(self, "now", np.empty(problem.n))
        set_once(self, "_shrink", sampling.shrink)
        set_once(self, "_order", {})
        self.refresh(np.zeros(problem.d), np.zeros(problem.n))
        set_once(self, "_fresh_until", 0)

    _size: Floats
    now: Floats
    _shrink: float | None
    _fresh_until: int
    _order: dict[tuple[int, int], Indices]  # the epoch under way: it is drawn once and used in pieces

    @property
    def fresh_until(self) -> int:
        return self._fresh_until

    @property
    def memory(self) -> dict[str, NDArray[Any]]:
        return {"now": self.now, "fresh until": np.array(self._fresh_until)}

    def recall(self, memory: dict[str, NDArray[Any]]) -> None:
        self.now[:] = memory["now"]
        object.__setattr__(self, "_fresh_until", int(memory["fresh until"]))
        self._order.clear()

    def refresh(self, w: Floats, alpha: Floats, offset: float = 0.0, iteration: int = 0) -> None:
        """Take the probabilities that belong to (w, α); `offset` is added to every product with w."""
        loss = self.problem.loss
        z = self.problem.examples.margins(w, offset=offset)
        with np.errstate(over="ignore", invalid="ignore"):
            derivative = np.asarray(loss.weighted(loss.derivative(z, loss.y)), dtype=np.float64)
            residual = np.abs(alpha + derivative)
            largest = float(residual.max())
            weight = residual / largest * self._size if largest > 0 else np.ones(self.problem.n)
            total = float(weight.sum())
        usable = np.isfinite(total) and total > 0  # a run that has gone astray ends by its own rules
        self.now[:] = weight / total if usable else 1 / self.problem.n
        self._order.clear()
        object.__setattr__(self, "_fresh_until", (iteration // self.problem.n + 1) * self.problem.n)

    def _draw(self, seed: int, first: int, count: int) -> Draws:
        n, pieces = self.problem.n, [np.empty(0, dtype=np.int64)]
        while count > 0:
            epoch, at = divmod(first, n)
            piece = self._of_epoch(seed, epoch)[at : at + count]
            pieces.append(piece)
            first, count = first + len(piece), count - len(piece)
        return Draws(pieces[1] if len(pieces) == 2 else np.concatenate(pieces))

    def _of_epoch(self, seed: int, epoch: int) -> Indices:
        if (seed, epoch) not in self._order:
            self._order.clear()
            n = self.problem.n
            if self._shrink is None:
                drawn = kernels.draw_alias(seed, epoch * n, n, *kernels.alias_table(self.now))
            else:
                drawn = kernels.draw_shrinking(seed, epoch, self.now, self._shrink, n)
            self._order[seed, epoch] = drawn
        return self._order[seed, epoch]
