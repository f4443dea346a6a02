"""Losses on blocks of rows: which row of a group was chosen, and how its rows rank."""

import copy
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats, vector
from dualfree.examples import Blocks
from dualfree.losses.builtin import BuiltIn


class _OnBlocks(BuiltIn, ABC):
    """A native loss on the rows of a group; it knows the groups once it is bound to examples."""

    _start: Any = None
    vector = True
    largest_curvature = 0.5

    @property
    def places(self) -> tuple[Any, ...] | None:
        return None if self._start is None else (self._start,)

    def bound(self, examples: Any) -> Self:
        if not isinstance(examples, Blocks):
            raise TypeError(
                f"{type(self).__name__} needs rows that belong together: give df.Blocks(X, group_ptr) for X."
            )
        self._check(examples)
        bound = copy.copy(self)
        bound._start = examples.start
        return bound

    @abstractmethod
    def _check(self, examples: Blocks) -> None:
        """Raise one sentence where targets and groups do not go together."""


class ConditionalLogit(_OnBlocks):
    """McFadden's conditional logit: ``f(z) = log Σ_k exp(z_k) − z_y`` over the rows of a group, y the chosen one.

    For discrete choices among alternatives described by features, and for matched case-control studies. 1/2-smooth;
    ``f*(−a) = Σ s_k log s_k`` for ``s = e_y − a`` in the simplex.

    Parameters
    ----------
    chosen : array of length n
        For each group the place of the chosen row in it, from 0.
    weight : array of length n, optional
        One factor for each group.

    Examples
    --------
    >>> import dualfree as df
    >>> X = np.array([[1.0], [2.0], [0.0], [3.0], [1.0]])
    >>> problem = df.Problem(df.Blocks(X, [0, 2, 5]), ConditionalLogit([1, 1]), lam=0.1)
    >>> df.solve(problem).w.round(3).tolist()
    [1.512]
    """

    kind = "softmax"

    def __init__(self, chosen: ArrayLike, weight: ArrayLike | None = None) -> None:
        super().__init__(chosen, weight)
        if (self.y != np.round(self.y)).any() or (self.y < 0).any():
            at = int(np.argmax((self.y != np.round(self.y)) | (self.y < 0)))
            raise ValueError(f"chosen[{at}] is {self.y[at]:g}; it must be the place of a row in its group, from 0.")

    def _check(self, examples: Blocks) -> None:
        if len(self.y) != examples.n:
            raise ValueError(f"X has {examples.n} groups but chosen has {len(self.y)} entries; they must be equal.")
        beyond = np.flatnonzero(self.y >= examples.sizes)
        if len(beyond):
            at = int(beyond[0])
            raise ValueError(f"chosen[{at}] is {self.y[at]:g}, but group {at} has {examples.sizes[at]} rows, from 0.")


class ListNet(_OnBlocks):
    """Top-one listwise ranking: the cross-entropy between the softmax of the relevances and that of the scores.

    ``f(z) = log Σ_k exp(z_k) − Σ_k q_k z_k``, ``q = softmax(relevance)`` within each group (Cao and others, 2007).
    1/2-smooth; ``f*(−a) = Σ s_k log s_k`` for ``s = q − a`` in the simplex.

    Parameters
    ----------
    relevance : array with one number for each row
        The larger, the higher in its group the row should rank.
    weight : array of length n, optional
        One factor for each group.

    Examples
    --------
    >>> import dualfree as df
    >>> X = np.array([[1.0], [0.0], [0.0], [3.0], [1.0]])
    >>> problem = df.Problem(df.Blocks(X, [0, 2, 5]), ListNet([1.0, 0.0, 0.0, 2.0, 1.0]), lam=0.1)
    >>> bool(df.solve(problem).w[0] > 0)
    True
    """

    kind = "cross-entropy"

    def __init__(self, relevance: ArrayLike, weight: ArrayLike | None = None) -> None:
        self.y: Floats = vector("relevance", relevance)
        self.relevance = self.y  # once bound, y is the distribution q
        self.weight: Floats | None = None if weight is None else vector("weight", weight)

    def _check(self, examples: Blocks) -> None:
        found = len(self.relevance)
        if found != examples.total:
            raise ValueError(f"X has {examples.total} rows but relevance has {found} entries; they must be equal.")
        if self.weight is not None and len(self.weight) != examples.n:
            raise ValueError(
                f"X has {examples.n} groups but weight has {len(self.weight)} entries; they must be equal."
            )

    def bound(self, examples: Any) -> Self:
        bound = super().bound(examples)
        top = np.maximum.reduceat(self.relevance, examples.start[:-1])
        raised = np.exp(self.relevance - examples.spread(top))
        bound.y = raised / examples.spread(np.add.reduceat(raised, examples.start[:-1]))
        return bound

    @property
    def l(self) -> Floats:  # noqa: E743  (the paper's name)
        count = len(self.y) if self._start is None else len(self._start) - 1
        return np.full(count, 0.5) if self.weight is None else 0.5 * np.abs(self.weight)
