"""The only loop: it draws, advances, evaluates with the clock stopped, and decides when to end."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dualfree.arrays import Floats, not_negative, positive, vector, whole
from dualfree.automatic import solve_automatically
from dualfree.bounds import Bound, initial_potential, iteration_bound
from dualfree.methods import METHODS
from dualfree.methods.base import Method, State
from dualfree.problem import Evaluation, Problem
from dualfree.progress import progress_bar
from dualfree.result import Certificate, History, Result, Row, Status, certificate
from dualfree.samplings import BoundSampling, Nice, Sampling, by_name
from dualfree.steps import StepRule
from dualfree.tuning import Tuning, tune

Callback = Callable[[Row], Any]

_PIECE_NONZEROS = 2_000_000  # work of one kernel call: some milliseconds, so that Ctrl-C and time limits are prompt
_PIECE_ITERATIONS = 20_000
_PIECE_FIRST = 16  # a loss or a sampling in Python may be thousands of times slower: pieces begin small and grow
_PIECE_SECONDS = 0.02
_BLOW_UP = 1e8  # a value this many times the first one will not come back


@dataclass(frozen=True)
class _Limits:
    tol: float
    absolute_tol: float
    max_epochs: float
    time_limit: float
    evaluate_every: float

    def reached(self, proof: Certificate) -> bool:
        return proof.gap <= max(self.tol * abs(proof.value), self.absolute_tol)


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
    evaluate_every: float = 1.0,
    warm_start: "Result | ArrayLike | None" = None,
    callback: Callback | None = None,
    progress: bool = False,
    seed: int = 0,
) -> Result:
    """Minimise ``P(w) = (1/n) Σ φ_i(A_iᵀw) + (λ/2)‖w‖²`` until a certificate says that it is done.

    Parameters
    ----------
    problem : Problem
        Examples, losses and λ.
    method : str
        ``"dfsdca"``; ``"newton"``, for few features (up to 5,000) and a λ too small for stochastic steps; ``"auto"``, dfSDCA
        until its own progress says that Newton's method would end sooner; or ``"sgd"``, ``"sag"``, ``"saga"``, ``"svrg"``,
        ``"s2gd"`` or ``"ms2gd"``, the primal methods that the paper names (``dualfree methods`` lists what each needs).
    sampling : Sampling, BoundSampling or str, optional
        `Shuffled` by default (`Uniform` where some φ_i is not convex, and for the primal methods). A string is read
        by `dualfree.samplings.by_name`, such as ``"nice:8"``.
    step : str or float, optional
        ``"implicit"`` (the default for convex losses), ``"per-example"``, ``"theorem-2"``, ``"theorem-1"`` (the default
        otherwise), ``"tuned"``, or a number θ in (0, min p_i]. For the primal methods ``"theory"`` (the default),
        ``"tuned"``, or a number, their step size.
    tol, absolute_tol : float
        Stop when ``certificate.gap ≤ max(tol · |P(w)|, absolute_tol)``: relative and absolute.
    max_epochs : float
        An epoch is n visits on average.
    time_limit : float, optional
        Seconds of wall-clock time, evaluations included.
    evaluate_every : float
        Epochs between evaluations. History's seconds do not count them.
    warm_start : Result or array of length n, optional
        α to start from; w follows from it. Zero by default.
    callback : callable, optional
        Called with each `Row` of the history; a true return value ends the run.
    progress : bool
        Show a live bar on standard error.
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
    if isinstance(method, str) and method == "auto":
        given = {"tol": tol, "absolute_tol": absolute_tol, "max_epochs": max_epochs, "time_limit": time_limit}
        given["evaluate_every"] = evaluate_every
        options = {"sampling": sampling, "step": step, "warm_start": warm_start, "progress": progress, "seed": seed}
        return solve_automatically(solve, problem, callback, given, options)
    if method not in tuple(METHODS):
        raise ValueError(f"method is {method!r}; it must be one of: {', '.join(METHODS)}, auto.")
    limits = _Limits(
        not_negative("tol", tol),
        not_negative("absolute_tol", absolute_tol),
        positive("max_epochs", max_epochs),
        np.inf if time_limit is None else positive("time_limit", time_limit),
        positive("evaluate_every", evaluate_every),
    )
    seed = whole("seed", seed, 0, 2**64 - 1)
    bound, rule = _sampling_and_step(METHODS[method], method, sampling, step, problem)
    tuned = isinstance(step, str) and step == "tuned"
    start = METHODS[method](problem, bound, rule).start(*_start(warm_start, problem))
    start.seed = seed
    if not np.isfinite(start.w).all():
        raise ValueError("warm_start is so large that its w = (1/λn) Σ A_i α_i overflows; start from a smaller α.")
    tuning: Tuning | None = None
    if tuned:
        tuning = tune(METHODS[method], problem, bound, start, seed, begun + limits.time_limit)
        rule = METHODS[method].step_rule(bound, tuning.theta)
    run = _Run(METHODS[method](problem, bound, rule), start, limits, seed, begun)
    with progress_bar(progress, repr(bound.sampling), limits.max_epochs) as show:
        status = run.until_done(callback, show)
    return run.result(status, method, tuning)


