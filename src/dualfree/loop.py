"""The only loop: it draws, advances, evaluates with the clock stopped, and decides when to end."""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dualfree import memory
from dualfree.arrays import Floats
from dualfree.bounds import Bound, initial_potential, iteration_bound, unpromised
from dualfree.checkpoint import Checkpoints
from dualfree.evaluation import Evaluation
from dualfree.limits import Limits
from dualfree.lookout import Lookout
from dualfree.methods.base import Glance, Method, State
from dualfree.result import Certificate, History, Result, Row, Status, certificate
from dualfree.samplings.base import Sampling
from dualfree.tuning import Tuning

Callback = Callable[[Row], Any]

_PIECE_NONZEROS = 5_000_000  # work of one kernel call: some milliseconds, so that Ctrl-C and time limits are prompt
_ROUND_NONZEROS = 100_000_000  # the same where a kernel draws by itself, and has to come to the end of a round
_PIECE_ITERATIONS = 20_000  # whose draws are handed over
_PIECE_FIRST = 16  # a loss or a sampling in Python may be thousands of times slower: pieces begin small and grow
_PIECE_SECONDS = 0.02
_SHOW_SECONDS = 0.5
_BLOW_UP = 1e8  # a value this many times the first one will not come back


class Run:
    """One run under way: its state, its clock, and the best point so far."""

    def __init__(
        self,
        method: Method,
        state: State,
        limits: Limits,
        seed: int,
        begun: float,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        self.checkpoints = checkpoints
        self.heading, self.target = 0.0, 0  # the epoch and the iteration at which to look next
        self._asked = -1  # the iteration of the last question
        self.evaluating = 0.0  # seconds of the last evaluation
        self._wanted = True  # whether that was due, and not asked for by a limit
        self._proof: Glance | None = None  # what takes the place of an evaluation, if a glance was enough
        self._show: Callable[[Row], None] = lambda row: None
        self._shown = begun
        self.method, self.state, self.limits, self.seed, self.begun = method, state, limits, seed, begun
        self.problem, self.sampling = method.problem, method.sampling
        self.history = History()
        self.seconds = 0.0
        self.best: tuple[Floats, Floats, Certificate]  # w, α, and what is known of them
        self._room = memory.empty(len(state.w)), memory.empty(len(state.alpha))  # for these two
        from_zero = state.from_zero or not state.alpha.any()
        self.lookout = Lookout(method, limits, from_zero) if limits.evaluate_every is None else None
        cheap = self.lookout is not None and from_zero
        self._at_zero = cheap and not self.problem.intercept  # for the first look alone
        first = self._note(*(method.evaluate_zero(state) if cheap else self._point()))
        theorem = 2 if self.problem.loss.all_convex else 1
        self.start_potential = math.nan  # full-pass methods have no use for it
        if not method.takes_all:
            self.start_potential = initial_potential(self.problem, self.best[0], state.alpha, theorem, first)
        # An empty row is a visit too: it has a place in the index buffer.
        examples = self.sampling.problem.examples  # for the methods along features these are the columns
        work = self.sampling.mean_size * (examples.products / self.sampling.problem.n + 1)
        self.longest_call = int(max(1, _PIECE_NONZEROS / work))
        self.longest_round = _ROUND_NONZEROS / work
        self.largest_piece = min(self.longest_call, _PIECE_ITERATIONS)
        drawn_in_python = type(self.sampling.sampling).drawer is Sampling.drawer
        in_python = self.problem.loss.native is None or drawn_in_python
        self.piece = min(_PIECE_FIRST, self.largest_piece) if in_python else self.largest_piece
        if checkpoints is not None:
            checkpoints.restore(self)

    def until_done(self, callback: Callback | None, show: Callable[[Row], None]) -> Status:
        """Advance and evaluate until something says stop."""
        self._show = show
        try:
            while True:
                row = self.history[-1]
                show(row)
                stop = bool(callback(row)) if callback is not None else False
                status = self._status(stop)
                if status is not None:
                    if self.checkpoints is not None:
                        self.checkpoints.save(self)
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
        if not math.isfinite(row.value) or abs(row.value) > _BLOW_UP * (1 + abs(self.history[0].value)):
            return Status.DIVERGED
        if stop:
            return Status.STOPPED
        if self.method.stalled:
            return Status.STALLED
        if row.epoch >= self.limits.max_epochs:
            return Status.MAX_EPOCHS
        if time.perf_counter() - self.begun >= self.limits.time_limit:
            return Status.TIME_LIMIT
        return None

    def _advance_to_next_evaluation(self) -> None:
        every, per_epoch = self.limits.evaluate_every or 1.0, self.sampling.iterations_per_epoch
        if self.target <= self.state.iteration != self.history[-1].iteration:
            return  # a resumed run that had come to an evaluation, and no further
        while True:
            if self.state.iteration >= self.target:  # else a resumed run goes on to where it was heading
                if self.state.iteration >= round(self.heading * per_epoch):  # and not to where a limit was
                    self.state.moved, self._asked = 0.0, self.state.iteration
                    self.heading += every if self.lookout is None else self.lookout.stride(self.heading)
                ahead = min(self.heading, self.limits.max_epochs)
                self.target = max(self.state.iteration + 1, round(ahead * per_epoch))
            in_time = self._advance_to_target()
            there = in_time and self.heading <= self.limits.max_epochs
            self._wanted = there and (self.lookout is None or self._worth_a_look(self.lookout))
            if self._wanted or not in_time or self.heading >= self.limits.max_epochs:
                return

    def _worth_a_look(self, lookout: Lookout) -> bool:
        """Whether it is time, or the tolerance may have been reached: by the moves of α, and if cheap by a glance."""
        late, due = lookout.late(self.heading), lookout.due(self.state.moved, self.heading)
        if not late and not due and not lookout.stale(self.heading):
            return False
        # A sample of the examples may be enough to see that it is not time yet.
        peek = None if late else self.method.peek(self.state)
        if peek is not None and lookout.far(peek, self.state.moved, self.heading):
            return False
        glance = self.method.glance(self.state)
        if glance is None:
            return late or due
        if math.isfinite(glance.proven) and (late or glance.proven <= self.limits.goal(glance.value)):
            self._proof = glance
        if late or self._proof is not None or lookout.promising(glance, self.state.moved, self.heading):
            return True
        if peek is not None:
            lookout.compare(peek, glance)
        return False

    def _advance_to_target(self) -> bool:
        """Whether the time limit allowed it."""
        per_epoch = self.sampling.iterations_per_epoch
        while self.state.iteration < self.target:
            if self.checkpoints is not None and self.checkpoints.due(self.evaluating):
                self.checkpoints.save(self)
            clock = time.perf_counter()
            # The method may have things to do at the end of each epoch: then no piece goes beyond one.
            whole = self.state.iteration // per_epoch + 1
            end = max(self.state.iteration + 1, round(whole * per_epoch))
            if self.state.iteration == 0 or self.state.iteration >= self.sampling.fresh_until:
                self.sampling.refresh(self.state.w, self.state.alpha, self.state.centre, self.state.iteration)
            self._advance(min(self.target, end), end)
            if self.state.iteration == end:
                self.method.end_epoch(self.state)
            now = time.perf_counter()
            self.seconds += now - clock
            if now - self._shown > _SHOW_SECONDS:  # an epoch may take minutes, and an evaluation be epochs away
                self._show(self.history[-1]._replace(epoch=self.state.iteration / per_epoch))
                self._shown = now
            # In the kernels the clock has no say, and the cuts are the same in every run: some methods' last bits
            # depend on them.
            if now - clock < _PIECE_SECONDS:
                self.piece = min(4 * self.piece, self.largest_piece)
            if now - self.begun >= self.limits.time_limit:
                return False
        return True

    def _advance(self, until: int, end: int) -> None:
        """Some iterations, in one call of a kernel: no more than may pass before Ctrl-C is heard."""
        now, whole = self.state.iteration, self.method.whole_epochs
        if self.method.takes_rounds:
            most = max(now + self.longest_call, end if whole else 0)
            if self.sampling.fresh_until - now <= self.longest_round:
                most = max(most, int(self.sampling.fresh_until))
            if self._advance_by_rounds(until, end, most):
                return
        piece = end if whole else self.piece
        count = min(piece, int(min(until, self.sampling.fresh_until)) - now)
        self.method.advance(self.state, self.sampling.draw(now, count, self.seed))

    def _advance_by_rounds(self, until: int, end: int, most: int) -> bool:
        """The same by a kernel that draws by itself, and asks as well: it may go on beyond the next question."""
        now, per_epoch = self.state.iteration, self.sampling.iterations_per_epoch
        watch = self.lookout.watch(self.heading) if self.lookout is not None and now == self._asked else None
        if watch is not None:
            beyond = round(min(watch.until, self.limits.max_epochs) * per_epoch)
            until = max(until, min(beyond, end) if self.method.ends_epochs else beyond)
        rounds = self.sampling.rounds(now, min(until, most), self.seed, watch)
        if rounds is None:
            return False
        for seen in self.method.advance_by_rounds(self.state, rounds):
            assert self.lookout is not None
            self.lookout.promising(seen.glance, seen.moved, seen.iteration / per_epoch)  # to learn from it
        if watch is not None and self.state.iteration > self.target:
            self.heading += watch.every * round((self.state.iteration - self.target) / (watch.every * per_epoch))
            self.target = self.state.iteration
        return True

    def evaluate(self) -> None:
        """Certify the present point, note it, and keep it if it is the best."""
        clock = time.perf_counter()
        self._note(*self._point())
        self.evaluating = time.perf_counter() - clock

    def _note(self, w: Floats, seen: Evaluation) -> Evaluation:
        proof = certificate(self.problem, seen)
        epoch = self.state.iteration / self.sampling.iterations_per_epoch
        self.history.rows.append(
            Row(epoch, self.state.iteration, self.seconds, proof.value, proof.gap, proof.gradient_norm)
        )
        if len(self.history) == 1 or proof.beats(self.best[2]):
            self.best = (*self._kept(w, last=self.limits.reached(proof)), proof)
            self._at_zero = False
        if self._wanted:  # else a limit asked for it, and a resumed run must look where one without that limit would
            if round(self.heading * self.sampling.iterations_per_epoch) != self.state.iteration:
                self.heading = epoch  # else it says the same without rounding, and rounds need not be cut
            if self.lookout is not None:
                self.lookout.learn(proof, self.state.moved, epoch)
        return seen

    def _kept(self, w: Floats, last: bool) -> tuple[Floats, Floats]:
        """The present w and α, where the steps to come do not write on them."""
        if self._at_zero and not last:
            return memory.repeated(0.0, len(w)), memory.repeated(0.0, len(self.state.alpha))
        point, alpha = self._room
        self.method.write_alpha(self.state, alpha)
        if last:
            return w, alpha
        point[:] = w
        return point, alpha

    def _point(self) -> tuple[Floats, Evaluation]:
        proof, self._proof = self._proof, None
        if proof is not None:
            return self.state.w, Evaluation.without_gradient(proof.value, proof.proven, self.problem.d)
        if self.method.takes_all:  # it has looked already
            return self.method.evaluate(self.state)
        if np.isfinite(self.state.w).all() and np.isfinite(self.state.alpha).all():
            with np.errstate(over="ignore", invalid="ignore"):
                return self.method.evaluate(self.state)
        return self.state.w, Evaluation.without_gradient(np.inf, np.inf, self.problem.d)

    def result(self, status: Status, method: str, tuning: Tuning | None, chosen: str = "") -> Result:
        """The best point, with everything that is known of the run, and why the method was `chosen` if it was."""
        *found, proof = self.best
        rule, (w, alpha) = self.method.rule, (v if v.flags.writeable else v.copy() for v in found)
        self.method.derive_alpha(w, alpha)
        last = self.history[-1]
        return Result(
            w.reshape(self.problem.examples.w_shape),
            alpha.reshape(self.problem.examples.alpha_shape) if len(alpha) else alpha,  # none yet, on a cluster
            status,
            chosen,
            proof,
            self.history,
            self._promise(self.limits.goal(proof.value)),
            f"auto: {method}" if chosen else method,
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
        if self.method.takes_all:  # no theorem here speaks of it, and its constants would cost a pass
            return unpromised(goal)
        theorem = self.method.rule.proven or (2 if self.problem.loss.all_convex else 1)
        # With an intercept the theorems speak of each centre alone, not of the centres' moves.
        proven = self.method.rule.proven is not None and not self.problem.intercept
        return iteration_bound(self.sampling, goal, self.start_potential, theorem, covered=proven)
