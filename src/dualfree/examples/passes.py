"""What methods and certificates ask of all rows of X, or of listed ones, in one pass or less; and visits to them."""

from typing import Any, ClassVar

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.evaluation import Settled, Squares
from dualfree.examples.held import Held


class RowPasses(Held):
    """Products with w, sums over examples, and the iterations of dfSDCA, by the kernels."""

    settles: ClassVar[bool] = True  # whether `fenchel` and `settled` are there,
    rounds: ClassVar[bool] = True  # and `dfsdca_rounds`

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
        rescaling: tuple[Any, ...] | None,
        offset: Any,
        alpha: Floats,
        w: Floats,
        outlook: tuple[Any, ...] | None = None,
    ) -> tuple[list[float], float, float, Any, list[tuple[int, float, float, float]]]:
        """Algorithm 1 in `rounds` of visits to what moves, in place, with or without `rescaling`.

        What α moved, squared, from one question to the next, what was learnt, what became of the rescaling, and with an
        `outlook` what was seen at some of the questions (`Glances.by_kernel`).
        """
        rows = self.shifted(offset)
        step = slack, scale, inverse
        told: Any = kernels.dfsdca_rounds(rows, loss, *step, rounds, rescaling, alpha, w, outlook)
        moved, unit, sure, rescaled, looks = told
        return moved, unit, sure, rescaled, looks
