"""The potentials of the theorems, watched over many seeds against the proven ``e^{−θt}``."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfree.arrays import Floats, Indices
from dualfree.bounds import potential
from dualfree.methods.dfsdca import DfSDCA
from dualfree.paper.report import Plot, Raw, Table
from dualfree.paper.report.plot import BLACK
from dualfree.samplings import BoundSampling
from dualfree.steps import step_rule

SEEDS = 200


@dataclass(frozen=True)
class Decay:
    """Potentials of many runs of one sampling.

    Attributes
    ----------
    name : str
        The sampling, for people.
    theorem : {1, 2}
        Whose potential and step it is.
    theta : float
        Its θ, or rather its rate: for Theorem 1 ``θσ/λ``, which is θ where the average loss is convex.
    times : array of T iteration numbers
        When the runs were looked at.
    ratios : array of shape (seeds, T)
        The potential divided by its value at the start.
    """

    name: str
    theorem: int
    theta: float
    times: Indices
    ratios: Floats

    @property
    def mean(self) -> Floats:
        """The mean over the seeds, an estimate of what the theorem bounds."""
        return np.asarray(self.ratios.mean(axis=0))

    @property
    def standard_error(self) -> Floats:
        """Of `mean`."""
        return np.asarray(self.ratios.std(axis=0, ddof=1) / np.sqrt(len(self.ratios)))

    @property
    def promised(self) -> Floats:
        """``e^{−θt}``."""
        return np.asarray(np.exp(-self.theta * self.times))

    @property
    def kept(self) -> bool:
        """Whether the mean less three standard errors is within the promise, at every time.

        The theorem bounds an expectation and the mean only estimates it, hence the allowance. At t = 0 both sides
        are 1.
        """
        return bool((self.mean - 3 * self.standard_error <= self.promised * (1 + 1e-12)).all())

    def raw(self) -> Raw:
        """For JSON."""
        return {
            "name": self.name,
            "theorem": self.theorem,
            "theta": self.theta,
            "times": self.times.tolist(),
            "ratios": self.ratios.tolist(),
        }

    @classmethod
    def of(cls, raw: dict[str, Any]) -> "Decay":
        """Back from JSON."""
        times, ratios = np.array(raw["times"], dtype=np.int64), np.array(raw["ratios"])
        return cls(raw["name"], raw["theorem"], raw["theta"], times, ratios)


def simulate(
    name: str,
    bound: BoundSampling,
    best: tuple[Floats, Floats],
    theorem: int,
    *,
    horizon: float = 7.0,
    looks: int = 15,
    seeds: int = SEEDS,
) -> Decay:
    """Runs of dfSDCA with the theorem's own θ, from zero, one for each seed.

    Parameters
    ----------
    name : str
        For people.
    bound : BoundSampling
        The sampling on its problem.
    best : pair of arrays
        ``(w*, α*)``.
    theorem : {1, 2}
        Whose θ, and whose potential.
    horizon : float
        Runs end when the promise is ``e^{−horizon}``.
    looks : int
        Times at which the potential is taken, evenly spaced.
    seeds : int
        Number of runs.

    Examples
    --------
    >>> from dualfree.paper.theorems import convex_problem, optimum
    >>> from dualfree.samplings import Uniform
    >>> problem = convex_problem()
    >>> decay = simulate("uniform", Uniform().bind(problem), optimum(problem), theorem=2, seeds=20)
    >>> decay.ratios.shape, bool((decay.ratios[:, 0] == 1).all()), decay.kept
    ((20, 15), True, True)
    """
    problem = bound.problem
    rule = step_rule(f"theorem-{theorem}", bound)
    rate = rule.theta if theorem == 2 else rule.theta * problem.convexity.sigma / problem.lam
    times = np.unique(np.linspace(0, horizon / rate, looks).round().astype(np.int64))
    method = DfSDCA(problem, bound, rule)
    ratios = np.empty((seeds, len(times)))
    for seed in range(seeds):
        state = method.start(np.zeros(problem.examples.total))
        for k, time in enumerate(times.tolist()):
            if time > state.iteration:
                method.advance(state, bound.draw(state.iteration, time - state.iteration, seed))
            ratios[seed, k] = potential(problem, state.w, state.alpha, *best, theorem)
    return Decay(name, theorem, rate, times, ratios / ratios[:, :1])


def draw_decays(plot: Plot, decays: list[Decay], colours: list[str], markers: str) -> None:
    """Mean potentials against ``θt``, in which all promises are one line."""
    for decay, colour, marker in zip(decays, colours, markers, strict=False):
        x = decay.theta * decay.times
        low, high = np.quantile(decay.ratios, [0.05, 0.95], axis=0)
        plot.axis.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
        hover = [
            f"t = {t:,}, {m:.3g}, proven {p:.3g}"
            for t, m, p in zip(decay.times, decay.mean, decay.promised, strict=True)
        ]
        plot.line(x, decay.mean, decay.name, colour, marker=marker, hover=hover)
    longest = max(decays, key=lambda decay: decay.theta * decay.times[-1])
    plot.promise(longest.theta * longest.times, longest.promised, BLACK, "proven, exp(−θt)")
    letter = {1: "D", 2: "E"}[decays[0].theorem]
    plot.label("θ t", f"potential {letter}⁽ᵗ⁾ / {letter}⁽⁰⁾")


def table_of_decays(decays: list[Decay]) -> Table:
    """Mean, standard error and promise at every time."""
    rows = []
    for decay in decays:
        columns = (decay.times.tolist(), decay.mean.tolist(), decay.standard_error.tolist(), decay.promised.tolist())
        rows += [(decay.theorem, decay.name, decay.theta, *numbers) for numbers in zip(*columns, strict=True)]
    return Table(("theorem", "sampling", "theta", "iteration", "mean", "standard_error", "proven"), rows)
