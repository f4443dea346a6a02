"""A problem whose examples are on a cluster: what methods and certificates need of it, one round for each question."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats, Indices, vector
from dualfree.distributed import passes
from dualfree.distributed.crew import Crew
from dualfree.distributed.report import Report
from dualfree.evaluation import Evaluation, Look
from dualfree.examples import Flat
from dualfree.intercept import root_of_slopes
from dualfree.losses.base import Loss
from dualfree.problem import Problem
from dualfree.regularisers import L2

_SLACK = 1e-2  # of the tolerance that an intercept which is not quite the best may add to the gap


@dataclass(frozen=True)
class Facts(Flat):
    """What is known of all examples together, in place of the examples themselves."""

    n: int
    d: int
    stored: int
    hessian_entries: float
    typical_square_norm: float
    value_at_zero: float
    conjugate_at_zero: float
    smoothness: float
    """Mean of l_i."""
    constant_value: float = 1.0
    """The intercept is a weight like the others here, of a feature that is 1."""

    m = 1
    grouped = False
    rounds = False  # no kernel draws by itself here

    @property
    def nonzeros(self) -> Indices:
        """All of them, as one example."""
        return np.array([self.stored], dtype=np.int64)

    @property
    def square_norms(self) -> Floats:
        """Their mean."""
        return np.array([self.typical_square_norm])


class ClusterProblem(Problem):
    """`dualfree.Problem` for examples in partitions; the methods that take passes run on it as they are.

    Parameters
    ----------
    crew : Crew
        The partitions.
    kind : Loss
        A loss of the right kind, with whatever targets.
    lam, intercept
        As in `dualfree.Problem`.

    Attributes
    ----------
    tol : float
        The tolerance of the fit, by which the intercept is as good as it need be.
    """

    tol = 1e-12

    def __init__(self, crew: Crew, kind: Loss, lam: float, intercept: bool) -> None:
        self.crew, self.loss, self.lam, self.intercept = crew, kind, lam, intercept
        sums = crew.attempt(lambda: crew.total(crew.each(passes.facts))).numbers
        stored, squares, smoothness, norms, together, value, conjugate, n = sums.tolist()
        typical = norms / n
        # So that l times the typical square norm is the mean.
        self._l = float(together / norms if norms else smoothness / n)
        self.facts = Facts(
            int(n),
            crew.blocks.surveys[0].columns + intercept,
            int(stored),
            squares / (12 * n),
            typical,
            value / n,
            conjugate / n,
            smoothness / n,
        )
        self.examples: Any = self.facts
        self.n, self.d = self.facts.n, self.facts.size
        self.regulariser = L2()
        self._last: tuple[Floats, Look] | None = None

    @property
    def l(self) -> Floats:  # noqa: E743  (the paper's name)
        """One number that stands for all."""
        return np.array([self._l])

    @property
    def common_l(self) -> float:
        return self._l

    def primal(self, alpha: ArrayLike) -> Floats:
        alpha = vector("alpha", alpha, self.n)
        crew = self.crew

        def work() -> Floats:
            parts = crew.deal(alpha, np.asarray)
            return crew.total(crew.each(passes.combination, own=[parts])).total

        return crew.attempt(work) / (self.lam * self.n)

    def look(self, w: Floats, *, n_threads: int = 1, reuse: Look | None = None) -> Look:
        """As `Problem.look`; margins and derivatives stay on the workers, and the point stands in their place."""
        if self._last is None or not np.array_equal(self._last[0], w):
            self._last = w.copy(), self.crew.attempt(lambda: self._look(w))
        return self._last[1]

    def least_on_line(self, here: Look, there: Look) -> Look:
        """As `Problem.least_on_line`; not with an intercept, which is no better than it need be."""
        t, value = here.least_on_line(there)
        if self.intercept or t == 1:
            return there
        point = here.w + t * (there.w - here.w)
        gradient = here.evaluation.gradient + t * (there.evaluation.gradient - here.evaluation.gradient)
        gap = float(gradient @ gradient) / (2 * self.lam)
        known = Evaluation(value, gradient, gap, point - gradient / self.lam)
        return Look(point, known, point, point, here.blur_at(t, there))

    def _look(self, w: Floats) -> Look:
        crew, point = self.crew, w.copy()
        if self.intercept:
            z = crew.each(passes.margins, crew.share(w[:-1].copy()))
            point[-1] = self._best_intercept(z, float(w[-1]))
            found = crew.total(crew.each(passes.gradient_at, float(point[-1]), own=[z]))
            gradient = np.append(found.total, found.numbers[1])
        else:
            found = crew.total(crew.each(passes.value_and_gradient, crew.share(w)))
            gradient = found.total
        seen = self._evaluation(point, float(found.numbers[0]), gradient, np.inf, None)
        gap = self._gap(seen, found.numbers / self.n)
        if self.intercept:  # the other bound of a certificate, ‖∇P‖²/(2λ), must pay for a b that is not the best too
            penalised = self._penalised(seen.gradient)
            seen.gradient[-1] = np.sqrt(max(0.0, 2 * self.lam * gap - float(penalised @ penalised)))
        known = seen._replace(duality_gap=gap, combination=point - seen.gradient / self.lam)
        return Look(point, known, point, point)

    def _gap(self, seen: Evaluation, means: Floats) -> float:
        """``‖∇_w P‖²/(2λ)``, the gap of ``α_i = −φ_i'``, and what it takes to make these α feasible.

        With an intercept Σ α_i must be zero. Scaling down the heavier side by 1 − ε does that, with
        ``ε ≤ 2|Σ α_i|/Σ|α_i|``. φ_i* is convex, so that Fenchel's terms grow to at most ``ε (φ_i + φ_i*(0))``; and
        ``Σ A_i α_i`` moves by at most ``ε (Σ‖x_i‖² Σ α_i²)^½``.
        """
        slope = float(np.linalg.norm(self._penalised(seen.gradient)))
        if not self.intercept:
            return slope**2 / (2 * self.lam)
        loss, balance, size, squares = means.tolist()
        epsilon = min(1.0, 2 * abs(balance) / size) if size > 0 else 0.0
        moved = epsilon * float(np.sqrt(self.facts.typical_square_norm * squares))
        extra = epsilon * float(loss + self.facts.conjugate_at_zero)
        return extra + (slope + moved) ** 2 / (2 * self.lam)

    def _best_intercept(self, z: Sequence[Any], start: float) -> float:
        """As `dualfree.intercept.best_intercept`, a round of three numbers for each slope."""
        crew = self.crew

        def rates(b: float, before: float) -> tuple[float, float, float]:
            slope, size, curvature = crew.total(crew.each(passes.slopes, b, own=[z])).numbers.tolist()
            return slope, size, curvature

        return root_of_slopes(rates, self.facts.smoothness * self.n, start, max(_SLACK * self.tol / 2, 1e-14))

    def evaluate(
        self, w: ArrayLike, alpha: ArrayLike | None = None, margins: Floats | None = None, *, n_threads: int = 1
    ) -> Evaluation:
        point = vector("w", w, self.d)
        if alpha is None:
            return self.look(point).evaluation
        return self.certify(point, lambda: self.crew.deal(vector("alpha", alpha, self.n), np.asarray))

    def certify(
        self, w: Floats, parts: Callable[[], list[Any]], certify: Callable[..., Report] = passes.certify
    ) -> Evaluation:
        """The evaluation of (w, α), with α as futures that `parts` gives, anew after a loss, and `certify` takes."""
        crew = self.crew
        found = crew.attempt(lambda: crew.total(crew.each(certify, crew.share(w), own=[parts()])))
        total, fenchel = found.numbers.tolist()
        sums = found.total
        gradient, combination = sums[::2].copy(), sums[1::2] / (self.lam * self.n)
        apart = w - combination
        gap = fenchel / self.n + 0.5 * self.lam * float(apart @ apart)
        return self._evaluation(w, total, gradient, gap, combination)

    def rough_start(self) -> Floats:
        """A point to begin at: the mean of what the partitions would begin with, each by itself."""
        crew = self.crew
        mean = crew.attempt(lambda: crew.total(crew.each(passes.rough, self.lam))).total / self.n
        return np.append(mean, 0.0) if self.intercept else mean

    def hessian(self, margins: Floats, sample: Indices | None = None, *, n_threads: int = 1) -> Floats:
        """As `Problem.hessian`; the point stands for its margins here too: see `look`."""
        crew, starts, d = self.crew, self.crew.blocks.starts, self.d - self.intercept
        w, b = margins[:d].copy(), float(margins[-1]) if self.intercept else 0.0
        size = self.n if sample is None else len(sample)
        own: list[Indices | None] = [None] * crew.count
        if sample is not None and size < self.n:
            cuts = np.searchsorted(sample, starts)
            own = [sample[i:j] - first for i, j, first in zip(cuts[:-1], cuts[1:], starts[:-1], strict=True)]
        found = crew.attempt(lambda: crew.total(crew.each(passes.gram, crew.share(w), b, own=[own])))
        sums = found.total / size
        hessian = np.zeros((self.d, self.d))
        hessian[:d, :d] = sums[: d * d].reshape(d, d)
        if self.intercept:
            hessian[-1, :-1] = hessian[:-1, -1] = sums[d * d :]
            hessian[-1, -1] = float(found.numbers[0]) / size
        np.einsum("jj->j", hessian)[:d] += self.lam
        return hessian

    def alpha_at(self, w: Floats) -> Floats:
        """``α_i = −φ_i'(A_iᵀw)`` of all examples, brought here."""
        crew, d = self.crew, self.d - self.intercept
        b = float(w[-1]) if self.intercept else 0.0
        return crew.attempt(lambda: crew.collect(crew.each(passes.alpha_at, crew.share(w[:d].copy()), b)))
