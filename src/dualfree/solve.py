"""`dualfree.solve`: what the user asks for, checked, and handed to the loop."""

import os
import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dualfree import memory
from dualfree.arrays import Floats, threads, whole
from dualfree.automatic import AUTOMATIC, solve_automatically, steps
from dualfree.checkpoint import checkpoints
from dualfree.convexity import announce
from dualfree.limits import Limits
from dualfree.loop import Callback, Run
from dualfree.methods import METHODS
from dualfree.methods.base import Method
from dualfree.methods.stored import StoredDfSDCA
from dualfree.problem import Problem
from dualfree.progress import progress_bar
from dualfree.result import Result
from dualfree.samplings import BoundSampling, Nice, Sampling, by_name
from dualfree.samplings.base import Draws
from dualfree.steps import StepRule
from dualfree.store.examples import Stored
from dualfree.tuning import Tuning, tune


def solve(
    problem: Problem,
    *,
    method: str = "dfsdca",
    sampling: Sampling | BoundSampling | str | None = None,
    step: str | float | None = None,
    tol: float = 1e-6,
    absolute_tol: float = 0.0,
    max_epochs: float = 200,
    time_limit: float | None = None,
    evaluate_every: float | None = None,
    n_threads: int | None = 1,
    warm_start: "Result | ArrayLike | None" = None,
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: "str | os.PathLike[str] | None" = None,
    checkpoint_every: float = 60.0,
    resume: bool = False,
    seed: int = 0,
) -> Result:
    """Minimise ``P(w) = (1/n) Σ φ_i(A_iᵀw) + (λ/2)‖w‖² (+ μ‖w‖₁)`` until a certificate says that it is done.

    Parameters
    ----------
    problem : Problem
        Examples, losses and λ.
    method : str
        ``"dfsdca"``; ``"newton"``, for few features (up to 5,000); ``"lbfgs"``, for many features and many threads;
        ``"auto"``, whichever of these will be the fastest, by the problem's shape and by what is seen on the way (the
        message says what was chosen and why); ``"dfsdca-copies"``, for several threads; ``"auto-copies"``, the same
        choice as ``"auto"``, with dfsdca-copies in the place of dfsdca where that is faster; or one of the others that
        the paper names: primal ones (``sgd``, ``sag``, ``saga``, ``svrg``, ``s2gd``, ``ms2gd``, ``s2cd``), dual ones
        (``sdca``, ``prox-sdca``, ``iprox-sdca``, ``asdca``, ``acc-prox-sdca``, ``adasdca``, ``sdna``, ``quartz``), and
        those along features (``nsync``, ``ucdc``, ``alpha``, ``hydra``), whose samplings draw features. ``dualfree
        methods`` says what each needs.
    sampling : Sampling, BoundSampling or str, optional
        `Shuffled` by default (`Uniform` where some φ_i is not convex, and for the primal methods). A string is read
        by `dualfree.samplings.by_name`, such as ``"nice:8"``.
    step : str or float, optional
        ``"implicit"`` (the default for convex losses), ``"nearly-implicit"``, ``"rescaled"`` (that of ``"auto"`` where
        it can be had: with the best multiple of α after each round of `Restless`, and momentum in long runs),
        ``"per-example"``, ``"theorem-2"``, ``"theorem-1"`` (the default otherwise), ``"safeguarded"`` (the default
        where P is not convex), ``"tuned"``, or a number θ in (0, min p_i].
        For the primal methods ``"theory"`` (the default), ``"tuned"``, or a number, their step size. For the SDCA
        family ``"exact"`` (the default), ``"fixed"``, ``"tuned"`` or a number in (0, 1]; ``asdca`` and
        ``acc-prox-sdca`` take ``"theory"`` or a number θ or κ.
    tol, absolute_tol : float
        Stop when ``certificate.gap ≤ max(tol · |P(w)|, absolute_tol)``: relative and absolute. Where P is not convex,
        there is no gap, and the gradient norm takes its place.
    max_epochs : float
        An epoch is n visits on average.
    time_limit : float, optional
        Seconds of wall-clock time, evaluations included.
    evaluate_every : float, optional
        Epochs between evaluations, 1 by default; history's seconds do not count them. With ``method="auto"``,
        ``"auto-copies"`` or ``"dfsdca-copies"`` and no number, and for a store larger than memory, there are as few as
        it takes: where the moves of α say that `tol` may have been reached.
    n_threads : int, optional
        Threads to use; None is all cores. Every method gives the same bits for any number, except
        ``"dfsdca-copies"`` and ``"auto-copies"``, whose answer depends on it, and on whether each thread finds a core
        free, within `tol`.
    warm_start : Result or array of length n, optional
        α to start from (of shape (n, m) where there are m outputs); w follows from it. Zero by default.
    callback : callable, optional
        Called with each `Row` of the history; a true return value ends the run.
    progress : bool
        Show a live bar on standard error.
    checkpoint : str or path, optional
        A file that holds where the run stands, replaced in one step: a process that is killed at any moment leaves a
        whole one. Not for newton, lbfgs and dfsdca-copies; ``"auto"`` and ``"auto-copies"``
        are then dfsdca.
    checkpoint_every : float
        Seconds between two checkpoints.
    resume : bool
        Go on from `checkpoint` if there is such a file, to the same bits as a run that was never stopped. It must be of
        the same problem, method, sampling, step, seed and `evaluate_every`; limits and tolerances may be others.
    seed : int
        One seed, one answer.

    Returns
    -------
    Result
        Also after Ctrl-C: the best answer so far, with status "interrupted".

    Notes
    -----
    Memory beyond X: two copies of (w, α) and one of the gradient, O(n + d).

    Examples
    --------
    >>> import dualfree as df
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> y = np.sign(X @ rng.normal(size=10))
    >>> result = df.solve(df.Problem(X, df.losses.Logistic(y), lam=1 / 200))
    >>> result.status, result.certificate.relative_gap <= 1e-6
    (<Status.CONVERGED: 'converged'>, True)
    """
    begun = time.perf_counter()
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {problem!r:.60}; it must be a dualfree.Problem.")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is {callback!r:.60}; it must be a function of one Row of the history.")
    announce(problem)
    options: dict[str, Any] = {
        "sampling": sampling,
        "step": step,
        "limits": Limits.checked(tol, absolute_tol, max_epochs, time_limit, evaluate_every),
        "n_threads": threads(n_threads),
        "warm_start": warm_start,
        "progress": progress,
        "checkpoint": checkpoint,
        "checkpoint_every": checkpoint_every,
        "resume": resume,
        "seed": whole("seed", seed, 0, 2**64 - 1),
        "begun": begun,
    }
    automatic = isinstance(method, str) and method in AUTOMATIC
    if automatic and (checkpoint is not None or isinstance(problem.examples, Stored)):
        chosen = steps(problem, sampling, step, resumable=True)
        return _solve_by("dfsdca", problem, callback, **options | chosen)
    if isinstance(problem.examples, Stored):
        return _solve_by(method, problem, callback, **options)
    if automatic:
        return solve_automatically(_solve_by, problem, callback, options, copies=method != "auto")
    if not (method in tuple(METHODS) and METHODS[method].sparing):
        options["limits"] = options["limits"].regular()
    return _solve_by(method, problem, callback, **options)


