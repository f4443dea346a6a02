"""One method on a problem on a cluster, from its start or a checkpoint to its result, by the loop of one machine."""

import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from dualfree.distributed import checkpoint as files
from dualfree.distributed.choice import passes_a_round
from dualfree.distributed.connection import SchedulerLostError
from dualfree.distributed.full_passes import ClusterLBFGS, ClusterNewton
from dualfree.distributed.problem import ClusterProblem
from dualfree.distributed.rounds import ClusterRounds
from dualfree.limits import Limits
from dualfree.loop import Callback, Run
from dualfree.methods.base import Method, State
from dualfree.progress import progress_bar
from dualfree.result import Result, Row
from dualfree.samplings.base import BoundSampling, Draws, Sampling
from dualfree.steps import StepRule

METHODS: dict[str, type[Method]] = {"dfsdca": ClusterRounds, "newton": ClusterNewton, "lbfgs": ClusterLBFGS}


class Partitions(Sampling):
    """All partitions in each round."""

    def __init__(self, count: int) -> None:
        self.count = count


@dataclass(frozen=True)
class Wishes:
    """What the user asks of a fit, checked; `save_to` None is no checkpoint, except when the scheduler is lost."""

    limits: Limits
    progress: bool
    seed: int
    save_to: Path | None = None
    save_every: float = math.inf
    begun: float = field(default_factory=time.perf_counter)
    alpha: bool = True
    """Whether to bring α here at the end, where the method does not need it."""


def fit(
    method: str, problem: ClusterProblem, callback: Callback | None, wishes: Wishes, warm_start: Any = None
) -> Result:
    """Run one method; `warm_start` is a `Result`, what a checkpoint holds, or None."""
    limits = wishes.limits
    length = passes_a_round(problem) if method == "dfsdca" else 1.0
    rule = StepRule("implicit" if method == "dfsdca" else method, np.ones(1), method == "dfsdca", np.nan, None)
    running = METHODS[method](problem, _every_partition(problem, length), rule)
    if isinstance(running, ClusterRounds):
        running.passes_a_round, running.limits, running.deadline = length, limits, wishes.begun + limits.time_limit
    state = _start(running, method, problem, warm_start)
    state.seed = wishes.seed
    run = Run(running, state, limits, wishes.seed, wishes.begun)
    keep = _keeper(run, wishes, method)
    try:
        with progress_bar(wishes.progress, f"{problem.crew.count} partitions", limits.max_epochs) as show:
            status = run.until_done(_both(callback, keep), show)
        result = run.result(status, method, None)
        bring = wishes.alpha and not len(result.alpha)
        return replace(result, alpha=problem.alpha_at(result.w)) if bring else result
    except SchedulerLostError as error:
        path = wishes.save_to or Path(tempfile.mkdtemp(prefix="dualfree-"), "fit.npz")
        files.save(path, run.state, (problem.n, problem.d), method)
        raise SchedulerLostError(
            f"The fit ended because {error}; it stands at a gap of {run.best[2].gap:.3g} in {path}, and "
            f"resume={str(path)!r} goes on from there."
        ) from None


def _start(running: Method, method: str, problem: ClusterProblem, warm_start: Any) -> State:
    if warm_start is None:
        state = running.start(np.zeros(problem.n if method == "dfsdca" else 1))
        if isinstance(running, ClusterNewton):
            running.begin_roughly(state)
        return state
    alpha, w = warm_start.alpha, warm_start.w
    if method != "dfsdca":
        state = running.start(np.zeros(1))
        state.w[:] = w
        return state
    if len(alpha) != problem.n:
        alpha = problem.alpha_at(w)
    state = running.start(np.array(alpha))
    if isinstance(warm_start, files.Standing) and warm_start.method == method:
        state.w[:], state.iteration = w, warm_start.iteration
        state.memory["sigma"] = np.array([warm_start.sigma])
    return state


def _every_partition(problem: ClusterProblem, length: float) -> BoundSampling:
    """An iteration is a round, and a round so much of an epoch; there is nothing to draw."""
    nothing = np.empty(0, dtype=np.int64)

    def draw(seed: int, first: int, count: int) -> Draws:
        return Draws(nothing, np.zeros(count + 1, np.int64))

    return BoundSampling(
        Partitions(problem.crew.count), problem, np.full(1, problem.n * length), np.full(1, np.nan), draw
    )


def _keeper(run: Run, wishes: Wishes, method: str) -> Callable[[Row], None]:
    last = [time.perf_counter()]

    def keep(row: Row) -> None:
        if wishes.save_to is not None and time.perf_counter() - last[0] >= wishes.save_every:
            files.save(wishes.save_to, run.state, (run.problem.n, run.problem.d), method)
            last[0] = time.perf_counter()

    return keep


def _both(callback: Callback | None, keep: Callable[[Row], None]) -> Callback:
    def call(row: Row) -> bool:
        keep(row)
        return bool(callback(row)) if callback is not None else False

    return call
