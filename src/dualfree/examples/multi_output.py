"""One row with m outputs: ``x_i ⊗ I_m``."""

from typing import Any

import numpy as np

from dualfree.arrays import Floats, Indices
from dualfree.examples.rows import Rows
from dualfree.examples.vectors import Vectors


class MultiOutput(Vectors, Rows):
    """``A_i = x_i ⊗ I_m``: every row of X has m outputs ``Wᵀx_i``, and w is W, the m weights of a feature side by side.

    Norms and ESO parameters are those of the rows: ``‖x_i ⊗ I‖ = ‖x_i‖``.

    Examples
    --------
    >>> examples = MultiOutput(np.array([[3.0, 4.0], [0.0, 1.0]]), m=3)
    >>> examples.w_shape, examples.alpha_shape, examples.norms.tolist()
    ((2, 3), (2, 3), [5.0, 1.0])
    """

    def __init__(self, X: Any, m: int, constant: bool = False, n_threads: int = 1) -> None:
        self.m = m
        super().__init__(X, constant, n_threads)

    @property
    def size(self) -> int:
        return self.d * self.m

    @property
    def total(self) -> int:
        return self.n * self.m

    @property
    def w_shape(self) -> tuple[int, ...]:
        return (self.d, self.m)

    @property
    def alpha_shape(self) -> tuple[int, ...]:
        return (self.n, self.m)

    @property
    def sizes(self) -> Indices:
        """Outputs of each example."""
        return np.full(self.n, self.m)

    @property
    def work(self) -> Indices:
        return self.nonzeros * self.m

    @property
    def products(self) -> int:
        return self.stored * self.m

    @property
    def places(self) -> tuple[int, int]:
        """Where the outputs of each example lie in α, for the kernels."""
        return (self.n, self.m)

    def positions(self, indices: Indices) -> Indices:
        return (indices[:, None] * self.m + np.arange(self.m)).ravel()

    def spread(self, values: Floats, indices: Indices | None = None) -> Floats:
        return np.asarray(np.repeat(values, self.m))

    def sums(self, values: Floats) -> Floats:
        return np.asarray(values.reshape(self.n, self.m).sum(axis=1))

    def square_sums(self, alpha: Floats) -> Floats:
        return self.sums(alpha**2)

    def shift(self, margins: Floats, intercept: Any) -> Floats:
        return np.asarray(margins.reshape(self.n, self.m) + intercept).ravel()

    def listed_places(self, indices: Indices) -> tuple[int, int]:
        """As `places`, of the listed examples alone."""
        return (len(indices), self.m)

    def hessian_sum(self, curvatures: Floats, indices: Indices, coarse: bool = False, n_threads: int = 1) -> Floats:
        """``Σ x_i x_iᵀ ⊗ C_i``: one weighted sum of the rows for each pair of outputs.

        Where the rows of every C_i add up to zero, as a softmax's do, the sums of other pairs give those of an output
        with itself.
        """
        m, pairs = self.m, curvatures.reshape(len(indices), self.m, self.m)
        balanced = bool(np.abs(pairs.sum(axis=2)).max() <= 1e-14 * np.abs(pairs).max())
        one, other = np.triu_indices(m, 1 if balanced else 0)
        used = np.asarray(pairs.any(axis=0))[one, other]
        one, other = one[used], other[used]
        grams = self.upper_grams(np.ascontiguousarray(pairs[:, one, other].T), indices, coarse, n_threads)
        out = np.zeros((self.d, m, self.d, m))
        for k, j, gram in zip(one, other, grams, strict=True):
            out[:, k, :, j] = out[:, j, :, k] = np.triu(gram) + np.triu(gram, 1).T
        if balanced:
            np.einsum("ikjk->kij", out)[:] = -out.sum(axis=3).transpose(1, 0, 2)
        return out.reshape(self.size, self.size)

    def vectors(self, offset: Any = None) -> tuple[Any, ...]:
        """What the vector kernels take for these examples, `offset` added to every product with w."""
        shifts = offset is not None and np.any(offset)
        return self.native, self.m, np.ascontiguousarray(offset, dtype=np.float64) if shifts else None
