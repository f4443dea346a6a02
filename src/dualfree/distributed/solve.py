"""`dualfree.distributed.solve`: `dualfree.solve` for examples on a Dask cluster."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from dualfree.arrays import positive, whole
from dualfree.automatic import solve_automatically
from dualfree.checkpoint import fingerprint_in, requested
from dualfree.distributed.block import Encoder
from dualfree.distributed.choice import estimate
from dualfree.distributed.connection import connected
from dualfree.distributed.crew import Blocks, Crew
from dualfree.distributed.fit import METHODS, Wishes, fit
from dualfree.distributed.problem import ClusterProblem
from dualfree.distributed.sources import Collection, Memory, OnDisk
from dualfree.limits import Limits
from dualfree.loop import Callback
from dualfree.losses.base import Loss
from dualfree.losses.builtin import BuiltIn
from dualfree.problem import Problem
from dualfree.result import Result
from dualfree.store.examples import Stored

_WORKERS_WITHIN = 60  # seconds for the first worker to be there


@dataclass(frozen=True, eq=False)
class Partitioned:
    """A problem whose examples are Dask's: each chunk of rows is a partition, which stays where it is.

    Parameters
    ----------
    X : Dask array or dataframe, or list of delayed blocks, of shape (n, d)
        Chunked by rows; a chunk is an array or a SciPy CSR matrix. Chunks of columns are put together.
    y : Dask array or series chunked alike, list of delayed blocks, or array of length n
        Labels or targets.
    loss : callable
        One of `dualfree.losses`, such as ``Logistic``, or ``functools.partial(Huber, delta=2.0)``.
    lam, intercept
        As in `dualfree.Problem`.
    weight : as y, optional
        One factor for each example, not negative.
    """

    X: Any
    y: Any
    loss: Callable[[Any], Loss]
    lam: float
    intercept: bool = False
    weight: Any = None


def solve(
    problem: Problem | Partitioned,
    *,
    client: Any = None,
    partitions: int | None = None,
    method: str = "auto",
    tol: float = 1e-6,
    absolute_tol: float = 0.0,
    max_epochs: float = 200,
    time_limit: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
    resume: bool = False,
    callback: Callback | None = None,
    progress: bool = False,
    seed: int = 0,
) -> Result:
    """Minimise ``P(w) = (1/n) Σ φ_i(A_iᵀw) + (λ/2)‖w‖²`` on a Dask cluster until a certificate says that it is done.

    Parameters
    ----------
    problem : Problem or Partitioned
        Examples in this process, which are dealt out, or examples that Dask holds, which stay where they are. Of a
        store larger than its memory limit the workers read their parts themselves: its folder must be there for them.
    client : distributed.Client, cluster, str or None
        Where to work: a scheduler's address, ``"local"`` for one process a core of this machine, None for the present
        client if there is one and ``"local"`` otherwise.
    partitions : int, optional
        Pieces to deal a `Problem` out in; by default as many as the workers have threads, or as the run had that is
        resumed. The answer depends on it, and not on the number of workers.
    method : str
        ``"dfsdca"``: local passes of dfSDCA between reductions; ``"newton"``, for few features (up to 5,000);
        ``"lbfgs"``; ``"auto"``, whichever will be the fastest by the shape of the problem.
    tol, absolute_tol, max_epochs, time_limit, callback, progress, seed
        As in `dualfree.solve`.
    checkpoint, checkpoint_every, resume
        As in `dualfree.solve`, for every method; ``"auto"`` then stays with the method that it chose. If the scheduler
        is lost, a checkpoint is written in any case, without a path to a temporary file that the error names.

    Returns
    -------
    Result
        As from `dualfree.solve`, with the same certificate. Also after Ctrl-C: the best answer so far.

    Examples
    --------
    >>> import dualfree as df
    >>> X = np.random.default_rng(0).normal(size=(200, 10))
    >>> problem = df.Problem(X, df.losses.Logistic(np.sign(X @ np.ones(10))), lam=1 / 200)
    >>> result = df.distributed.solve(problem, client="local")  # doctest: +SKIP
    >>> result.certificate.relative_gap <= 1e-6  # doctest: +SKIP
    True
    """
    limits = Limits.checked(tol, absolute_tol, max_epochs, time_limit, 1.0)
    path, every = requested(checkpoint, checkpoint_every, resume)
    wishes = Wishes(limits, progress, whole("seed", seed, 0, 2**64 - 1), path, every, resume)
    if method not in (*METHODS, "auto"):
        raise ValueError(f"method is {method!r}; on a cluster it must be one of: {', '.join(METHODS)}, auto.")
    with connected(client) as found:
        if partitions is None and isinstance(problem, Problem):
            partitions = _standing(wishes).get("number of partitions")
        return solve_spread(spread_out(problem, found, partitions), method, callback, wishes)


def _standing(wishes: Wishes) -> dict[str, Any]:
    """What the run was that is to be resumed; nothing where there is none."""
    path = None if wishes.checkpoint is None else wishes.file(wishes.checkpoint)
    return fingerprint_in(path) if wishes.resume and path is not None and path.exists() else {}


def solve_spread(problem: ClusterProblem, method: str, callback: Callback | None, wishes: Wishes) -> Result:
    """Choose a method and run it."""
    if problem.intercept and method == "dfsdca":
        raise ValueError(
            "method='dfsdca' takes no intercept on a cluster: a feature that all examples share makes rounds slow; "
            "leave the choice to method='auto'."
        )
    limits = wishes.limits
    problem.tol = limits.tol
    if method != "auto":
        return _named(fit(method, problem, callback, wishes), method, problem)
    costs = estimate(problem, limits.tol)
    if wishes.checkpoint is not None:  # a file belongs to one method
        name = _standing(wishes).get("method", costs.best)
        reason = costs.reason if name == costs.best else "The method is that of the checkpoint"
        result = fit(name, problem, callback, wishes, chosen=reason)
        return _named(result, result.method, problem)

    def fit_by(name: str, problem: ClusterProblem, callback: Callback | None, **options: Any) -> Result:
        now = replace(wishes, limits=options["limits"], begun=options["begun"])
        return fit(name, problem, callback, now, options["warm_start"], options.get("chosen", ""))

    asked = {
        "limits": limits,
        "n_threads": 1,
        "progress": wishes.progress,
        "seed": wishes.seed,
        "begun": wishes.begun,
        "warm_start": None,
        "sampling": None,
        "step": None,
    }
    result = solve_automatically(fit_by, problem, callback, asked, costs)
    return _named(result, result.method, problem)


def _named(result: Result, method: str, problem: ClusterProblem) -> Result:
    count = problem.crew.count
    return replace(result, method=f"{method} on {count} partition{'s' * (count != 1)}")


def spread_out(problem: Any, client: Any, partitions: int | None) -> ClusterProblem:
    """The problem on the workers of a client."""
    if isinstance(problem, Problem):
        _require_plain(problem)
        count = threads(client) if partitions is None else whole("partitions", partitions, 1)
        source = OnDisk(problem, count) if isinstance(problem.examples, Stored) else Memory(problem, count)
        blocks = Blocks(client, source, wants_labels=False)
        return ClusterProblem(Crew(blocks, bare(problem.loss), None), problem.loss, problem.lam, problem.intercept)
    if not isinstance(problem, Partitioned):
        raise TypeError(
            f"problem is {problem!r:.60}; it must be a dualfree.Problem or, for Dask's data, a "
            "dualfree.distributed.Partitioned."
        )
    if partitions is not None:
        raise ValueError("partitions is for a Problem in this process; the chunks of Dask data are its partitions.")
    kind = problem.loss(np.array([-1.0, 1.0]))
    require_built_in(kind)
    lam = positive("lam", problem.lam)
    threads(client)
    blocks = Blocks(client, Collection(problem.X, problem.y, problem.weight), hasattr(kind, "classes"))
    encoder = None
    if hasattr(kind, "classes"):
        kind.classes = classes_in(blocks)
        if len(kind.classes) != 2:
            raise ValueError(f"y has {len(kind.classes)} classes; {type(kind).__name__} needs exactly two.")
        encoder = Encoder(kind.classes, kind.classes[1])
    return ClusterProblem(Crew(blocks, bare(kind), encoder), kind, lam, bool(problem.intercept))


def _require_plain(problem: Problem) -> None:
    """Raise one sentence for a problem that a cluster does not take."""
    if problem.mu > 0:
        raise ValueError(
            f"regulariser is {problem.regulariser!r}; a fit on a cluster takes no L1 part, but dualfree.solve does."
        )
    if problem.loss.vector or problem.examples.grouped:
        raise ValueError(
            f"loss is {type(problem.loss).__name__}, which takes several numbers for each example; on a cluster there "
            "is one, but dualfree.solve takes it."
        )
    require_built_in(problem.loss)
    problem.require_convex("a fit on a cluster")


def require_built_in(loss: Loss) -> None:
    """Raise one sentence for a loss that the workers could not evaluate."""
    if not isinstance(loss, BuiltIn):
        raise ValueError(
            f"loss is {type(loss).__name__}; on a cluster it must be a built-in loss, which all workers have."
        )


def bare(loss: Loss) -> Loss:
    """The loss without its targets: what the workers need to know of it."""
    kind = copy.copy(loss)
    kind.y, kind.weight = loss.y[:0].copy(), None
    return kind


def classes_in(blocks: Blocks) -> Any:
    """The labels of all blocks, in order."""
    return np.unique(np.concatenate([one.labels for one in blocks.surveys]))


def threads(client: Any) -> int:
    """Threads of all workers, of which there must be one."""
    try:
        client.wait_for_workers(1, timeout=_WORKERS_WITHIN)
    except TimeoutError:
        raise RuntimeError(
            f"The scheduler has had no workers for {_WORKERS_WITHIN} s; start some with `dask worker`."
        ) from None
    return max(1, int(sum(client.nthreads().values())))
