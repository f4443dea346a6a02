"""Examples that stay on the disk: the interface of `Rows`, a window of chunks at a time."""

from functools import cached_property
from typing import Any

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.examples import MultiOutput, Rows
from dualfree.store.layout import load_array
from dualfree.store.opened import Store
from dualfree.store.reader import Window


class Stored(Rows):
    """Rows of a store as examples: ``A_i = x_i``, read when they are needed.

    Each operation is one pass over the store, in order, with the next window read meanwhile; on a window it is that of
    rows in memory.
    """

    X: Store
    in_memory: type[Rows] = Rows  # what the rows of a window are
    settles = False
    rounds = False

    def __init__(self, store: Store, constant: bool = False) -> None:
        self.X, self.page = store, store.page
        self.n, self.d, self.stored = store.page.n, store.page.d, store.page.stored
        self.constant_value = 0.0
        if constant:
            self.constant_value = float(np.sqrt(np.mean(self.square_norms))) or 1.0
            self.square_norms += self.constant_value**2
            self.d += 1
        self.reader = store.reader(constant, self.m)

    def shifted(self, offset: Any) -> tuple[Any, ...]:
        """There is no such thing: the rows are not in memory. So whatever is not below raises this one sentence."""
        raise ValueError(
            f"{self.X.path} is larger than its memory_limit, and this needs all rows in memory; "
            "give open_store a larger memory_limit."
        )

    def view(self, window: Window) -> Any:
        """The rows of a window as examples in memory, without the checks that they passed when they were imported."""
        view = object.__new__(self.in_memory)
        view.m, view.d, view.constant_value = self.m, self.d, self.constant_value
        view.n, view.stored = window.count, window.arrays[0].size
        view._arrays, view._sorted = window.arrays, self.page.sorted
        return view

    def part(self, values: Floats, window: Window) -> Floats:
        """The entries of a window's rows, of a vector that has one or m for each row: a view for neighbours."""
        return values.reshape(self.n, -1)[window.rows].ravel()

    def loss_of(self, loss: tuple[Any, ...], window: Window) -> tuple[Any, ...]:
        """A native loss with the targets and weights of a window alone."""
        kind, y, weight, *rest = loss
        return (kind, self.part(y, window), None if weight is None else weight[window.rows], *rest)

    @cached_property
    def square_norms(self) -> Floats:
        """``‖A_i‖²``, as the import found them."""
        return load_array(self.X.path, "square_norms", self.page)

    @property
    def norms(self) -> Floats:
        """``‖A_i‖``."""
        return np.sqrt(self.square_norms)

    @cached_property
    def typical_square_norm(self) -> float:
        """Mean of ``‖A_i‖²``."""
        return float(self.square_norms.mean())

    @property
    def nonzeros(self) -> Indices:
        """Stored entries of each example."""
        if self.page.layout == "dense":
            return np.broadcast_to(np.int64(self.d), self.n)
        return np.asarray(np.diff(np.load(self.X.path / "indptr.npy")))

    def margins(self, w: Floats, indices: Indices | None = None, offset: Any = 0.0, *, n_threads: int = 1) -> Floats:
        """``A_iᵀ w`` for all examples."""
        self._require_all(indices)
        out = np.empty(self.total)
        for window in self.reader.all():
            self.part(out, window)[:] = self.view(window).margins(w, None, offset, n_threads=n_threads)
        return out

    def combine(
        self,
        coefficients: Floats,
        indices: Indices | None = None,
        out: Floats | None = None,
        *,
        n_threads: int = 1,
    ) -> Floats:
        """``Σ A_i c_i`` over all examples, added to `out` if given."""
        self._require_all(indices)
        out = np.zeros(self.size) if out is None else out
        for window in self.reader.all():
            self.view(window).combine(self.part(coefficients, window), None, out, n_threads=n_threads)
        return out

    def combine_pair(self, first: Floats, second: Floats, *, n_threads: int = 1) -> tuple[Floats, Floats]:
        """``Σ A_i c_i`` for two sets of coefficients, in one pass."""
        sums = np.zeros(2 * self.d)
        for window in self.reader.all():
            pair = self.part(first, window), self.part(second, window)
            kernels.combine_pair(self.view(window).native, *pair, sums, threads=n_threads)
        return sums[::2].copy(), sums[1::2].copy()

    def loss_and_gradient(
        self,
        loss: tuple[Any, ...],
        w: Floats,
        gradient: Floats,
        margins: Floats | None = None,
        derivatives: Floats | None = None,
        *,
        n_threads: int = 1,
    ) -> float:
        """``Σ φ_i(A_iᵀw)``; its gradient is added to `gradient`."""
        if margins is not None or derivatives is not None:
            self.shifted(0.0)
        total = 0.0
        for window in self.reader.all():
            part = self.loss_of(loss, window)
            total += self.view(window).loss_and_gradient(part, w, gradient, n_threads=n_threads)
        return total

    def certify(
        self, loss: tuple[Any, ...], w: Floats, alpha: Floats, *, n_threads: int = 1
    ) -> tuple[float, float, Floats, Floats]:
        """Losses and Fenchel gaps, summed, the gradient of the losses and ``Σ A_i a_i``."""
        sums = np.zeros(2 * self.size)
        total, fenchel = self._certify(loss, w, alpha, sums, n_threads)
        return total, fenchel, sums[::2].copy(), sums[1::2].copy()

    def _certify(
        self, loss: tuple[Any, ...], w: Floats, alpha: Floats, sums: Floats, n_threads: int
    ) -> tuple[float, float]:
        """The two numbers of `certify`; the two vectors are added to `sums`, as the kernel orders them."""
        total = fenchel = 0.0
        several = self.in_memory is not Rows
        kernel = kernels.vector_certify if several else kernels.certify
        for window in self.reader.all():
            part, a, view = self.loss_of(loss, window), self.part(alpha, window), self.view(window)
            more, gaps = kernel(view.vectors() if several else view.native, part, w, a, sums, threads=n_threads)
            total, fenchel = total + more, fenchel + gaps
        return total, fenchel

    def upper_grams(self, weights: Floats, indices: Indices, coarse: bool = False, n_threads: int = 1) -> Floats:
        """Not of rows on the disk."""
        return np.asarray(self.shifted(0.0))

    def gram(self) -> Floats:
        """Not of rows on the disk."""
        return np.asarray(self.shifted(0.0))

    def chunk_eso(self, tau: int) -> Floats:
        """The v of τ of the k chunks at a time: `eso.chunks` in two passes.

        ``v_i = Σ_j |J_j ∩ G(i)| (1 + (κ_j − 1)(τ − 1)/max(1, k − 1)) A_ij²``, κ_j the chunks that touch j.
        """
        chunks = [(k,) for k in range(self.page.chunks)]
        touching = np.zeros(self.d)
        for chunk in self.reader.visit(chunks):
            touching += self._counts(chunk) > 0
        share = 1 + (touching - 1) * (tau - 1) / max(1, len(chunks) - 1)
        v = np.empty(self.n)
        for chunk in self.reader.visit(chunks):
            kernels.square_norms(self.view(chunk).native, self._counts(chunk) * share, v[chunk.rows])
        return v

    def _counts(self, chunk: Window) -> Floats:
        out = np.zeros(self.d)
        kernels.feature_sums(self.view(chunk).native, None, out)
        return out

    def _require_all(self, indices: Indices | None) -> None:
        if indices is not None:
            self.shifted(0.0)


class StoredOutputs(Stored, MultiOutput):
    """Rows of a store with m outputs each: ``A_i = x_i ⊗ I_m``."""

    in_memory = MultiOutput

    def __init__(self, store: Store, m: int, constant: bool = False) -> None:
        self.m = m
        Stored.__init__(self, store, constant)

    def combine_pair(self, first: Floats, second: Floats, *, n_threads: int = 1) -> tuple[Floats, Floats]:
        sums = np.zeros(self.size), np.zeros(self.size)
        for window in self.reader.all():
            for coefficients, out in zip((first, second), sums, strict=True):
                self.view(window).combine(self.part(coefficients, window), None, out, n_threads=n_threads)
        return sums

    def certify(
        self, loss: tuple[Any, ...], w: Floats, alpha: Floats, *, n_threads: int = 1
    ) -> tuple[float, float, Floats, Floats]:
        sums = np.zeros(2 * self.size)
        total, fenchel = self._certify(loss, w, alpha, sums, n_threads)
        return total, fenchel, sums[: self.size].copy(), sums[self.size :]