def _solve_by(
    method: str,
    problem: Problem,
    callback: Callback | None,
    *,
    sampling: Any = None,
    step: Any = None,
    limits: Limits,
    n_threads: int,
    warm_start: Any,
    progress: bool,
    checkpoint: Any = None,
    checkpoint_every: float = 60.0,
    resume: bool = False,
    seed: int,
    begun: float,
    chosen: str = "",
) -> Result:
    """Run one method; `chosen` is why it is this one."""
    if method not in tuple(METHODS):
        raise ValueError(f"method is {method!r}; it must be one of: {', '.join((*METHODS, *AUTOMATIC))}.")
    if problem.loss.vector and not METHODS[method].takes_outputs:
        able = ", ".join(repr(name) for name, kind in METHODS.items() if kind.takes_outputs)
        raise ValueError(f"method={method!r} takes examples with one output alone; for several there are {able}.")
    _require_l1(method, problem)
    tuned = isinstance(step, str) and step == "tuned"
    kind = _kind(method, problem, tuned)
    bound, rule = _sampling_and_step(kind, method, sampling, step, problem)
    guarded = problem.convexity.known is False  # by a memory of its own, which no checkpoint holds
    resumable, every = kind.resumable and not guarded, limits.evaluate_every
    saved = checkpoints(checkpoint, checkpoint_every, resume, method, resumable, seed, bound, rule, every)
    if saved is not None and tuned:
        raise ValueError("checkpoint is given and step='tuned' too; tune first, and give the number as step.")
    running = kind(problem, bound, rule)
    running.n_threads, running.tol = n_threads, limits.tol
    start = running.start(*_start(warm_start, problem, running.derives_alpha))
    start.seed = seed
    if running.takes_all and isinstance(warm_start, Result) and warm_start.w.size == problem.d:
        start.w[:] = warm_start.w.ravel()  # these methods keep w and derive α, not the other way round
    if warm_start is not None and not np.isfinite(start.w).all():
        raise ValueError("warm_start is so large that its w = (1/λn) Σ A_i α_i overflows; start from a smaller α.")
    tuning: Tuning | None = None
    if tuned:
        tuning = tune(kind, problem, bound, start, seed, begun + limits.time_limit)
        running = kind(problem, bound, kind.step_rule(bound, tuning.theta))
        running.n_threads, running.tol = n_threads, limits.tol
    run = Run(running, start, limits, seed, begun, saved)
    with progress_bar(progress, repr(bound.sampling) if progress else "", limits.max_epochs) as show:
        status = run.until_done(callback, show)
    return run.result(status, method, tuning, chosen)


