"""Step sizes: how far α_i moves, from the theory's constants; nobody types a number that a formula gives."""

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.optimize import elementwise

from dualfree import memory
from dualfree.arrays import Floats, Indices
from dualfree.losses.base import Loss
from dualfree.losses.vectors import VectorLoss
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling

NAMES = ("theorem-1", "theorem-2", "per-example", "implicit", "nearly-implicit", "rescaled", "safeguarded", "tuned")
NEARLY = 1.0  # slack of `nearly-implicit` and `rescaled`
_WITHOUT_P = ("implicit", "nearly-implicit", "rescaled", "per-example")  # steps that do not rest on the probabilities


@dataclass(frozen=True)
class StepRule:
    """A step size made ready for the kernels.

    Attributes
    ----------
    name : str
        As the user gave it.
    scale : array
        ``θ/p_i`` for fixed steps, ``v_i/(λn)`` for implicit ones; one number if all are equal.
    slack : float or None
        None for fixed steps. For implicit ones how far ``A_iᵀw`` may go in the last of the moves by which the kernels
        come near to them: 0 for all digits, and for 1 they are off by a hundredth of the step at most.
    theta : float
        θ of the step itself, or for `per-example` and `implicit` the θ of Theorem 2.
    proven : int or None
        The theorem that covers this step, if one does.
    """

    name: str
    scale: Floats
    slack: float | None
    theta: float
    proven: int | None

    @property
    def implicit(self) -> bool:
        """Whether α_i moves to a root, not by a fixed part of the residual."""
        return self.slack is not None


def theorem_theta(bound: BoundSampling, theorem: int) -> float:
    """The largest step that Theorem 1 or 2 allows.

    ``θ = min_i p_i nλσ/(L_i² v_i + nλσ)`` for Theorem 1, ``θ = min_i p_i nλ/(l_i v_i + nλ)`` for Theorem 2. P is
    σ-strongly convex; σ is λ, as in the paper, where the average loss is convex, and less where it is not but P is.

    Examples
    --------
    >>> import dualfree as df
    >>> problem = df.Problem(np.eye(2), df.losses.Squared(np.ones(2)), lam=0.5)
    >>> theorem_theta(df.samplings.Uniform().bind(problem), theorem=2)
    0.25
    """
    if theorem not in bound.thetas:
        problem, l = bound.problem, bound.problem.common_l  # noqa: E741  (the paper's name)
        if theorem == 2 and bound.even and isinstance(l, float):  # then the largest v_i decides
            hardest = _in_range(l * bound.largest_v / problem.n / problem.lam, problem)
            bound.thetas[theorem] = float(bound.p[0]) / (1 + hardest)
        else:
            bound.thetas[theorem] = float((bound.p / (1 + _condition(bound, theorem))).min())
    return bound.thetas[theorem]


def _condition(bound: BoundSampling, theorem: int) -> Floats:
    """``l_i v_i/(λn)`` for Theorem 2, ``L_i² v_i/(λσn)`` for Theorem 1: how hard each example makes the problem."""
    problem = bound.problem
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if theorem == 2:
            ratio = problem.common_l * bound.v / problem.n / problem.lam
        else:
            ratio = problem.L / problem.lam * (problem.L / problem.convexity.sigma) * bound.v / problem.n
    _in_range(float(ratio.max()), problem)
    return ratio


def _in_range(hardest: float, problem: Problem) -> float:
    """The largest of these, or a sentence where it is none."""
    if not math.isfinite(hardest):
        raise ValueError(
            f"lam is {problem.lam:g}, too small for examples of norm {problem.norms.max():g}: the step size would "
            "underflow; take a larger lam, or scale X down."
        )
    return hardest


def default_step(problem: Problem) -> str:
    """`implicit` where every φ_i is convex, `safeguarded` where P is not convex, otherwise `theorem-1`."""
    if problem.loss.all_convex:
        return "implicit"
    return "safeguarded" if problem.convexity.known is False else "theorem-1"


