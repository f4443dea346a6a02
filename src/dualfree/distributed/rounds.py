"""dfSDCA in rounds on a cluster: local passes, their moves added up, and the dual searched along their sum."""

import math
import time
from typing import Any

import numpy as np

from dualfree.arrays import Floats
from dualfree.checkpoint import Checkpoints
from dualfree.distributed import local
from dualfree.distributed.crew import is_lost
from dualfree.distributed.problem import ClusterProblem
from dualfree.evaluation import Evaluation
from dualfree.limits import Limits
from dualfree.loop import Run
from dualfree.methods.base import About, Method, State
from dualfree.samplings.base import Draws

_SHARES = (1.0, 0.6, 0.35)  # of the proposed moves that are tried
_BOLDER, _SHYER = 0.7, 1.4  # factors of σ' after moves that were taken whole, and after others
_LONGEST = 16  # rounds between two evaluations, and so the most that a lost worker costs
_DRIFT = 1e-10


class Keeper:
    """Writes checkpoints between the rounds of a run, where α must be brought here for it."""

    def __init__(self, run: Run, checkpoints: Checkpoints) -> None:
        self._run, self._checkpoints, self.iteration = run, checkpoints, 0

    def due(self) -> bool:
        """Whether it is time."""
        return self._checkpoints.due(0.0)

    def save(self, state: State) -> None:
        """Write the run as it would be with this state, one round short of where it is going."""
        run, before = self._run, (self._run.state, self._run.target)
        run.state, run.target = state, state.iteration + 1
        self._checkpoints.save(run)
        run.state, run.target = before
        self.iteration = state.iteration


