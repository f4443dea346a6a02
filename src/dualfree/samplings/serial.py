"""Serial samplings: one example an iteration."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dualfree import eso, memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices, positive, probabilities, whole
from dualfree.samplings.base import Drawer, Draws, Sampling

if TYPE_CHECKING:
    from dualfree.problem import Problem


class _Serial(Sampling):
    def largest(self, problem: "Problem") -> int:
        return 1

    def eso(self, problem: "Problem") -> Floats:
        return eso.serial(problem.examples)

    def drawer(self, problem: "Problem", p: Floats) -> Drawer:
        keep, other = kernels.alias_table(p)
        return lambda seed, first, count: Draws(kernels.draw_alias(seed, first, count, keep, other))


class _Even(_Serial):
    def probabilities(self, problem: "Problem") -> Floats:
        return memory.repeated(1 / problem.n, problem.n)


class Uniform(_Even):
    """Each example with probability 1/n.

    Examples
    --------
    >>> import dualfree as df
    >>> bound = Uniform().bind(df.Problem(np.eye(3), df.losses.Squared(np.ones(3)), lam=1.0))
    >>> bound.p.tolist() == [1/3] * 3, bound.v.tolist(), bound.draw(0, 5).count
    (True, [1.0, 1.0, 1.0], 5)
    """

    def drawer(self, problem: "Problem", p: Floats) -> Drawer:
        return lambda seed, first, count: Draws(kernels.draw_uniform(seed, first, count, problem.n))


class Importance(_Serial):
    """The serial probabilities for which the iteration bound is least.

    ``p_i ∝ 1 + l_i v_i/(λn)`` for Theorem 2 (convex losses), ``p_i ∝ 1 + L_i² v_i/(λσn)`` for Theorem 1
    (σ is λ where the average loss is convex; see `Convexity`).

    Parameters
    ----------
    theorem : {1, 2}, optional
        By default 2 where every φ_i is convex, otherwise 1.

    Examples
    --------
    >>> import dualfree as df
    >>> X = np.diag([1.0, 2.0])
    >>> Importance().bind(df.Problem(X, df.losses.Squared(np.ones(2)), lam=0.5)).p.tolist()
    [0.2857142857142857, 0.7142857142857143]
    """

    def __init__(self, theorem: int | None = None) -> None:
        self.theorem = None if theorem is None else whole("theorem", theorem, 1, 2)

    def probabilities(self, problem: "Problem") -> Floats:
        theorem = self.theorem or (2 if problem.loss.all_convex else 1)
        v = self.eso(problem)
        if theorem == 2:
            problem.require_convex("Importance(theorem=2)")
            score = 1 + problem.l * v / (problem.lam * problem.n)
        else:
            score = 1 + problem.L**2 * v / (problem.lam * problem.convexity.sigma * problem.n)
        return np.asarray(score / score.sum())


class Serial(_Serial):
    """Each example with its own given probability.

    Parameters
    ----------
    p : array of length n
        Above 0, adding up to 1.
    """

    def __init__(self, p: ArrayLike) -> None:
        self.p = p

    def probabilities(self, problem: "Problem") -> Floats:
        return probabilities("p", self.p, problem.n, total=1.0)


class RandomSerial(_Serial):
    """Random serial probabilities with ``max p / min p < c``, the paper's "random c".

    Parameters
    ----------
    c : float
        Above 1.
    seed : int
        Of the probabilities; the draws have the seed of the run.
    """

    def __init__(self, c: float, seed: int = 0) -> None:
        self.c = positive("c", c)
        self.seed = whole("seed", seed, 0)
        if c <= 1:
            raise ValueError(f"c is {c!r}; it must be above 1, the ratio of the largest to the least probability.")

    def probabilities(self, problem: "Problem") -> Floats:
        p = np.random.default_rng(self.seed).uniform(1.0, self.c, size=problem.n)
        return np.asarray(p / p.sum())


class Shuffled(_Even):
    """Every example once an epoch, in a fresh random order.

    No theorem here covers it (the visits of an epoch are not independent), but in practice it needs about half the
    epochs of `Uniform`. It is the default of `dualfree.solve`.
    """

    covered = False

    def drawer(self, problem: "Problem", p: Floats) -> Drawer:
        n = problem.n
        last: dict[tuple[int, int], Indices] = {}  # the epoch under way: it is drawn once and used in pieces

        def order(seed: int, epoch: int) -> Indices:
            if (seed, epoch) not in last:
                last.clear()
                last[seed, epoch] = kernels.draw_permutation(seed, epoch, n)
            return last[seed, epoch]

        def draw(seed: int, first: int, count: int) -> Draws:
            pieces = [order(seed, first // n)[:0]]
            while count > 0:
                epoch, at = divmod(first, n)
                piece = order(seed, epoch)[at : at + count]
                pieces.append(piece)
                first, count = first + len(piece), count - len(piece)
            return Draws(pieces[1] if len(pieces) == 2 else np.concatenate(pieces))

        return draw