def _sampling_and_step(
    kind: type[Method], name: str, sampling: Any, step: Any, problem: Problem
) -> tuple[BoundSampling, StepRule]:
    if not kind.takes_all:
        bound = _bound_sampling(kind.default_sampling(problem) if sampling is None else sampling, problem)
        return bound, kind.step_rule(bound, None if isinstance(step, str) and step == "tuned" else step)
    if sampling is not None or step is not None:
        raise ValueError(f"method={name!r} visits all examples and finds its own steps; leave sampling and step out.")
    return Nice(problem.n).bind(problem), StepRule(name, np.ones(1), False, 1.0, None)


def _bound_sampling(sampling: Any, problem: Problem) -> BoundSampling:
    if isinstance(sampling, str):
        sampling = by_name(sampling)
    if isinstance(sampling, Sampling):
        return sampling.bind(problem)
    if not isinstance(sampling, BoundSampling):
        raise TypeError(f"sampling is {sampling!r:.60}; it must be one of dualfree.samplings, such as Nice(8).")
    if sampling.problem is not problem:
        raise ValueError(
            f"sampling is {sampling.sampling!r} bound to another problem, so its p and v do not belong to this one; "
            "bind it to this problem, or give the sampling itself."
        )
    return sampling


def _start(warm_start: Any, problem: Problem) -> tuple[Floats, float]:
    """α to start from, and the intercept."""
    if warm_start is None:
        return np.zeros(problem.n), 0.0
    if not isinstance(warm_start, Result):
        return vector("warm_start", warm_start, problem.n).copy(), 0.0
    alpha = vector("warm_start", warm_start.alpha, problem.n).copy()
    known = problem.intercept and len(warm_start.w) == problem.d
    return alpha, float(warm_start.w[-1]) if known else 0.0


