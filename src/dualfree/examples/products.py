"""Products of rows with rows: Hessians, from all examples or from a sample, and the Gram matrix of few examples."""

from typing import Any

import numpy as np
from scipy import sparse

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.examples.grams import dense_grams, scattered
from dualfree.examples.held import Held


class RowProducts(Held):
    """``Σ c_k A_i A_iᵀ`` for few features, ``A_iᵀA_j`` for few examples."""

    def upper_gram(self, weights: Floats, indices: Indices) -> Floats:
        """The upper triangle of ``Σ c_k A_i A_iᵀ`` over the listed examples: a d × d array, for few features."""
        return np.asarray(self.upper_grams(weights[None], indices)[0])

    def upper_grams(self, weights: Floats, indices: Indices, coarse: bool = False, n_threads: int = 1) -> Floats:
        """The same for several sets of weights, one in each row; `coarse` allows products in single precision."""
        if not scattered(self.X, self.stored):
            return dense_grams(self.native, self.d, weights, indices, np.float32 if coarse else np.float64, n_threads)
        out = memory.zeros(len(weights) * self.d**2).reshape(-1, self.d, self.d)
        for factors, gram in zip(weights, out, strict=True):
            kernels.upper_gram(self.native, indices, factors, gram.reshape(-1), threads=n_threads)
        return out

    def curvatures(self, loss: Any, margins: Floats, indices: Indices | None = None) -> Floats:
        """``φ_i''(z_i)`` of a native loss, for all examples or the listed ones."""
        if indices is not None:
            loss, margins = listed_loss(loss, indices, indices), margins[indices]
        out = memory.empty(len(margins))
        kernels.loss_curvature(loss, margins, out)
        return out

    def hessian_sum(self, curvatures: Floats, indices: Indices, coarse: bool = False, n_threads: int = 1) -> Floats:
        """The upper triangle of ``Σ A_i C_i A_iᵀ`` over the listed examples; C_i, one by one, is ``∇²φ_i``."""
        return np.asarray(self.upper_grams(curvatures[None], indices, coarse, n_threads)[0])

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
