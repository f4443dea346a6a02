"""The leading principal component of X, by shift-and-invert: linear systems of non-convex parts with a convex sum."""

import math
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from dualfree._native import kernels
from dualfree.arrays import Floats, not_negative, positive, whole
from dualfree.examples import Rows
from dualfree.progress import progress_bar
from dualfree.result import Row, Status
from dualfree.solve import threads

_POWER_STEPS = 3  # before the first shift: of a random vector, θ says too little
_SHIFT = 2.0  # of √(tr(C)θ/n), the least at which an epoch solves its system to a fraction
_REMEMBERED = 4  # vectors whose best combination is taken: O(d), and no pass
_APART = (
    1e-10  # of the products of the vectors, their least eigenvalue; below, a combination would lose too many digits
)
_FAR = 1e100  # where v has length one
_LEAST_STEP = 2.0**-20  # of the first one, when each epoch has made things worse
_SENTENCES = {
    Status.MAX_EPOCHS: "The tolerance was not reached within max_epochs.",
    Status.CONVERGED: "The residual is within the tolerance.",
}


@dataclass(frozen=True, eq=False)
class LeadingComponent:
    """The outcome of `leading_component`.

    Attributes
    ----------
    vector : array of length d
        v, of length one; its largest entry in absolute value is positive.
    eigenvalue : float
        ``θ = vᵀCv``, the variance along v; never above the largest eigenvalue.
    residual : float
        ``‖Cv − θv‖``: C has an eigenvalue within this distance of θ.
    total_variance : float
        The trace of C.
    mean : array of length d, or None
        What was taken off every row; None without centring.
    n : int
        Rows of X.
    status : Status
        Why it ended.
    epochs, passes : float, int
        Stochastic epochs, and full passes over X beside them.
    seconds : float
        Wall-clock time.
    """

    vector: Floats
    eigenvalue: float
    residual: float
    total_variance: float
    mean: Floats | None
    n: int
    status: Status
    epochs: float
    passes: int
    seconds: float

    @property
    def enclosure(self) -> tuple[float, float]:
        """An interval that holds an eigenvalue of C; if that is the largest, its lower end may be raised to θ."""
        return self.eigenvalue - self.residual, self.eigenvalue + self.residual

    @property
    def singular_value(self) -> float:
        """``√(nθ)``, of X or of X less its mean."""
        return math.sqrt(self.n * self.eigenvalue)

    @property
    def explained(self) -> float:
        """The share of the total variance that lies along v."""
        return self.eigenvalue / self.total_variance if self.total_variance > 0 else 0.0

    @property
    def message(self) -> str:
        """The outcome in words."""
        why = _SENTENCES.get(self.status, self.status.sentence)
        return (
            f"{why} C has an eigenvalue within {self.residual:.3g} of {self.eigenvalue:.8g}, {self.explained:.1%} of "
            f"the total variance; spent: {self.epochs:.3g} epochs, {self.passes} passes and {self.seconds:.3g} s."
        )


def leading_component(
    X: Any,
    *,
    centre: bool = False,
    tol: float = 1e-6,
    max_epochs: float = 200,
    n_threads: int | None = 1,
    progress: bool = False,
    seed: int = 0,
) -> LeadingComponent:
    """The eigenvector of the largest eigenvalue of ``C = (1/n) Σ (a_i − m)(a_i − m)ᵀ``, by shift-and-invert.

    Parameters
    ----------
    X : scipy.sparse CSR matrix or array, or ndarray, of shape (n, d)
        Rows a_i; float32 or float64. Never copied, and never made dense.
    centre : bool
        Whether m is the mean of the rows, as in principal component analysis, or zero.
    tol : float
        Stop when ``‖Cv − θv‖ ≤ tol · θ``.
    max_epochs : float
        Stochastic epochs and full passes together.
    n_threads : int, optional
        Threads for the full passes; None is all cores. The answer has the same bits for any number.
    progress : bool
        Show a live bar on standard error.
    seed : int
        One seed, one answer.

    Notes
    -----
    With μ above the largest eigenvalue, ``w = (μI − C)⁻¹v`` minimises ``½μ‖w‖² − (1/2n) Σ ((a_i − m)ᵀw)² − vᵀw``: every
    example is concave, and the sum is strongly convex (Garber and Hazan 2015). A new v, the normalised w, is closer to
    the eigenvector by a factor of ``(μ − λ₁)/(μ − λ₂)``. The systems are solved roughly, by one epoch of SVRG from the
    present v; its anchor is the same pass that certifies v. Examples are drawn with ``p_i ∝ ‖a_i − m‖²``, for which the
    variance of a step is at most that of ``tr(C) C``, and the shift is ``μ = θ + max(‖Cv − θv‖, 2√(tr(C) θ/n))``: a
    smaller one would leave too little convexity for one epoch. Of the last four vectors the best combination is taken.

    The residual certifies an eigenvalue. That it is the largest rests on the random start, as it does for Lanczos'
    method. Memory beyond X: O(n + d).

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(1000, 5)) * [3.0, 1.0, 1.0, 1.0, 1.0]
    >>> found = leading_component(X, centre=True)
    >>> low, high = found.enclosure
    >>> bool(low <= np.linalg.eigvalsh(np.cov(X.T, bias=True)).max() <= high), found.status
    (True, <Status.CONVERGED: 'converged'>)
    """
    begun, rows = time.perf_counter(), Rows(X)
    tol, seed = not_negative("tol", tol), whole("seed", seed, 0, 2**64 - 1)
    max_epochs = positive("max_epochs", max_epochs)
    search = _Search(rows, bool(centre), threads(n_threads), seed)
    status = Status.INTERRUPTED
    # After Ctrl-C the best vector so far is an answer too.
    with progress_bar(progress, "component", max_epochs) as show, suppress(KeyboardInterrupt):
        status = search.until_done(tol, max_epochs, begun, show)
    here = search.here
    sign = math.copysign(1.0, here.v[np.abs(here.v).argmax()])
    return LeadingComponent(
        sign * here.v,
        here.theta,
        here.residual,
        search.total,
        search.mean,
        rows.n,
        status,
        search.epochs,
        search.passes,
        time.perf_counter() - begun,
    )


