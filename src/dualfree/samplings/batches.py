"""Mini-batches of single examples: the standard one, and independent coins."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dualfree import eso
from dualfree._native import kernels
from dualfree.arrays import Floats, positive, probabilities, whole
from dualfree.samplings.base import Drawer, Draws, Sampling

if TYPE_CHECKING:
    from dualfree.problem import Problem


class Nice(Sampling):
    """τ-nice, the standard mini-batch: τ examples, every subset of that size equally likely.

    Parameters
    ----------
    tau : int
        Batch size, between 1 and n.

    Examples
    --------
    >>> import dualfree as df
    >>> bound = Nice(2).bind(df.Problem(np.ones((3, 1)), df.losses.Squared(np.ones(3)), lam=1.0))
    >>> bound.p.tolist() == [2/3] * 3, bound.v.tolist()
    (True, [2.0, 2.0, 2.0])
    """

    def __init__(self, tau: int) -> None:
        self.tau = whole("tau", tau, 1)

    def largest(self, problem: "Problem") -> int:
        return whole("tau", self.tau, 1, problem.n)

    def probabilities(self, problem: "Problem") -> Floats:
        return np.full(problem.n, self.largest(problem) / problem.n)

    def eso(self, problem: "Problem") -> Floats:
        return eso.nice(problem.examples, self.tau)

    def drawer(self, problem: "Problem", p: Floats) -> Drawer:
        n, tau = problem.n, self.tau
        return lambda seed, first, count: Draws.of_equal_size(kernels.draw_nice(seed, first, count, n, tau), tau)


class Independent(Sampling):
    """Each example by a coin of its own.

    Parameters
    ----------
    p : float or array of length n
        Probability of each example, above 0 and at most 1.

    Notes
    -----
    A draw costs O(E|Ŝ| + log n), not O(n): examples are sorted by probability into levels, and misses are jumped over.
    """

    def __init__(self, p: float | ArrayLike) -> None:
        self.p = p

    def probabilities(self, problem: "Problem") -> Floats:
        p = np.full(problem.n, positive("p", self.p)) if np.ndim(self.p) == 0 else self.p
        return probabilities("p", p, problem.n)

    def eso(self, problem: "Problem") -> Floats:
        return eso.independent(problem.examples, self.probabilities(problem))

    def drawer(self, problem: "Problem", p: Floats) -> Drawer:
        # Level b: 2^-(b+1) < p <= 2^-b; frexp gives p = mantissa * 2^exponent with mantissa in [1/2, 1).
        mantissa, exponent = np.frexp(np.minimum(p, 1.0))
        level = np.minimum(np.where(mantissa == 0.5, 1 - exponent, -exponent), 62)
        members = np.argsort(level, kind="stable").astype(np.int64)
        start = np.searchsorted(level[members], np.arange(level.max() + 2)).astype(np.int64)
        ratio = np.ldexp(np.minimum(p, 1.0), level)[members]

        def draw(seed: int, first: int, count: int) -> Draws:
            return Draws(*kernels.draw_independent(seed, first, count, members, start, ratio))

        return draw