class _Run:
    """One run under way: its state, its clock, and the best point so far."""

    def __init__(self, method: Method, state: State, limits: _Limits, seed: int, begun: float) -> None:
        self.method, self.state, self.limits, self.seed, self.begun = method, state, limits, seed, begun
        self.problem, self.sampling = method.problem, method.sampling
        self.history = History()
        self.seconds = 0.0
        self.best: tuple[Floats, Floats, Certificate]  # w, α, and what is known of them
        first = self.evaluate()
        theorem = 2 if self.problem.loss.all_convex else 1
        self.start_potential = initial_potential(self.problem, self.best[0], state.alpha, theorem, first)
        # An empty row is a visit too: it has a place in the index buffer.
        work = float(self.sampling.p @ self.problem.examples.nonzeros) + self.sampling.mean_size
        self.largest_piece = int(np.clip(_PIECE_NONZEROS / work, 1, _PIECE_ITERATIONS))
        self.piece = min(_PIECE_FIRST, self.largest_piece)

    def until_done(self, callback: Callback | None, show: Callable[[Row], None]) -> Status:
        """Advance and evaluate until something says stop."""
        try:
            while True:
                row = self.history[-1]
                show(row)
                stop = bool(callback(row)) if callback is not None else False
                status = self._status(stop)
                if status is not None:
                    return status
                self._advance_to_next_evaluation()
                self.evaluate()
        except KeyboardInterrupt:
            self.evaluate()
            return Status.CONVERGED if self.limits.reached(self.best[2]) else Status.INTERRUPTED

    def _status(self, stop: bool) -> Status | None:
        row = self.history[-1]
        if self.limits.reached(self.best[2]):
            return Status.CONVERGED
        if not np.isfinite(row.value) or abs(row.value) > _BLOW_UP * (1 + abs(self.history[0].value)):
            return Status.DIVERGED
        if stop:
            return Status.STOPPED
        if row.epoch >= self.limits.max_epochs:
            return Status.MAX_EPOCHS
        if time.perf_counter() - self.begun >= self.limits.time_limit:
            return Status.TIME_LIMIT
        return None

    def _advance_to_next_evaluation(self) -> None:
        per_epoch = self.sampling.iterations_per_epoch
        next_epoch = min(self.history[-1].epoch + self.limits.evaluate_every, self.limits.max_epochs)
        target = max(self.state.iteration + 1, round(next_epoch * per_epoch))
        while self.state.iteration < target:
            clock = time.perf_counter()
            count = min(self.piece, target - self.state.iteration)
            self.method.advance(self.state, self.sampling.draw(self.state.iteration, count, self.seed))
            now = time.perf_counter()
            self.seconds += now - clock
            if now - clock < _PIECE_SECONDS:
                self.piece = min(4 * self.piece, self.largest_piece)
            if now - self.begun >= self.limits.time_limit:
                return

    def evaluate(self) -> Evaluation:
        """Certify the present point, note it, and keep it if it is the best."""
        with np.errstate(over="ignore", invalid="ignore"):
            w, seen = self._point()
            proof = certificate(self.problem, seen)
            gradient_norm = float(np.linalg.norm(seen.gradient))
        epoch = self.state.iteration / self.sampling.iterations_per_epoch
        self.history.rows.append(Row(epoch, self.state.iteration, self.seconds, proof.value, proof.gap, gradient_norm))
        if len(self.history) == 1 or proof.gap < self.best[2].gap:
            self.best = (w.copy(), self.state.alpha.copy(), proof)
        return seen

    def _point(self) -> tuple[Floats, Evaluation]:
        if np.isfinite(self.state.w).all() and np.isfinite(self.state.alpha).all():
            return self.method.evaluate(self.state)
        return self.state.w, Evaluation(np.inf, np.full(self.problem.d, np.inf), np.inf, None)

    def result(self, status: Status, method: str, tuning: Tuning | None) -> Result:
        """The best point, with everything that is known of the run."""
        (w, alpha, proof), rule = self.best, self.method.rule
        goal = max(self.limits.tol * abs(proof.value), self.limits.absolute_tol)
        last = self.history[-1]
        spent = f"{last.epoch:.4g} epochs and {self.seconds:.3g} s"
        message = f"{status.sentence} {proof.sentence} Asked: {goal:.3g}; spent: {spent}."
        return Result(
            w,
            alpha,
            status,
            message,
            proof,
            self.history,
            self._promise(goal),
            method,
            repr(self.sampling.sampling),
            rule.name,
            rule.theta,
            self.seed,
            last.epoch,
            last.iteration,
            self.seconds,
            time.perf_counter() - self.begun,
            tuning,
        )

    def _promise(self, goal: float) -> Bound:
        theorem = self.method.rule.proven or (2 if self.problem.loss.all_convex else 1)
        # With an intercept the theorems speak of each centre alone, not of the centres' moves.
        proven = self.method.rule.proven is not None and not self.problem.intercept
        return iteration_bound(self.sampling, goal, self.start_potential, theorem, covered=proven)
