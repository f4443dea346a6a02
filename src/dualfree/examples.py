"""Examples: the data `A_1, ..., A_n` of a problem, seen through the operations that methods need.

`Rows` (one vector for each example, m = 1) is a view on a CSR matrix or a dense array; nothing is copied.
Multi-output and block examples (`vector_examples`) have the same interface; no method, sampling or loop looks at X.
Inside, w and α are flat vectors of length `size` and `total`; `w_shape` and `alpha_shape` are what people see.
"""

import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.evaluation import Settled, Squares
from dualfree.grams import dense_grams, entries_a_row, scattered
from dualfree.groups import Groups
from dualfree.layout import native_csr, native_dense

_LONG_ROWS = 16  # entries from which on a norm costs nothing beside the look whether they are finite
_TYPICAL_ROWS = 4096
_RUN = 256  # of them side by side

_FAULTS = {
    "start": "X.indptr must start at 0, never decrease and stay within X.data, but it is broken at row {row}",
    "column": "X has column index {column} in row {row}, but only {d} columns: indices must be in 0..{last}",
    "duplicate": "X has column {column} twice in row {row}; call X.sum_duplicates() first",
    "not finite": "X has NaN or infinity in row {row}, column {column}; remove or impute such values first",
}


class Flat:
    """The shapes in which people see w and α where both are vectors, of length `size` and `total`."""

    size: Any
    total: Any
    square_norms: Any

    @cached_property
    def largest_square_norm(self) -> float:
        """``max_i ‖A_i‖²``."""
        return float(self.square_norms.max())

    @property
    def dense(self) -> bool:
        """Whether X has no columns to look up: an entry then costs a seventh, or less."""
        return False

    @property
    def w_shape(self) -> tuple[int, ...]:
        """The shape in which w is shown."""
        return (self.size,)

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        """The shape in which α is shown."""
        return (self.total,)


