"""Partitions of the examples into groups: chunks, blocks, parts of a cluster, buckets."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfree.arrays import Indices, whole


@dataclass(frozen=True)
class Groups:
    """Group g is ``members[start[g]:start[g + 1]]``; together the groups hold every example once.

    Examples
    --------
    >>> groups = Groups.build("chunks", [2, 1], n=3)
    >>> groups.count, groups.sizes.tolist(), groups.members.tolist()
    (2, [2, 1], [0, 1, 2])
    """

    members: Indices
    start: Indices

    @property
    def count(self) -> int:
        """Number of groups."""
        return len(self.start) - 1

    @property
    def sizes(self) -> Indices:
        """Examples in each group."""
        return np.diff(self.start)

    def of_each_example(self) -> Indices:
        """The group of example i, for each i."""
        out = np.empty(len(self.members), dtype=np.int64)
        out[self.members] = np.repeat(np.arange(self.count), self.sizes)
        return out

    def sums(self, values: Any) -> Any:
        """Sum of `values` over each group."""
        return np.add.reduceat(np.asarray(values)[self.members], self.start[:-1])

    @classmethod
    def equal(cls, name: str, count: Any, n: int) -> "Groups":
        """`count` contiguous groups whose sizes differ by at most one."""
        count = whole(name, count, 1, n)
        start = np.linspace(0, n, count + 1).round().astype(np.int64)
        return cls(np.arange(n, dtype=np.int64), start)

    @classmethod
    def build(cls, name: str, description: Any, n: int) -> "Groups":
        """Groups from a number of equal ones, from sizes of contiguous ones, or from a list of index arrays."""
        if isinstance(description, str) or not np.iterable(description):
            return cls.equal(name, description, n)
        items = list(description)
        if items and all(np.ndim(item) == 0 for item in items):
            return cls._from_sizes(name, np.asarray(items), n)
        return cls._from_members(name, [np.asarray(item) for item in items], n)

    @classmethod
    def _from_sizes(cls, name: str, sizes: Any, n: int) -> "Groups":
        if sizes.dtype.kind not in "iu" or (sizes <= 0).any() or (sizes > n).any():
            raise ValueError(f"{name} must be sizes between 1 and n = {n}, or index arrays; got {sizes[:6].tolist()}.")
        if sizes.sum() != n:
            raise ValueError(f"{name} has sizes that add up to {sizes.sum()}; they must add up to n = {n}.")
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(np.arange(n, dtype=np.int64), start)

    @classmethod
    def _from_members(cls, name: str, items: list[Any], n: int) -> "Groups":
        if not items or any(item.ndim != 1 or item.size == 0 or item.dtype.kind not in "iu" for item in items):
            raise ValueError(f"{name} must be a list of non-empty arrays of example numbers.")
        members = np.concatenate(items).astype(np.int64)
        outside = members[(members < 0) | (members >= n)]
        if len(outside):
            raise ValueError(f"{name} names example {outside[0]}; examples are numbered 0..{n - 1}.")
        counts = np.bincount(members, minlength=n)
        if (counts != 1).any():
            at = int(np.flatnonzero(counts != 1)[0])
            raise ValueError(f"{name} holds example {at} {counts[at]} times; each must be in exactly one group.")
        start = np.concatenate([[0], np.cumsum([len(item) for item in items])]).astype(np.int64)
        return cls(members, start)