@dataclass(frozen=True, eq=False)
class _Look:
    """A unit vector v and ``Cv``; `seen` where a pass over X gave it, else it is combined from those of others."""

    v: Floats
    image: Floats
    seen: bool

    @cached_property
    def theta(self) -> float:
        return max(float(self.v @ self.image), 0.0)

    @cached_property
    def off(self) -> Floats:
        return self.image - self.theta * self.v

    @cached_property
    def residual(self) -> float:
        return float(np.linalg.norm(self.off))


class _Search:
    """The state of one search: the best vector so far, and the step of the inner loops."""

    def __init__(self, rows: Rows, centre: bool, n_threads: int, seed: int) -> None:
        self.rows, self.n_threads, self.seed = rows, n_threads, seed
        self.epochs, self.passes, self.steps, self.factor = 0.0, 0, 0, 1.0
        self.mean, self.mean_products, norms = None, None, rows.square_norms
        if centre:
            mean = rows.combine(np.full(rows.n, 1 / rows.n), n_threads=n_threads)
            self.mean, self.mean_products = mean, rows.margins(mean, n_threads=n_threads)
            norms = np.maximum(norms - 2 * self.mean_products + mean @ mean, 0.0)
            self.passes += 1
        self.total = float(norms.mean())
        p = norms / norms.sum() if self.total > 0 else np.full(rows.n, 1 / rows.n)
        self.table = kernels.alias_table(p)
        self.scale = np.divide(1 / rows.n, p, out=np.zeros(rows.n), where=p > 0)
        self.recent: list[_Look] = []
        self.here = self.look(np.random.default_rng(seed).normal(size=rows.d))
        for _ in range(_POWER_STEPS):
            if self.here.theta > 0:  # else X is zero
                self.here = self.look(self.here.image)

    def until_done(self, tol: float, max_epochs: float, begun: float, show: Any) -> Status:
        """Improve the vector until it is certified, or something else says stop."""
        while True:
            here, spent = self.here, self.epochs + self.passes
            show(Row(spent, self.steps, time.perf_counter() - begun, here.theta, here.residual, here.residual))
            if here.residual <= max(tol * here.theta, 1e-15 * self.total):
                if here.seen:
                    return Status.CONVERGED
                self.here = self.look(here.v)
                continue
            if spent >= max_epochs:
                return Status.MAX_EPOCHS
            if self.factor < _LEAST_STEP:
                return Status.STALLED
            self.improve()

    def improve(self) -> None:
        """One shift, one epoch, one look; the step halves where things got worse by it."""
        here, n = self.here, self.rows.n
        noise = self.total * here.theta
        gap = max(here.residual, _SHIFT * math.sqrt(noise / n))
        shift = here.theta + gap
        step = self.factor * min(0.5 * gap / noise, 0.5 / shift)
        e = np.empty(self.rows.d)
        indices = kernels.draw_alias(self.seed, self.steps, n, *self.table)
        kernels.shift_and_invert(
            self.rows.native, indices, -here.off, self.scale, self.mean, self.mean_products, step, shift, e
        )
        self.steps, self.epochs = self.steps + n, self.epochs + 1
        moved = here.v + e
        if float(np.abs(moved).max()) < _FAR:  # and no NaN
            there = self.look(moved)
            if there.residual < here.residual or there.theta > here.theta:
                self.recent = [there, *self.recent[: _REMEMBERED - 1]]
                self.here = _combined(self.recent)
                return
        self.factor /= 2

    def look(self, w: Floats) -> _Look:
        """Normalise w, and take one pass over X."""
        v = w / np.linalg.norm(w)
        products = self.rows.margins(v, n_threads=self.n_threads)
        along = self._along_mean(v)
        image = self.rows.combine((products - along) / self.rows.n, n_threads=self.n_threads)
        if self.mean is not None:
            image -= self.mean * float(np.mean(products - along))
        self.passes += 1
        return _Look(v, image, True)

    def _along_mean(self, v: Floats) -> float:
        return 0.0 if self.mean is None else float(self.mean @ v)


def _combined(looks: list[_Look]) -> _Look:
    """The unit vector of largest ``vᵀCv`` in their span (Rayleigh and Ritz), less the last where they are too close."""
    vectors, images = (np.stack(parts) for parts in zip(*((look.v, look.image) for look in looks), strict=True))
    products = np.einsum("ij,kj->ik", vectors, vectors)
    if np.linalg.eigvalsh(products)[0] < _APART:
        return looks[0] if len(looks) == 1 else _combined(looks[:-1])
    curved = np.einsum("ij,kj->ik", vectors, images)
    weights = linalg.eigh(0.5 * (curved + curved.T), products)[1][:, -1]
    v = np.einsum("i,ij->j", weights, vectors)
    length = float(np.linalg.norm(v))
    return _Look(v / length, np.einsum("i,ij->j", weights, images) / length, False)