def step_rule(step: Any, bound: BoundSampling) -> StepRule:
    """The rule that `step` names: one of `NAMES`, or a θ.

    The safeguarded step begins as ``per-example``, which is proven for convex losses alone; see `Safeguard`.
    """
    problem = bound.problem
    if bound.sampling.adapts and not (isinstance(step, str) and step in _WITHOUT_P):
        raise ValueError(
            f"step is {step!r:.60}, but the probabilities of sampling={bound.sampling!r} change during the run, and "
            "such a step rests on them; take step='implicit' or 'per-example'."
        )
    if not isinstance(step, str):
        return _number_rule(step, bound)
    if step not in NAMES:
        raise ValueError(f"step is {step!r}; it must be one of {', '.join(NAMES)}, or a number θ.")
    if step not in ("theorem-1", "safeguarded"):
        problem.require_convex(f"step={step!r}")
    match step:
        case "theorem-1":
            theta = theorem_theta(bound, 1)
            proven = None if problem.convexity.known is False else 1
            return StepRule(step, _compact(theta / bound.p), None, theta, proven)
        case "theorem-2":
            theta = theorem_theta(bound, 2)
            return StepRule(step, _compact(theta / bound.p), None, theta, 2)
        case "per-example" | "safeguarded":
            return StepRule(step, _compact(1 / (1 + _condition(bound, 2))), None, theorem_theta(bound, 2), None)
        case "implicit" | "nearly-implicit" | "rescaled":
            theta, slack = theorem_theta(bound, 2), 0.0 if step == "implicit" else NEARLY
            return StepRule(step, _compact(_responses(bound)), slack, theta, None)
    return _number_rule(step, bound)


def _number_rule(step: Any, bound: BoundSampling) -> StepRule:
    largest = float(bound.p.min())
    if isinstance(step, bool) or not isinstance(step, (int, float, np.integer, np.floating)):
        raise TypeError(f"step is {step!r:.60}; it must be one of {', '.join(NAMES)}, or a number θ.")
    theta = float(step)
    if not (math.isfinite(theta) and 0 < theta <= largest * (1 + 1e-12)):
        raise ValueError(f"step is θ = {step!r}; it must be above 0 and at most min p_i = {largest:.6g}.")
    theorem = 2 if bound.problem.loss.all_convex else 1
    proven = theorem if theta <= theorem_theta(bound, theorem) * (1 + 1e-12) else None
    return StepRule(f"{theta:g}", _compact(np.minimum(theta / bound.p, 1.0)), None, theta, proven)


def _responses(bound: BoundSampling) -> Floats:
    """``v_i/(λn)``: what a move of α_i adds to A_iᵀw, by the ESO."""
    responses = memory.empty(len(bound.v))
    np.divide(bound.v, bound.problem.lam * bound.problem.n, out=responses)
    return responses


def _compact(scale: Floats) -> Floats:
    """One number instead of n equal ones: less memory to read in the kernel's innermost loop."""
    alike = scale[0] == scale[-1] and bool((scale == scale[0]).all())
    return scale[:1].copy() if alike else np.ascontiguousarray(scale)


def implicit_alpha(loss: Loss, indices: Indices, z: Floats, alpha: Floats, scale: Floats) -> Floats:
    """Roots of ``α⁺ = −φ_i'(z_i + scale_i (α⁺ − α_i))``, for a loss in Python.

    The residual increases, and its root lies between α and ``−φ_i'(z_i)``.
    """
    if loss.vector:
        return cast(VectorLoss, loss).implicit(indices, z, alpha, scale)
    y = loss.y[indices]

    def residual(a: Floats, at: Floats) -> Floats:
        k = at.astype(np.int64)
        moved = z[k] + scale[k] * (a - alpha[k])
        return a + loss.weighted(loss.derivative(moved, y[k]), indices[k])

    end = -loss.weighted(loss.derivative(z, y), indices)
    low, high = np.minimum(alpha, end), np.maximum(alpha, end)
    found = elementwise.find_root(
        residual,
        (low, high),
        args=(np.arange(len(z), dtype=np.float64),),
        tolerances={"xatol": 0.0, "xrtol": 4e-16, "fatol": 1e-15},
    )
    # Equal ends, or ends that rounding has put on one side: both are the root.
    return np.where(found.success, found.x, end)
