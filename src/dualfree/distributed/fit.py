"""One method on a problem on a cluster, from its start or a checkpoint to its result, by the loop of one machine."""

import math
import tempfile
import time
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from dualfree.checkpoint import Checkpoints, fingerprint_of
from dualfree.distributed.choice import passes_a_round
from dualfree.distributed.connection import SchedulerLostError
from dualfree.distributed.full_passes import ClusterLBFGS, ClusterNewton
from dualfree.distributed.problem import ClusterProblem
from dualfree.distributed.rounds import ClusterRounds, Keeper
from dualfree.limits import Limits
from dualfree.loop import Callback, Run
from dualfree.methods.base import Method, State
from dualfree.progress import progress_bar
from dualfree.result import Result
from dualfree.samplings.base import BoundSampling, Draws, Sampling
from dualfree.steps import StepRule

METHODS: dict[str, type[Method]] = {"dfsdca": ClusterRounds, "newton": ClusterNewton, "lbfgs": ClusterLBFGS}


class Partitions(Sampling):
    """All partitions in each round."""

    def __init__(self, count: int) -> None:
        self.count = count


@dataclass(frozen=True)
class Wishes:
    """What the user asks of a fit, checked; without a `checkpoint` there is one only when the scheduler is lost."""

    limits: Limits
    progress: bool
    seed: int
    checkpoint: Path | None = None
    checkpoint_every: float = math.inf
    resume: bool = False
    number: int | None = None
    """Which of several problems of an estimator this is: each has a file of its own, whose name ends in it."""
    begun: float = field(default_factory=time.perf_counter)
    alpha: bool = True
    """Whether to bring α here at the end, where the method does not need it."""

    def file(self, path: Path) -> Path:
        """The file of this problem, where `path` is that of the fit."""
        return path if self.number is None else path.with_name(f"{path.name}.{self.number}")


def fit(
    method: str,
    problem: ClusterProblem,
    callback: Callback | None,
    wishes: Wishes,
    warm_start: Result | None = None,
    chosen: str = "",
) -> Result:
    """Run one method; `chosen` is why it is this one."""
    limits, fingerprint = wishes.limits, _fingerprint(problem, method, wishes.seed)
    saved = None
    if wishes.checkpoint is not None:
        saved = Checkpoints(wishes.file(wishes.checkpoint), wishes.checkpoint_every, wishes.resume, fingerprint)
    length = passes_a_round(problem) if method == "dfsdca" else 1.0
    name, slack = ("implicit", 0.0) if method == "dfsdca" else (method, None)
    rule = StepRule(name, np.ones(1), slack, np.nan, None)
    running = METHODS[method](problem, _every_partition(problem, length), rule)
    if isinstance(running, ClusterRounds):
        running.passes_a_round, running.limits, running.deadline = length, limits, wishes.begun + limits.time_limit
    state = _start(running, method, problem, warm_start)
    state.seed = wishes.seed
    run = Run(running, state, limits, wishes.seed, wishes.begun, saved)
    if isinstance(running, ClusterRounds) and saved is not None:
        running.keeper = Keeper(run, saved)
    try:
        with progress_bar(wishes.progress, f"{problem.crew.count} partitions", limits.max_epochs) as show:
            status = run.until_done(callback, show)
        result = run.result(status, method, None, chosen)
        bring = wishes.alpha and not len(result.alpha)
        return replace(result, alpha=problem.alpha_at(result.w)) if bring else result
    except SchedulerLostError as error:
        where = _leave(run, saved, wishes, fingerprint)
        raise SchedulerLostError(f"The fit ended because {error}; {where}") from None


def _leave(run: Run, saved: Checkpoints | None, wishes: Wishes, fingerprint: dict[str, Any]) -> str:
    """Write where the run stands, to a file of its own if none was asked for, and say how to go on from it."""
    how = "the same call with resume=True"
    if saved is None:
        path = Path(tempfile.mkdtemp(prefix="dualfree-"), "fit.ckpt")
        saved = Checkpoints(wishes.file(path), math.inf, False, fingerprint)
        how = f"checkpoint={str(path)!r}, resume=True"
    keeper = getattr(run.method, "keeper", None)
    if keeper is None or keeper.iteration <= run.state.iteration:  # else the file holds later rounds
        saved.save(run)
    return f"it stands at a gap of {run.best[2].gap:.3g} in {saved.path}, and {how} goes on from there."


def _fingerprint(problem: ClusterProblem, method: str, seed: int) -> dict[str, Any]:
    surveys, encoder = problem.crew.blocks.surveys, problem.crew.encoder
    return fingerprint_of(problem) | {
        "number of partitions": len(surveys),
        "checksum of the partitions": zlib.crc32(repr([(one.rows, one.checksum) for one in surveys]).encode()),
        "class": None if encoder is None else str(encoder.positive),
        "class weights": None if encoder is None or encoder.factors is None else encoder.factors.tolist(),
        "method": method,
        "seed": seed,
    }


def _start(running: Method, method: str, problem: ClusterProblem, warm_start: Result | None) -> State:
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
    return running.start(np.array(alpha))


def _every_partition(problem: ClusterProblem, length: float) -> BoundSampling:
    """An iteration is a round, and a round so much of an epoch; there is nothing to draw."""
    nothing = np.empty(0, dtype=np.int64)

    def draw(seed: int, first: int, count: int) -> Draws:
        return Draws(nothing, np.zeros(count + 1, np.int64))

    return BoundSampling(
        Partitions(problem.crew.count), problem, np.full(1, problem.n * length), np.full(1, np.nan), draw
    )
