"""Shift-and-invert for a leading eigenvector: the search behind `dualfree.leading_component`."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.examples import Rows
from dualfree.result import Row, Status

_POWER_STEPS = 3  # before the first shift: of a random vector, θ says too little
_SHIFT = 2.0  # of √(tr(C)θ/n), the least at which an epoch solves its system to a fraction
_REMEMBERED = 4  # vectors whose best combination is taken: O(d), and no pass
_APART = 1e-10  # least eigenvalue of the vectors' products; below, a combination would lose too many digits
_FAR = 1e100  # where v has length one
_LEAST_STEP = 2.0**-20  # of the first one, when each epoch has made things worse


@dataclass(frozen=True, eq=False)
class Look:
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


class Search:
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
        self.recent: list[Look] = []
        self.here = self.look(np.random.default_rng(seed).normal(size=rows.d))
        for _ in range(_POWER_STEPS):
            if self.here.theta > 0:  # else X is zero
                self.here = self.look(self.here.image)

    def until_done(self, tol: float, max_epochs: float, begun: float, show: Callable[[Row], None]) -> Status:
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

    def certified(self) -> Look:
        """The best vector, with a pass of its own behind its residual."""
        return self.here if self.here.seen else self.look(self.here.v)

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
                self.here = combined(self.recent)
                return
        self.factor /= 2

    def look(self, w: Floats) -> Look:
        """Normalise w, and take one pass over X."""
        v = w / np.linalg.norm(w)
        products = self.rows.margins(v, n_threads=self.n_threads)
        along = self._along_mean(v)
        image = self.rows.combine((products - along) / self.rows.n, n_threads=self.n_threads)
        if self.mean is not None:
            image -= self.mean * float(np.mean(products - along))
        self.passes += 1
        return Look(v, image, True)

    def _along_mean(self, v: Floats) -> float:
        return 0.0 if self.mean is None else float(self.mean @ v)


def combined(looks: list[Look]) -> Look:
    """The unit vector of largest ``vᵀCv`` in their span (Rayleigh and Ritz), less the last where they are too close."""
    vectors, images = (np.stack(parts) for parts in zip(*((look.v, look.image) for look in looks), strict=True))
    products = np.einsum("ij,kj->ik", vectors, vectors)
    if np.linalg.eigvalsh(products)[0] < _APART:
        return looks[0] if len(looks) == 1 else combined(looks[:-1])
    curved = np.einsum("ij,kj->ik", vectors, images)
    weights = linalg.eigh(0.5 * (curved + curved.T), products)[1][:, -1]
    v = np.einsum("i,ij->j", weights, vectors)
    length = float(np.linalg.norm(v))
    return Look(v / length, np.einsum("i,ij->j", weights, images) / length, False)
