"""Rows that belong together: an example is a group of them."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.examples.rows import Rows
from dualfree.examples.shapes import Flat
from dualfree.examples.vectors import Vectors
from dualfree.groups import Groups

_HESSIAN_GROUPS = 4096


class Blocks(Vectors, Flat):
    """Rows of X that belong together: example i is the rows ``group_ptr[i] .. group_ptr[i + 1] − 1``.

    Its outputs are the products of these rows with w, ``m_i`` of them, so that losses such as
    `dualfree.losses.ConditionalLogit` may compare them. λ n counts the groups.

    Parameters
    ----------
    X : scipy.sparse CSR matrix or array, or ndarray, of shape (rows, d)
        As in `dualfree.Problem`; the rows of a group follow each other. It is not copied.
    group_ptr : array of length n + 1
        Where each group begins: from 0 to the number of rows, increasing.

    Examples
    --------
    >>> import dualfree as df
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.0, 2.0]])
    >>> blocks = Blocks(X, [0, 3, 5])  # three alternatives, then two
    >>> blocks.n, blocks.sizes.tolist(), blocks.norms.round(4).tolist()
    (2, [3, 2], [1.7321, 2.0])
    >>> problem = df.Problem(blocks, df.losses.ConditionalLogit([1, 0]), lam=0.1)
    >>> df.solve(problem).status
    <Status.CONVERGED: 'converged'>
    """

    constant_value = 0.0
    grouped = True

    def __init__(self, X: Any, group_ptr: ArrayLike) -> None:
        self.rows = Rows(X)
        self.X, self.d, self.stored = X, self.rows.d, self.rows.stored
        self.start = _starts(group_ptr, self.rows.n)
        self.n = len(self.start) - 1
        self.sizes: Indices = np.diff(self.start)
        self.m = int(self.sizes.max())

    @property
    def total(self) -> int:
        return self.rows.n

    @property
    def owners(self) -> Indices:
        """The group that each row of X belongs to."""
        return np.repeat(np.arange(self.n), self.sizes)

    def vectors(self, offset: Any = None) -> tuple[Any, ...]:
        """What the vector kernels take for these examples; there is no offset."""
        return self.rows.native, self.start

    def positions(self, indices: Indices) -> Indices:
        """Where the outputs of the listed examples are in α."""
        return rows_of(self.start, indices)

    def spread(self, values: Floats, indices: Indices | None = None) -> Floats:
        """One number for each of the listed examples (or of all), as one for each of their outputs."""
        return np.repeat(values, self.sizes if indices is None else self.sizes[indices])

    def sums(self, values: Floats) -> Floats:
        """For each example the sum over its outputs."""
        return np.asarray(np.add.reduceat(values, self.start[:-1]))

    def square_sums(self, alpha: Floats) -> Floats:
        """``‖α_i‖²`` for each example."""
        return self.sums(alpha**2)

    @property
    def typical_square_norm(self) -> float:
        """Mean of ``‖A_i‖²``."""
        return float(self.square_norms.mean())

    @cached_property
    def nonzeros(self) -> Indices:
        """Stored entries of each example: the work that one visit costs."""
        return np.add.reduceat(self.rows.nonzeros, self.start[:-1])

    @property
    def places(self) -> tuple[Indices]:
        """Where the outputs of each example lie in α, for the kernels."""
        return (self.start,)

    @cached_property
    def hessian_entries(self) -> float:
        """What `hessian_sum` takes for an example, in entries of a pass, at most."""
        return float(np.mean(np.square(self.nonzeros, dtype=np.float64))) / 6

    def listed_places(self, indices: Indices) -> tuple[Indices]:
        """As `places`, of the listed examples alone."""
        return (np.concatenate([[0], np.cumsum(self.sizes[indices])]).astype(np.int64),)

    def hessian_sum(self, curvatures: Floats, indices: Indices, coarse: bool = False, n_threads: int = 1) -> Floats:
        """``Σ A_i C_i A_iᵀ`` over the listed groups: a d × d array, for few features; never coarse, on one thread."""
        out, done = np.zeros((self.d, self.d)), 0
        for first in range(0, len(indices), _HESSIAN_GROUPS):  # a part at a time, so that no copy of X is made
            part = indices[first : first + _HESSIAN_GROUPS]
            numbers = int((self.sizes[part] ** 2).sum())
            X = self.X[rows_of(self.start, part)]
            product = X.T @ (_diagonal_blocks(curvatures[done : done + numbers], self.sizes[part]) @ X)
            out += product.toarray() if sparse.issparse(product) else product
            done += numbers
        return out

    def feature_sums(self, mass: Floats | None = None) -> Floats:
        """For each feature j, the sum of `mass` over the groups with a nonzero in j; their number if None."""
        out = np.zeros(self.d)
        kernels.block_feature_sums(self.rows.native, self.start, mass, out)
        return out

    def weighted_square_norms(self, beta: Floats | None, less: Floats | None = None) -> Floats:
        """``λ_max(Σ_j (β_j − less_i) a_ij a_ijᵀ)`` for each example."""
        out = np.empty(int((self.sizes**2).sum()))
        kernels.block_grams(self.rows.native, self.start, beta, less, out)
        return self._largest_eigenvalues(out)

    def groups_touching(self, groups: Groups) -> Floats:
        """For each feature j, the groups of examples with a nonzero in j."""
        out = np.zeros(self.d)
        start = np.concatenate([[0], np.cumsum(groups.sums(self.sizes))]).astype(np.int64)
        kernels.groups_touching(self.rows.native, rows_of(self.start, groups.members), start, out)
        return out

    def grouped_square_norms(self, groups: Groups, mass: Floats | None, *beta: Floats) -> Floats:
        """As in `Rows`, with the largest eigenvalue in place of the sum."""
        out = np.empty(int((self.sizes**2).sum()))
        kernels.grouped_block_grams(
            self.rows.native, self.start, groups.members, groups.start, mass, *beta, self._squares[:-1], out
        )
        return self._largest_eigenvalues(out)

    def gram(self) -> Floats:
        """``X Xᵀ``: the products of all pairs of rows, for small n."""
        return self.rows.gram()

    @property
    def _squares(self) -> Indices:
        """Where the m_i × m_i matrix of each example begins."""
        return np.concatenate([[0], np.cumsum(self.sizes**2)]).astype(np.int64)

    def _largest_eigenvalues(self, matrices: Floats) -> Floats:
        out, begin = np.empty(self.n), self._squares
        for m in np.unique(self.sizes):  # all of one size at once
            chosen = np.flatnonzero(self.sizes == m)
            stacked = matrices[begin[chosen][:, None] + np.arange(m * m)].reshape(len(chosen), m, m)
            out[chosen] = np.linalg.eigvalsh(stacked)[:, -1]
        return np.maximum(out, 0.0)


def rows_of(start: Indices, indices: Indices) -> Indices:
    """The rows of the listed groups, one group after the other.

    Examples
    --------
    >>> rows_of(np.array([0, 3, 5]), np.array([1, 0])).tolist()
    [3, 4, 0, 1, 2]
    """
    sizes = start[indices + 1] - start[indices]
    before = np.cumsum(sizes) - sizes
    return np.asarray(np.repeat(start[indices] - before, sizes) + np.arange(int(sizes.sum())))


def _diagonal_blocks(numbers: Floats, sizes: Indices) -> Any:
    """A sparse matrix with square blocks of these sizes along its diagonal, whose numbers come row by row.

    Examples
    --------
    >>> _diagonal_blocks(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([2, 1])).toarray().tolist()
    [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 5.0]]
    """
    width = np.repeat(sizes, sizes)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)  # column of each row
    start = np.concatenate([[0], np.cumsum(width)])
    columns = np.repeat(first - start[:-1], width) + np.arange(start[-1])
    return sparse.csr_array((numbers, columns, start), shape=(len(width), len(width)))


def _starts(group_ptr: ArrayLike, rows: int) -> Indices:
    start = np.asarray(group_ptr)
    if start.ndim != 1 or start.dtype.kind not in "iu" or len(start) < 2:
        raise TypeError(
            f"group_ptr is {group_ptr!r:.60}; it must be a vector of whole numbers, from 0 to the rows of X."
        )
    if start[0] != 0 or start[-1] != rows:
        raise ValueError(f"group_ptr goes from {start[0]} to {start[-1]}; it must go from 0 to {rows}, the rows of X.")
    empty = np.flatnonzero(np.diff(start) <= 0)
    if len(empty):
        raise ValueError(f"group_ptr does not increase at {empty[0]}: every group must have at least one row.")
    return np.ascontiguousarray(start, dtype=np.int64)
