"""The leading principal component of X, by shift-and-invert: linear systems of non-convex parts with a convex sum."""

import math
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfree.arrays import Floats, not_negative, positive, threads, whole
from dualfree.examples import Rows
from dualfree.progress import progress_bar
from dualfree.result import Status
from dualfree.shift_and_invert import Search

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
    search = Search(rows, bool(centre), threads(n_threads), seed)
    status = Status.INTERRUPTED
    # After Ctrl-C the best vector so far is an answer too.
    with progress_bar(progress, "component", max_epochs) as show, suppress(KeyboardInterrupt):
        status = search.until_done(tol, max_epochs, begun, show)
    here = search.certified()
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
