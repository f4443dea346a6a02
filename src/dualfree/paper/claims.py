"""The paper's claims as checked statements, each computed from the raw results behind the figures."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dualfree.paper import curves, figure1, figure2_left, figure2_middle, figure2_right, figure3, runs, table1
from dualfree.paper.report import Raw, Verdict
from dualfree.paper.simulation import Decay

LINEAR = 0.98  # R² above which a fit of log suboptimality counts as a straight line
Raws = Mapping[str, Raw]  # results by the name of the experiment
Checked = tuple[str, bool]  # what was measured, in words, and whether the claim holds


@dataclass(frozen=True)
class Claim:
    """A statement of the paper.

    Attributes
    ----------
    statement : str
        In one sentence.
    where : str
        In the paper.
    needs : str
        The beginning of the names of the experiments that it is checked on.
    check : callable
        From those results, in order, to what was measured and whether the statement holds.
    """

    statement: str
    where: str
    needs: str
    check: Callable[[list[Raw]], Checked]


def check_all(raws: Raws) -> list[Verdict]:
    """The verdict on every claim whose experiments were run."""
    verdicts = []
    for claim in CLAIMS:
        found = [raw for name, raw in raws.items() if name.startswith(claim.needs)]
        if found:
            verdicts.append(Verdict(claim.statement, claim.where, *claim.check(found)))
    return verdicts


def _table(found: list[Raw]) -> Checked:
    wrong = []
    for raw in found:
        n, d, density = table1.PRINTED[raw["data"]["name"]]
        own = raw["nnz"] / (raw["n"] * raw["d"])
        if raw["n"] != n:
            wrong.append(f"{raw['data']['name']} has n = {raw['n']:,}")
        if raw["d"] != d:
            wrong.append(f"{raw['data']['name']} has d = {raw['d']:,}, not {d:,}")
        if abs(own / density - 1) > 0.3:
            wrong.append(f"{raw['data']['name']} has density {100 * own:.2g} %")
    return "; ".join(wrong) or "equal, densities up to rounding", not wrong


def _waiting(name: str) -> Callable[[list[Raw]], Checked]:
    def check(found: list[Raw]) -> Checked:
        before, after = (found[0]["kinds"][kind] for kind in ("initially", "chunked"))
        shares = f"share of a core's time spent waiting {before['waiting_share']:.0%} → {after['waiting_share']:.0%}"
        text = f"mean wait {before['mean']:.1f} → {after['mean']:.1f} nonzeros; {shares}"
        return text, after["mean"] < before["mean"] and after["waiting_share"] < before["waiting_share"]

    return check


def _seconds(name: str) -> Callable[[list[Raw]], float]:
    def time(found: list[Raw]) -> float:
        curve = curves.named(found[0])[name]
        return runs.reached(curve["seconds"], curve["suboptimality"], figure2_left.TARGET)

    return time


def _competitive(found: list[Raw]) -> Checked:
    named = curves.named(found[0])
    epochs = {
        name: runs.reached(curve["epoch"], curve["suboptimality"], figure2_left.TARGET) for name, curve in named.items()
    }
    text = f"epochs to {figure2_left.TARGET:g}: " + ", ".join(
        f"{name} {_number(value)}" for name, value in epochs.items()
    )
    best = min(value for name, value in epochs.items() if name != "dfSDCA")
    return text, epochs["dfSDCA"] <= 1.5 * best


def _order_of_times(found: list[Raw]) -> Checked:
    times = {name: _seconds(name)(found) for name in figure2_left.PAPER_SECONDS}
    order = sorted(times, key=lambda name: times[name])
    text = f"seconds to {figure2_left.TARGET:g}, fastest first: " + ", ".join(
        f"{name} {_number(times[name])}" for name in order
    )
    printed = sorted(figure2_left.PAPER_SECONDS, key=lambda name: figure2_left.PAPER_SECONDS[name])
    return text, order == printed


def _variance_reduced(found: list[Raw]) -> Checked:
    named, fine = curves.named(found[0]), figure2_left.FINE
    ends = {name: min(curve["suboptimality"]) for name, curve in named.items()}
    text = f"least P − P* in {figure2_left.EPOCHS} epochs: " + ", ".join(f"{k} {v:.1e}" for k, v in ends.items())
    return text, ends["SGD"] > fine and all(ends[name] <= fine for name in ("dfSDCA", "SAG", "S2GD"))


def _slower_with_smaller_lambda(found: list[Raw]) -> Checked:
    named = curves.named(found[0])
    epochs = [
        runs.reached(named[name]["epoch"], named[name]["suboptimality"], figure2_middle.TARGET)
        for name in figure2_middle.MULTIPLES
    ]
    pairs = zip(figure2_middle.MULTIPLES, epochs, strict=True)
    text = f"epochs to {figure2_middle.TARGET:g}: " + ", ".join(f"{name}: {_number(value)}" for name, value in pairs)
    return text, all(a < b for a, b in pairwise(epochs))


def _linear(found: list[Raw]) -> Checked:
    fits = {
        name: runs.linear_fit(curve["iteration"], curve["suboptimality"])[1]
        for name, curve in curves.named(found[0]).items()
    }
    shown = ", ".join(f"{name} {fit:.3f}" for name, fit in fits.items())
    return f"R² of log(P − P*) against t, {LINEAR} asked: {shown}", min(fits.values()) > LINEAR


def _importance(found: list[Raw]) -> Checked:
    named = curves.named(found[0])
    uniform, importance = (
        runs.reached(named[name]["epoch"], named[name]["suboptimality"], figure2_right.TARGET)
        for name in ("uniform", "importance")
    )
    text = f"epochs to {figure2_right.TARGET:g}: importance {_number(importance)}, uniform {_number(uniform)}"
    return text, importance < uniform


def _importance_bound(found: list[Raw]) -> Checked:
    factors = {name: 1 / theta / found[0]["n"] for name, theta in found[0]["theta"].items()}
    best = min(factors, key=lambda name: factors[name])
    text = "1/(θn): " + ", ".join(f"{name} {value:.3f}" for name, value in factors.items())
    return text, best == "importance"


def _rates(found: list[Raw]) -> Checked:
    """Measured rate of the suboptimality over θ, for every run with the step of Theorem 2."""
    ratios = []
    for raw in found:
        for name, curve in curves.named(raw).items():
            ratios.append(runs.linear_fit(curve["iteration"], curve["suboptimality"])[0] / raw["theta"][name])
    text = f"measured rate over θ between {min(ratios):.2f} and {max(ratios):.2f} in {len(ratios)} runs"
    return text, min(ratios) >= 1


def _proxy(name: str) -> Callable[[list[Raw]], Checked]:
    def check(found: list[Raw]) -> Checked:
        ratios = {raw["tau"]: _ratio(*figure3.proxies(raw)) for raw in found}
        shown = ", ".join(f"{ratio:.2f} (τ = {tau})" for tau, ratio in ratios.items())
        return f"standard / new proxy time to {figure3.TARGET:g}: {shown}", all(r > 1 for r in ratios.values())

    return check


def _real_seconds(found: list[Raw]) -> Checked:
    ratios, agree = [], 0
    for raw in found:
        standard, new = (figure3.seconds_to_target(raw, name, most=True) for name in (figure3.STANDARD, figure3.NEW))
        ratios.append(_ratio(standard, new))
        agree += (ratios[-1] > 1) == (_ratio(*figure3.proxies(raw)) > 1)
    text = (
        f"standard / new seconds on threads between {min(ratios):.2f} and {max(ratios):.2f}; "
        f"proxy and seconds name the same winner in {agree} of {len(found)} panels"
    )
    return text, agree == len(found)


def _fallback(found: list[Raw]) -> Checked:
    most = max(value for raw in found for value in raw["fallback"].values())
    return f"largest v_i/(τ‖A_i‖²) of the exact formulas: {most:.3f}", most <= 1 + 1e-9


def _promise(found: list[Raw]) -> Checked:
    """Of one or many decays a result: the mean potential stays under its bound."""
    decays = [Decay.of(decay) for raw in found for decay in raw.get("decays", [raw])]
    kept = sum(decay.kept for decay in decays)
    worst = max(float((decay.mean[1:] / decay.promised[1:]).max()) for decay in decays)
    return (
        f"{kept} of {len(decays)} samplings; mean over bound at most {worst:.3f}, three standard errors allowed",
        kept == len(decays),
    )


def _drift(found: list[Raw]) -> Checked:
    worst = max(raw["drift"] for raw in found)
    return f"relative distance after 5 epochs at most {worst:.1e}", worst < 1e-9


def _limit(kind: str) -> Callable[[list[Raw]], Checked]:
    def check(found: list[Raw]) -> Checked:
        parts = [f"{raw['data']['name']} {raw['kinds'][kind]['largest']:,} of {raw['limit']:,}" for raw in found]
        return "largest chunk: " + ", ".join(parts), all(raw["kinds"][kind]["largest"] <= raw["limit"] for raw in found)

    return check


def _ratio(a: float, b: float) -> float:
    return a / b if math.isfinite(a) and math.isfinite(b) else (math.inf if math.isfinite(b) else 0.0)


def _number(value: float) -> str:
    return f"{value:.3g}" if np.isfinite(value) else "never"


CLAIMS: tuple[Claim, ...] = (
    Claim("The datasets have the n, d and density of Table 1.", "Table 1", "table-1", _table),
    *(
        Claim(
            f"Waiting time is smaller with chunks on {name}.", "Section 4, Figure 1", f"figure-1-{name}", _waiting(name)
        )
        for name in figure1.DATA
    ),
    Claim(
        "dfSDCA is a match for SGD, SAG and S2GD in epochs (within 1.5 times the best).",
        "Experiment 1, Figure 2 left",
        "figure-2-left",
        _competitive,
    ),
    Claim(
        "SGD falls behind where high accuracy is asked.",
        "Introduction, Figure 2 left",
        "figure-2-left",
        _variance_reduced,
    ),
    Claim("In seconds the order is S2GD, SDCA, SGD, SAG.", "Experiment 1", "figure-2-left", _order_of_times),
    Claim("A smaller λ is slower.", "Theorem 2, Figure 2 middle", "figure-2-middle", _slower_with_smaller_lambda),
    Claim("Every serial sampling converges linearly.", "Experiment 1, Figure 2 right", "figure-2-right", _linear),
    Claim("Importance sampling beats uniform sampling on cov1.", "Figure 2 right", "figure-2-right", _importance),
    Claim("Of the serial samplings importance has the best bound.", "Section 1.2", "figure-2-right", _importance_bound),
    Claim("The suboptimality falls at least as fast as exp(−θt).", "Theorem 2", "figure-2-m", _rates),
    Claim("The suboptimality falls at least as fast as exp(−θt), on cov1.", "Theorem 2", "figure-2-r", _rates),
    *(
        Claim(
            f"Chunk sampling needs less proxy time on {name}, for every τ.",
            "Experiment 2, Figure 3",
            f"figure-3-{name}-",
            _proxy(name),
        )
        for name in figure3.DATA
    ),
    Claim("The nonzeros of the slowest core are a proxy for time.", "Experiment 2", "figure-3-", _real_seconds),
    Claim("v_i = τ‖A_i‖² serves whenever |S| ≤ τ.", "Section 3", "figure-3-", _fallback),
    Claim("E⁽ᵗ⁾ stays under exp(−θt)E⁽⁰⁾ in expectation, on the paper's data.", "Theorem 2", "potentials-", _promise),
    Claim("w = (1/λn) Σ A_i α_i is maintained.", "Section 2", "potentials-", _drift),
    Claim("E⁽ᵗ⁾ stays under exp(−θt)E⁽⁰⁾ in expectation, for any sampling.", "Theorem 2", "theorem-2-", _promise),
    Claim("D⁽ᵗ⁾ stays under exp(−θt)D⁽⁰⁾ with non-convex losses.", "Theorem 1", "theorem-1-", _promise),
    Claim("The same on real data with half of the losses concave.", "Theorem 1", "nonconvex-", _promise),
    Claim(
        "No chunk of Algorithm 2, corrected, exceeds m = max nnz(A_i).", "Section 4", "erratum-1-", _limit("corrected")
    ),
    Claim("No chunk of Algorithm 2, as printed, exceeds m (erratum 1).", "Section 4", "erratum-1-", _limit("printed")),
)