class ClusterRounds(Method):
    """In a round each partition makes implicit steps on its own examples and copy of w; then the moves are added up.

    A partition counts its moves σ' times, in its copy and in its curvature. With σ' = K, the number of partitions, the
    sum of all moves never lowers the dual D (CoCoA⁺). Here σ' falls below K as long as it can: the workers send
    ``Σ φ_i*(−α_i − t·move_i)`` for a few t, from which D at each ``α + t·moves`` follows exactly, and the best t is
    taken. ``t = σ'/K`` is among them, for which D cannot fall either. Rounds that end with t < 1 raise σ' again.

    The parts of α are results of pure functions of the parts before them. Each evaluation brings α here and deals it
    out again, which ends the line of ancestors, and is what a fit goes on from when a worker is lost.
    """

    takes_all = True
    about = About(
        title="dfSDCA on K partitions of a cluster",
        needs="built-in convex losses; no intercept",
        memory="n + d",
        cost="O(z) for each example, one reduction of w a round",
        rate="that of dfSDCA with σ' times the curvature, σ' ≤ K",
        origin="Ma, Smith, Jaggi, Jordan, Richtárik, Takáč 2015 (the safe aggregation)",
    )

    problem: ClusterProblem
    passes_a_round: float
    limits: Limits
    deadline: float
    keeper: "Keeper | None" = None

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        self._dealt: tuple[Floats, list[Any]] = np.empty(0), []
        w = self.problem.primal(alpha) if alpha.any() else np.zeros(self.problem.d)
        memory = {
            "sigma": np.array([float(self.problem.crew.count)]),
            "value": np.array([self.problem.facts.value_at_zero]),  # at the last evaluation
            "gap to gain": np.array([math.nan]),  # there, of the gap to what the last round gained
            "gains": np.empty(0),  # of the rounds since then
        }
        return State(w, alpha, memory=memory)

    def take_up(self, state: State) -> None:
        self._dealt = np.empty(0), []

    def evaluate_zero(self, state: State) -> tuple[Floats, Evaluation]:
        facts = self.problem.facts
        gap = facts.value_at_zero + facts.conjugate_at_zero
        return state.w, Evaluation.without_gradient(facts.value_at_zero, gap, self.problem.d)

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        if state.iteration == 0 and not state.alpha.any():
            return self.evaluate_zero(state)
        seen = self.problem.certify(state.w, lambda: self._shares_of(state.alpha), local.certify)
        assert seen.combination is not None
        if float(np.linalg.norm(state.w - seen.combination)) > _DRIFT * float(np.linalg.norm(state.w)):
            state.w[:] = seen.combination
            seen = self.problem.certify(state.w, lambda: self._shares_of(state.alpha), local.certify)
        state.memory["value"] = np.array([seen.value])
        if state.moved > 0:
            state.memory["gap to gain"] = np.array([seen.duality_gap / state.moved])
        return state.w, seen

    def advance(self, state: State, draws: Draws) -> None:
        """Rounds until an evaluation is worth its price; after a loss, all of them again."""
        found = self.problem.crew.attempt(lambda: self._rounds(state))
        state.w, state.alpha, sigma, state.iteration, state.moved = found
        state.memory |= {"sigma": np.array([sigma]), "gains": np.empty(0)}

    def _shares_of(self, alpha: Floats) -> list[Any]:
        """The parts of α as futures that depend on nothing; dealt out once, unless they were lost."""
        if self._dealt[0] is not alpha or any(is_lost(future) for future in self._dealt[1]):
            self._dealt = alpha, self.problem.crew.deal(alpha, local.settled)
        return self._dealt[1]

    def _rounds(self, state: State) -> tuple[Floats, Floats, float, int, float]:
        crew, w, sigma = self.problem.crew, state.w, float(state.memory["sigma"][0])
        parts, taken, gains = self._shares_of(state.alpha), 0.0, state.memory["gains"].tolist()
        first = state.iteration - len(gains)
        while not self._due(gains, state.memory, first):
            if gains and self.keeper is not None and self.keeper.due():
                alpha = crew.collect(crew.then(local.alpha_of, parts, taken))
                memory = state.memory | {"sigma": np.array([sigma]), "gains": np.array(gains)}
                self.keeper.save(State(w, alpha, first + len(gains), memory=memory, seed=state.seed))
            at = (first + len(gains)) * self.passes_a_round
            shares = self._shares(sigma)
            order = local.Order(
                1 / (self.problem.lam * self.problem.n), sigma, shares, at, at + self.passes_a_round, state.seed
            )
            numbers = range(crew.count)
            parts = crew.each(local.local_pass, taken, crew.share(w), order, own=[numbers, parts])
            found = crew.total(crew.then(local.account, parts))
            move = found.total
            gains_at = self._gains(w, move, shares, found.numbers)
            best = int(np.argmax(gains_at))
            taken = shares[best]
            w = w + taken * move
            gains.append(float(gains_at[best]))
            sigma = max(1.0, _BOLDER * sigma) if taken == 1.0 else min(float(crew.count), _SHYER * sigma)
        self.stalled = gains[-1] <= 0 and sigma >= crew.count
        alpha = crew.collect(crew.then(local.alpha_of, parts, taken))
        return w, alpha, sigma, first + len(gains), max(gains[-1], 0.0)

    def _shares(self, sigma: float) -> tuple[float, ...]:
        """The shares to try: with σ' = K the whole is safe, otherwise ``σ'/K`` is."""
        safe = sigma / self.problem.crew.count
        return (1.0,) if safe >= 1 else (*(t for t in _SHARES if t > safe), safe)

    def _gains(self, w: Floats, move: Floats, shares: tuple[float, ...], conjugates: Floats) -> Floats:
        """``D(α + t·moves) − D(α)`` for each share t."""
        t = np.array(shares)
        quadratic = 2 * t * float(w @ move) + t**2 * float(move @ move)
        return -conjugates / self.problem.n - 0.5 * self.problem.lam * quadratic

    def _due(self, gains: list[float], memory: dict[str, Any], first: int) -> bool:
        """Whether the tolerance may have been reached: the gap is about a constant times what a round gains."""
        if not gains:
            return False
        spent = (first + len(gains)) * self.passes_a_round >= self.limits.max_epochs
        if spent or len(gains) >= _LONGEST or gains[-1] <= 0 or time.perf_counter() > self.deadline:
            return True
        ratio = float(memory["gap to gain"][0])
        if math.isnan(ratio):
            if len(gains) < 2 or gains[-1] >= gains[-2]:
                return False
            ratio = 1 / (1 - gains[-1] / gains[-2])
        return ratio * gains[-1] <= self.limits.goal(float(memory["value"][0]))
