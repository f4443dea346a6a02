"""What examples with several outputs share: the passes and steps of the vector kernels."""

from typing import Any, ClassVar

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.examples.products import listed_loss


class Vectors:
    """Passes and steps on the tuple that `vectors` makes, for examples whose outputs are one after the other in α."""

    def margins(
        self: Any, w: Floats, indices: Indices | None = None, offset: Any = 0.0, *, n_threads: int = 1
    ) -> Floats:
        out = np.empty(self.total if indices is None else int(self.sizes[indices].sum()))
        kernels.vector_margins(self.vectors(offset), w, out, indices, threads=n_threads)
        return out

    def combine(
        self: Any,
        coefficients: Floats,
        indices: Indices | None = None,
        out: Floats | None = None,
        *,
        n_threads: int = 1,
    ) -> Floats:
        out = np.zeros(self.size) if out is None else out
        kernels.vector_combine(self.vectors(), coefficients, out, indices, threads=n_threads)
        return out

    def combine_pair(self: Any, first: Floats, second: Floats, *, n_threads: int = 1) -> tuple[Floats, Floats]:
        return self.combine(first, n_threads=n_threads), self.combine(second, n_threads=n_threads)

    def loss_and_gradient(
        self: Any,
        loss: Any,
        w: Floats,
        gradient: Floats,
        margins: Floats | None = None,
        derivatives: Floats | None = None,
        *,
        n_threads: int = 1,
    ) -> float:
        z = np.empty(self.total) if margins is None and derivatives is not None else margins
        total = kernels.vector_loss_and_gradient(self.vectors(), loss, w, gradient, z, threads=n_threads)
        if derivatives is not None:
            kernels.vector_slopes(self.places, loss, z, derivatives)
        return float(total)

    settles: ClassVar[bool] = False
    rounds: ClassVar[bool] = False

    def certify(
        self: Any, loss: Any, w: Floats, alpha: Floats, *, n_threads: int = 1
    ) -> tuple[float, float, Floats, Floats]:
        sums = np.zeros(2 * self.size)
        total, fenchel = kernels.vector_certify(self.vectors(), loss, w, alpha, sums, threads=n_threads)
        return total, fenchel, sums[: self.size].copy(), sums[self.size :]

    def dfsdca(
        self: Any,
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
        arguments = (slack, scale, inverse, draws.indices, draws.batch_start, alpha, w)
        return float(kernels.vector_dfsdca(self.vectors(offset), loss, *arguments))

    def curvatures(self: Any, loss: Any, margins: Floats, indices: Indices | None = None) -> Floats:
        """``∇²φ_i(z_i)`` for all examples or the listed ones, one after the other, row by row."""
        indices = np.arange(self.n) if indices is None else indices
        outputs = self.positions(indices)
        listed = listed_loss(loss, indices, indices if len(loss[1]) == self.n else outputs)
        out = np.zeros(int((self.sizes[indices] ** 2).sum()))
        kernels.vector_curvatures(self.listed_places(indices), listed, margins[outputs], out)
        return out