class Rows(Flat):
    """Rows of X as examples: ``A_i = x_i``, a view without a copy.

    Parameters
    ----------
    X : scipy.sparse CSR matrix or array, or ndarray, of shape (n, d)
        float32 or float64; int32 or int64 indices; any strides; may be read-only. Columns of a CSR row may
        be in any order, but none may appear twice.
    constant : bool
        Whether every row ends in one more feature that X does not hold, for the intercept. Its value is
        `constant_value`, the root mean square of the row norms: large enough that the intercept moves as fast as the
        other weights, small enough not to dominate them.
    n_threads : int
        Threads that look whether X is sound, and how long its rows are.

    Examples
    --------
    >>> rows = Rows(np.array([[3.0, 4.0], [0.0, 1.0]]))
    >>> rows.n, rows.d, rows.norms.tolist()
    (2, 2, [5.0, 1.0])
    """

    m = 1
    grouped = False  # whether an example is a group of rows
    _threads = 1
    settles: ClassVar[bool] = True  # whether `fenchel` and `settled` are there,
    rounds: ClassVar[bool] = True  # and `dfsdca_rounds`

    def __init__(self, X: Any, constant: bool = False, n_threads: int = 1) -> None:
        self.X = X
        self.constant_value = 0.0
        self._threads = n_threads
        if hasattr(X, "shape") and len(X.shape) != 2:
            raise ValueError(f"X has shape {X.shape}; it must have two dimensions, one row for each example.")
        if sparse.issparse(X):
            self._arrays, self.stored = native_csr(X)
        else:
            self._arrays, self.stored = native_dense(X), X.size
        self._sorted = False
        self.n, self.d = (int(k) for k in X.shape)
        if self.n == 0 or self.d == 0:
            raise ValueError(f"X has shape {X.shape}: it needs at least one row and one column.")
        ordered = sparse.issparse(X) or X.flags.c_contiguous
        squares = memory.empty(self.n) if ordered and self.stored >= _LONG_ROWS * self.n else None
        found = kernels.check_rows(self.native, self.stored, squares, threads=n_threads)
        fault, row, column, self._sorted, same, mean_square, largest_square = found
        if fault:
            sentence = _FAULTS[fault].format(row=row, column=column, d=self.d, last=self.d - 1)
            raise ValueError(sentence + ".")
        if same:  # nothing to load but the columns
            self._arrays = (self._arrays[0][:1], *self._arrays[1:])
        if constant:
            squares = self.weighted_square_norms(None) if squares is None else squares
            self.constant_value = math.sqrt(float(squares.sum()) / self.n) or 1.0
            squares += self.constant_value**2
            self.d += 1
        elif squares is not None:
            self.typical_square_norm, self.largest_square_norm = mean_square, largest_square
        if squares is not None:
            self.square_norms = memory.read_only(squares)

    @property
    def native(self) -> tuple[Any, ...]:
        """What the kernels take for these examples."""
        return self.shifted(0.0)

    @property
    def size(self) -> int:
        """Length of w."""
        return self.d

    @property
    def total(self) -> int:
        """Length of α: the outputs of all examples."""
        return self.n

    @property
    def places(self) -> tuple[Any, ...]:
        """Where the outputs of each example lie in α, for the kernels."""
        return (self.n, 1)

    @property
    def owners(self) -> Indices:
        """The example that each row of X belongs to."""
        return np.arange(self.n)

    def positions(self, indices: Indices) -> Indices:
        """Where the outputs of the listed examples are in α."""
        return indices

    def spread(self, values: Floats, indices: Indices | None = None) -> Floats:
        """One number for each of the listed examples (or of all), as one for each of their outputs."""
        return values

    def sums(self, values: Floats) -> Floats:
        """For each example the sum over its outputs."""
        return values

    def square_sums(self, alpha: Floats) -> Floats:
        """``‖α_i‖²`` for each example."""
        return alpha**2

    def shift(self, margins: Floats, intercept: Any) -> Floats:
        """The margins with an intercept added."""
        return np.asarray(margins + intercept)

    def shifted(self, offset: Any) -> tuple[Any, ...]:
        """The same with `offset` added to every product with w; only where there is a constant feature."""
        offset = offset if isinstance(offset, float) else float(np.asarray(offset).item())
        if len(self._arrays) == 1:
            return (*self._arrays, self.constant_value, offset)
        return (*self._arrays, self.d, self.constant_value, offset, self._sorted)

    @cached_property
    def norms(self) -> Floats:
        """Spectral norms ``‖A_i‖``, for rows the Euclidean ones."""
        return np.sqrt(self.square_norms)

    @cached_property
    def square_norms(self) -> Floats:
        """``‖A_i‖²``; read-only, for samplings hand them out as their v."""
        return memory.read_only(self.weighted_square_norms(None))

    @property
    def dense(self) -> bool:
        return isinstance(self.X, np.ndarray)  # and not a store of rows, which may be sparse

    @property
    def _one_value(self) -> bool:
        """Whether all stored values are the same one."""
        return sparse.issparse(self.X) and len(self._arrays[0]) == 1

    @cached_property
    def typical_square_norm(self) -> float:
        """Mean of ``‖A_i‖²``, of some thousand examples where there are more: for estimates, not worth a pass."""
        if self._one_value:
            entries = float(self.X.indptr[-1])  # X may have room for more
            return float(self._arrays[0][0]) ** 2 * entries / self.n + self.constant_value**2
        if self.n <= 2 * _TYPICAL_ROWS:
            return float(self.square_norms.sum()) / self.n
        return float(kernels.mean_square(self.native, _TYPICAL_ROWS // _RUN, _RUN))

    @cached_property
    def hessian_entries(self) -> float:
        """What `hessian_sum` takes for an example, in entries of a pass; by some thousand where there are more."""
        return self.m * (self.m + 1) / 2 * entries_a_row(self.X, self.d, self.stored)

    def hessian_entries_of(self, indices: Indices) -> float:
        """The same for one of the listed examples, whose rows may be shorter or longer than those of others."""
        return entries_a_row(self.X, self.d, self.stored, indices)

    @cached_property
    def nonzeros(self) -> Indices:
        """Stored entries of each example: the work that one visit costs."""
        if sparse.issparse(self.X):
            return np.asarray(self.X.indptr[1:] - self.X.indptr[:-1], dtype=np.int64)
        return np.full(self.n, self.d, dtype=np.int64)

    @property
    def work(self) -> Indices:
        """Products that one visit of each example costs."""
        return self.nonzeros

    @property
    def products(self) -> int:
        """Products that visits of all examples cost."""
        return self.stored

    def margins(self, w: Floats, indices: Indices | None = None, offset: Any = 0.0, *, n_threads: int = 1) -> Floats:
        """``A_iᵀ w`` for all examples or for the listed ones; see `shifted` for `offset`."""
        out = memory.empty(self.n if indices is None else len(indices))
        kernels.margins(self.shifted(offset), w, out, indices, threads=n_threads)
        return out

    def combine(
        self,
        coefficients: Floats,
        indices: Indices | None = None,
        out: Floats | None = None,
        *,
        n_threads: int = 1,
    ) -> Floats:
        """``Σ A_i c_i`` over all examples or the listed ones, added to `out` if given."""
        out = memory.zeros(self.d) if out is None else out
        kernels.combine(self.native, coefficients, out, indices, threads=n_threads)
        return out

    def combine_pair(self, first: Floats, second: Floats, *, n_threads: int = 1) -> tuple[Floats, Floats]:
        """``Σ A_i c_i`` for two sets of coefficients, in one pass."""
        sums = memory.zeros(2 * self.d)
        kernels.combine_pair(self.native, first, second, sums, threads=n_threads)
        return sums[::2].copy(), sums[1::2].copy()

    def loss_and_gradient(
        self,
        loss: Any,
        w: Floats,
        gradient: Floats,
        margins: Floats | None = None,
        derivatives: Floats | None = None,
        *,
        n_threads: int = 1,
    ) -> float:
        """``Σ φ_i(A_iᵀw)`` of a native loss; its gradient is added to `gradient`.

        Where they are wanted, the margins and ``φ_i'`` too are written.
        """
        wanted = {"margins": margins, "derivatives": derivatives}
        return float(kernels.loss_and_gradient(self.native, loss, w, gradient, **wanted, threads=n_threads))

    def certify(
        self, loss: Any, w: Floats, alpha: Floats, *, n_threads: int = 1
    ) -> tuple[float, float, Floats, Floats]:
        """``Σ φ_i``, the Fenchel terms, ``Σ A_i ∇φ_i`` and ``Σ A_i a_i`` (a: α in the conjugates' domain)."""
        sums = memory.zeros(2 * self.size)
        total, fenchel = kernels.certify(self.native, loss, w, alpha, sums, threads=n_threads)
        return total, fenchel, sums[::2], sums[1::2]  # views: copies of long vectors cost more than strides

    def fenchel(
        self, loss: Any, w: Floats, alpha: Floats, margins: Floats, *, n_threads: int = 1
    ) -> tuple[float, float, float]:
        """``Σ φ_i``, the Fenchel terms, and ``Σ |a_i − α_i|``; writes the margins, which `settled` takes."""
        total, terms, outside = kernels.fenchel(self.native, loss, w, alpha, margins, threads=n_threads)
        return total, terms, outside

    def fenchel_of_runs(
        self, loss: Any, w: Floats, alpha: Floats, first: int, stride: int, length: int
    ) -> tuple[float, float, int]:
        """The first two of these for the examples ``first + k stride + j``, ``j < length``, and how many these are."""
        total, terms, seen = kernels.fenchel_of_runs(self.native, loss, w, alpha, first, stride, length)
        return total, terms, seen

    def settled(
        self, loss: Any, w: Floats, alpha: Floats, lam: float, margins: Floats | None = None, *, n_threads: int = 1
    ) -> Settled:
        """`certify`, and what follows from it for ``P`` with the squared norm alone, without further vectors."""
        sums = memory.zeros(2 * self.size)
        total, fenchel = kernels.certify(self.native, loss, w, alpha, sums, margins, threads=n_threads)
        return Settled(total, fenchel, sums[::2], sums[1::2], Squares(*kernels.settle(sums, w, self.n, lam)))

    def dfsdca(
        self,
        loss: Any,
        slack: float | None,
        scale: Floats,
        inverse: float,
        draws: Any,
        offset: Any,
        alpha: Floats,
        w: Floats,
        *,
        n_threads: int = 1,
    ) -> float:
        """The iterations in `draws` of Algorithm 1, in place; what α moved, squared."""
        rows = self.shifted(offset)
        arguments = (slack, scale, inverse, draws.indices, draws.batch_start, alpha, w)
        return float(kernels.dfsdca(rows, loss, *arguments, threads=n_threads))

    def dfsdca_rounds(
        self,
        loss: Any,
        slack: float | None,
        scale: Floats,
        inverse: float,
        rounds: tuple[Any, ...],
        offset: Any,
        alpha: Floats,
        w: Floats,
    ) -> tuple[list[float], float, float]:
        """Algorithm 1 in `rounds` of visits to what moves, in place.

        What α moved, squared, from one question to the next, and what was learnt.
        """
        rows = self.shifted(offset)
        moved, unit, sure = kernels.dfsdca_rounds(rows, loss, slack, scale, inverse, rounds, alpha, w)
        return moved, unit, sure

    def feature_sums(self, mass: Floats | None = None) -> Floats:
        """For each feature j, the sum of `mass` over the examples with a nonzero in j; their number if None."""
        out = np.zeros(self.d)
        kernels.feature_sums(self.native, mass, out)
        return out

    def feature_squares(self, mass: Floats) -> Floats:
        """``Σ_i mass_i A_ij²`` for each feature j."""
        out = np.zeros(self.d)
        kernels.feature_squares(self.native, mass, out)
        return out

    def weighted_square_norms(self, beta: Floats | None, less: Floats | None = None) -> Floats:
        """``Σ_j (β_j − less_i) A_ij²`` for each example."""
        out = memory.empty(self.n)
        kernels.square_norms(self.native, beta, out, threads=self._threads)
        return out if less is None else out - less * self.square_norms

    def groups_touching(self, groups: Groups) -> Floats:
        """For each feature j, the groups of examples with a nonzero in j."""
        out = np.zeros(self.d)
        kernels.groups_touching(self.native, groups.members, groups.start, out)
        return out

    def grouped_square_norms(self, groups: Groups, mass: Floats | None, *beta: Floats) -> Floats:
        """``Σ_j β_ij A_ij²``, ``β_ij = constant_G + s_jG (slope_G + coupling_G feature_j)``, G the group of i.

        s_jG is the mass of the examples of G with a nonzero in j.
        """
        out = memory.empty(self.n)
        kernels.grouped_square_norms(self.native, groups.members, groups.start, mass, *beta, out)
        return out

    def upper_gram(self, weights: Floats, indices: Indices) -> Floats:
        """The upper triangle of ``Σ c_k A_i A_iᵀ`` over the listed examples: a d × d array, for few features."""
        return np.asarray(self.upper_grams(weights[None], indices)[0])

    def upper_grams(self, weights: Floats, indices: Indices, coarse: bool = False) -> Floats:
        """The same for several sets of weights, one in each row; `coarse` allows products in single precision."""
        if not scattered(self.X, self.stored):
            return dense_grams(self.X, self.constant_value, weights, indices, np.float32 if coarse else np.float64)
        out = memory.zeros(len(weights) * self.d**2).reshape(-1, self.d, self.d)
        for factors, gram in zip(weights, out, strict=True):
            kernels.upper_gram(self.native, indices, factors, gram.reshape(-1))
        return out

    def curvatures(self, loss: Any, margins: Floats, indices: Indices | None = None) -> Floats:
        """``φ_i''(z_i)`` of a native loss, for all examples or the listed ones."""
        if indices is not None:
            loss, margins = listed_loss(loss, indices, indices), margins[indices]
        out = memory.empty(len(margins))
        kernels.loss_curvature(loss, margins, out)
        return out

    def hessian_sum(self, curvatures: Floats, indices: Indices, coarse: bool = False) -> Floats:
        """The upper triangle of ``Σ A_i C_i A_iᵀ`` over the listed examples; C_i, one by one, is ``∇²φ_i``."""
        return np.asarray(self.upper_grams(curvatures[None], indices, coarse)[0])

    def gram(self) -> Floats:
        """``A_iᵀA_j`` for all pairs: an n × n array, for small n."""
        X = self.X.astype(np.float64)  # float32 products would be too coarse for an eigenvalue that must be a bound
        product = X @ X.T
        dense = product.toarray() if sparse.issparse(product) else product
        return np.asarray(dense + self.constant_value**2, dtype=np.float64)


def listed_loss(loss: tuple[Any, ...], indices: Indices, targets: Indices) -> tuple[Any, ...]:
    """The same native loss for the listed examples alone, whose targets are the listed ones."""
    kind, y, weight, *parameters = loss
    return (kind, y[targets], None if weight is None else weight[indices], *parameters)