def _require_l1(method: str, problem: Problem) -> None:
    if problem.mu == 0 or METHODS[method].takes_l1:
        return
    names = ", ".join(name for name, kind in METHODS.items() if kind.takes_l1)
    raise ValueError(
        f"method={method!r} takes no L1 part, but regulariser is {problem.regulariser!r}; these methods do: {names}."
    )


def _kind(method: str, problem: Problem, tuned: bool) -> type[Method]:
    if not isinstance(problem.examples, Stored):
        return METHODS[method]
    if method != "dfsdca" or tuned:
        asked = "step='tuned'" if tuned else f"method={method!r}"
        raise ValueError(
            f"{asked} would read a store larger than its memory_limit too often; leave it out, or give open_store a "
            "larger memory_limit."
        )
    return StoredDfSDCA


def _sampling_and_step(
    kind: type[Method], name: str, sampling: Any, step: Any, problem: Problem
) -> tuple[BoundSampling, StepRule]:
    if not kind.takes_all:
        bound = _bound_sampling(kind, kind.default_sampling(problem) if sampling is None else sampling, problem)
        return bound, kind.step_rule(bound, None if isinstance(step, str) and step == "tuned" else step)
    if sampling is not None or step is not None:
        raise ValueError(f"method={name!r} visits all examples and finds its own steps; leave sampling and step out.")
    return _every_example(problem), StepRule(name, np.ones(1), None, 1.0, None)


def _every_example(problem: Problem) -> BoundSampling:
    """All examples in each iteration: nothing to draw, and no v, which nobody asks for and which would cost a pass."""
    nothing = np.empty(0, dtype=np.int64)
    p, v = memory.repeated(1.0, problem.n), memory.repeated(np.nan, problem.n)
    return BoundSampling(
        Nice(problem.n), problem, p, v, lambda seed, first, count: Draws(nothing, np.zeros(count + 1, np.int64))
    )


def _bound_sampling(kind: type[Method], sampling: Any, problem: Problem) -> BoundSampling:
    if isinstance(sampling, str):
        sampling = by_name(sampling)
    if not isinstance(sampling, (Sampling, BoundSampling)):
        raise TypeError(f"sampling is {sampling!r:.60}; it must be one of dualfree.samplings, such as Nice(8).")
    return kind.bind(sampling, problem)


def _start(warm_start: Any, problem: Problem, derived: bool) -> tuple[Floats, Any]:
    """α to start from, and the intercept; the method will not write on an α that is `derived`."""
    if warm_start is None:
        size = problem.examples.total
        return memory.repeated(0.0, size) if derived else memory.zeros(size), 0.0
    if not isinstance(warm_start, Result):
        return problem.flat_alpha(warm_start, "warm_start").copy(), 0.0
    alpha = problem.flat_alpha(warm_start.alpha, "warm_start").copy()
    known = problem.intercept and warm_start.w.size == problem.d
    return alpha, warm_start.w.ravel()[problem.free].copy() if known else 0.0
