"""Samplings built on a partition of the examples: chunks, blocks, parts of a cluster, buckets."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dualfree import eso
from dualfree._native import kernels
from dualfree.arrays import Floats, probabilities, whole
from dualfree.chunking import chunks as naive_chunks
from dualfree.groups import Groups
from dualfree.samplings.base import Drawer, Draws, Sampling

if TYPE_CHECKING:
    from dualfree.problem import Problem


class Chunks(Sampling):
    """τ of k chunks without replacement, each chunk with about the same number of nonzeros.

    Each of τ cores takes one chunk, so that none waits for long.

    Parameters
    ----------
    tau : int
        Chunks an iteration, between 1 and k.
    chunks : optional
        Sizes of contiguous chunks, a list of index arrays, or a number of equal ones; by default those of
        `dualfree.chunks`, Algorithm 2 of the paper.
    """

    def __init__(self, tau: int, chunks: Any = None) -> None:
        self.tau = whole("tau", tau, 1)
        self.chunks = chunks

    def groups(self, problem: "Problem") -> Groups:
        """The chunks on this problem."""
        chosen = naive_chunks(problem.examples.nonzeros) if self.chunks is None else self.chunks
        groups = Groups.build("chunks", chosen, problem.n)
        if self.tau > groups.count:
            raise ValueError(f"tau is {self.tau}, but there are only {groups.count} chunks; tau must not exceed that.")
        return groups

    def probabilities(self, problem: "Problem") -> Floats:
        return np.full(problem.n, self.tau / self.groups(problem).count)

    def eso(self, problem: "Problem") -> Floats:
        return eso.chunks(problem.examples, self.groups(problem), self.tau)

    def drawer(self, problem: "Problem", p: Floats) -> Drawer:
        groups, tau = self.groups(problem), self.tau

        def draw(seed: int, first: int, count: int) -> Draws:
            drawn = kernels.draw_nice(seed, first, count, groups.count, tau)
            indices, part_start = kernels.expand(drawn, groups.members, groups.start)
            return Draws(indices, np.ascontiguousarray(part_start[::tau]), part_start)

        return draw


class Partition(Sampling):
    """One block of a partition, block G with probability q_G.

    Parameters
    ----------
    blocks
        Sizes of contiguous blocks, a list of index arrays, or a number of equal ones.
    q : array, optional
        Probability of each block, adding up to 1; uniform by default.
    """

    def __init__(self, blocks: Any, q: ArrayLike | None = None) -> None:
        self.blocks = blocks
        self.q = q

    def groups(self, problem: "Problem") -> Groups:
        """The blocks on this problem."""
        return Groups.build("blocks", self.blocks, problem.n)

    def block_probabilities(self, groups: Groups) -> Floats:
        """q, checked."""
        if self.q is None:
            return np.full(groups.count, 1 / groups.count)
        return probabilities("q", self.q, groups.count, total=1.0)

    def probabilities(self, problem: "Problem") -> Floats:
        groups = self.groups(problem)
        return self.block_probabilities(groups)[groups.of_each_example()]

    def eso(self, problem: "Problem") -> Floats:
        return eso.partition(problem.examples, self.groups(problem))

    def drawer(self, problem: "Problem", p: Floats) -> Drawer:
        groups = self.groups(problem)
        return draw_whole_groups(groups, self.block_probabilities(groups))


class Distributed(Sampling):
    """τ-nice within each part, independently: what a cluster does whose machines hold the parts.

    Parameters
    ----------
    parts
        A number of equal contiguous parts, their sizes, or a list of index arrays.
    tau : int
        Examples from each part, at most the size of the smallest.
    """

    def __init__(self, parts: Any, tau: int) -> None:
        self.parts = parts
        self.tau = whole("tau", tau, 1)

    def groups(self, problem: "Problem") -> Groups:
        """The parts on this problem."""
        groups = Groups.build("parts", self.parts, problem.n)
        if self.tau > groups.sizes.min():
            raise ValueError(f"tau is {self.tau}, but the smallest part has only {groups.sizes.min()} examples.")
        return groups

    def probabilities(self, problem: "Problem") -> Floats:
        groups = self.groups(problem)
        return (self.tau / groups.sizes)[groups.of_each_example()]

    def eso(self, problem: "Problem") -> Floats:
        return eso.distributed(problem.examples, self.groups(problem), self.tau)

    def drawer(self, problem: "Problem", p: Floats) -> Drawer:
        groups, tau = self.groups(problem), self.tau
        return lambda seed, first, count: Draws.of_equal_size(
            kernels.draw_parts(seed, first, count, groups.members, groups.start, tau), groups.count * tau, tau
        )


class Buckets(Sampling):
    """One example from each bucket, by importance inside it: a mini-batch with importance probabilities.

    Parameters
    ----------
    buckets
        A number of equal contiguous buckets (the batch size), their sizes, or a list of index arrays.
    p : array of length n, optional
        Probability of each example inside its bucket, adding up to 1 in each; by default in proportion to
        ``1 + l_i‖A_i‖²/(λn)``.
    """

    def __init__(self, buckets: Any, p: ArrayLike | None = None) -> None:
        self.buckets = buckets
        self.p = p

    def groups(self, problem: "Problem") -> Groups:
        """The buckets on this problem."""
        return Groups.build("buckets", self.buckets, problem.n)

    def probabilities(self, problem: "Problem") -> Floats:
        groups = self.groups(problem)
        bucket = groups.of_each_example()
        if self.p is None:
            score = 1 + problem.l * problem.norms**2 / (problem.lam * problem.n)
            return np.asarray(score / groups.sums(score)[bucket])
        p = probabilities("p", self.p, problem.n)
        totals = groups.sums(p)
        if (np.abs(totals - 1) > 1e-9).any():
            at = int(np.argmax(np.abs(totals - 1)))
            raise ValueError(f"p adds up to {totals[at]:.12g} in bucket {at}; it must add up to 1 in every bucket.")
        return p

    def eso(self, problem: "Problem") -> Floats:
        return eso.buckets(problem.examples, self.groups(problem), self.probabilities(problem))

    def drawer(self, problem: "Problem", p: Floats) -> Drawer:
        groups = self.groups(problem)
        tables = [kernels.alias_table(p[members]) for members in np.split(groups.members, groups.start[1:-1])]
        keep = np.concatenate([table[0] for table in tables])
        other = np.concatenate([table[1] for table in tables])
        return lambda seed, first, count: Draws.of_equal_size(
            kernels.draw_buckets(seed, first, count, groups.members, groups.start, keep, other), groups.count
        )


def draw_whole_groups(groups: Groups, q: Floats) -> Drawer:
    """One group an iteration, group g with probability q_g."""
    keep, other = kernels.alias_table(q)

    def draw(seed: int, first: int, count: int) -> Draws:
        drawn = kernels.draw_alias(seed, first, count, keep, other)
        return Draws(*kernels.expand(drawn, groups.members, groups.start))

    return draw
