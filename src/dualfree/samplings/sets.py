"""An explicit list of sets with probabilities: any sampling at all, for small problems and for tests."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualfree import eso
from dualfree.arrays import Floats, Indices, probabilities
from dualfree.groups import Groups
from dualfree.samplings.base import Drawer, Sampling
from dualfree.samplings.grouped import draw_whole_groups

if TYPE_CHECKING:
    from dualfree.problem import Problem

_SMALL = 1000  # up to here an n × n eigenvalue is a matter of a second


class SetList(Sampling):
    """Sets S_1, ..., S_k, the one drawn being S_r with probability q_r.

    Parameters
    ----------
    sets : list of index arrays
        They may overlap; together they must hold every example.
    q : array, optional
        Probability of each set, adding up to 1; uniform by default.

    Notes
    -----
    For n ≤ 1000 the ESO is exact: the least constant v, by an eigenvalue. Beyond, it is the fall-back
    ``β_j = min(ω_j, max_r |S_r|)``.

    Examples
    --------
    >>> import dualfree as df
    >>> problem = df.Problem(np.eye(3), df.losses.Squared(np.ones(3)), lam=1.0)
    >>> SetList([[0, 1], [1, 2]]).bind(problem).p.tolist()
    [0.5, 1.0, 0.5]
    """

    def __init__(self, sets: Sequence[ArrayLike], q: ArrayLike | None = None) -> None:
        if not np.iterable(sets):
            raise TypeError(f"sets is {sets!r:.60}; it must be a list of index arrays.")
        self.sets = [_as_set(s) for s in sets]
        if not self.sets:
            raise ValueError("sets is empty; it must hold at least one set of examples.")
        uniform = np.full(len(self.sets), 1 / len(self.sets))
        self.q: Floats = uniform if q is None else probabilities("q", q, len(self.sets), total=1.0)

    def largest(self, problem: "Problem") -> int:
        return max(len(s) for s in self.sets)

    def probabilities(self, problem: "Problem") -> Floats:
        p = np.zeros(problem.n)
        for members, q in zip(self.sets, self.q, strict=True):
            if members.max() >= problem.n:
                raise ValueError(f"sets names example {members.max()}; examples are numbered 0..{problem.n - 1}.")
            p[members] += q
        if (p == 0).any():
            missing = int(np.flatnonzero(p == 0)[0])
            raise ValueError(f"sets never holds example {missing}; every example must be in at least one set.")
        return np.minimum(p, 1.0)

    def pair_probabilities(self, n: int) -> NDArray[np.float64]:
        """``Prob(i, j ∈ Ŝ)`` for all pairs."""
        pairs = np.zeros((n, n))
        for members, q in zip(self.sets, self.q, strict=True):
            pairs[np.ix_(members, members)] += q
        return pairs

    def eso(self, problem: "Problem") -> Floats:
        if problem.n > _SMALL:
            return super().eso(problem)
        return eso.exact(problem.examples, self.probabilities(problem), self.pair_probabilities(problem.n))

    def drawer(self, problem: "Problem", p: Floats) -> Drawer:
        start = np.concatenate([[0], np.cumsum([len(s) for s in self.sets])]).astype(np.int64)
        return draw_whole_groups(Groups(np.concatenate(self.sets), start), self.q)


def _as_set(members: ArrayLike) -> Indices:
    array = np.atleast_1d(np.asarray(members))
    if array.dtype.kind == "u":
        array = array.astype(np.int64)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind != "i" or array.min() < 0:
        raise ValueError(f"sets holds {members!r:.60}; each set must be a non-empty list of example numbers.")
    if len(np.unique(array)) != len(array):
        raise ValueError(f"sets holds {members!r:.60}, which names an example twice.")
    return array.astype(np.int64)
