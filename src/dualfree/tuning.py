"""``step="tuned"``: the best step of a geometric grid, what the paper calls fine-tuned."""

import time
from dataclasses import dataclass

import numpy as np

from dualfree.methods.base import Method, State
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling

_TRIAL_EPOCHS = 3.0
_FACTOR = 2.0
_PATIENCE = 2  # grid points in a row that are worse than the best, before the search ends


@dataclass(frozen=True)
class Tuning:
    """The trials: for each θ the value P(w) that it reached, and what all of them cost."""

    theta: float
    trials: tuple[tuple[float, float], ...]
    epochs: float
    seconds: float


def tune(
    method: type[Method], problem: Problem, bound: BoundSampling, state: State, seed: int, deadline: float = np.inf
) -> Tuning:
    """Run each θ of the grid for three epochs from copies of `state`; the least P(w) wins.

    The grid starts at the theory's step (for dfSDCA θ) and doubles up to the largest that makes sense (for dfSDCA
    ``min p_i``, beyond which α_i would overshoot). It ends early at `deadline` (on the clock of `time.perf_counter`):
    the theory's step is then the least that is known.
    """
    begun = time.perf_counter()
    theta, largest = method.step_range(bound)
    iterations = max(1, round(_TRIAL_EPOCHS * bound.iterations_per_epoch))
    draws = bound.draw(0, iterations, seed)
    trials: list[tuple[float, float]] = []
    best, since_best = np.inf, 0
    while since_best < _PATIENCE:
        copy = state.copy()
        trial = method(problem, bound, method.step_rule(bound, theta))
        trial.advance(copy, draws)
        with np.errstate(over="ignore", invalid="ignore"):
            value = trial.evaluate(copy)[1].value if np.isfinite(copy.w).all() else np.inf
        trials.append((theta, value))
        best, since_best = (value, 0) if value < best else (best, since_best + 1)
        if theta >= largest or time.perf_counter() >= deadline:
            break
        theta = min(theta * _FACTOR, largest)
    winner = min(trials, key=lambda trial: trial[1])[0]
    return Tuning(winner, tuple(trials), len(trials) * _TRIAL_EPOCHS, time.perf_counter() - begun)
