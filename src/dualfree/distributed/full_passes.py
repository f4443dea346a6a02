"""Newton's method and L-BFGS on a cluster: the methods of one machine, on a problem whose passes are rounds."""

from typing import Any

import numpy as np

from dualfree.arrays import Floats
from dualfree.distributed.problem import ClusterProblem
from dualfree.evaluation import Look
from dualfree.methods.base import State
from dualfree.methods.curvature import Base, LimitedMemory
from dualfree.methods.full_pass import FullPass
from dualfree.methods.newton import LBFGS, Newton
from dualfree.samplings.base import Draws

_SHORTEST = 2.0**-40


class _OnCluster(FullPass):
    """What differs on a cluster: margins are not at hand, and α comes to this process once, at the end.

    What the curvature is made of goes into the state after each step, so that a checkpoint holds it: where its base was
    made, and the moves since.
    """

    resumable = True
    problem: ClusterProblem

    def start(self, alpha: Floats, intercept: Any = 0.0) -> State:
        self._base_at = np.empty(0)
        state = FullPass.start(self, alpha, intercept)
        state.alpha = np.empty(0)
        return state

    def advance(self, state: State, draws: Draws) -> None:
        super().advance(state, draws)
        model = self._model
        state.memory = {"counts": self._counts()}
        if model is not None:
            state.memory |= {"base": self._base_at, "decrements": np.array(self._decrements)}
            for k, (move, change) in enumerate(model.pairs):
                state.memory |= {f"move {k}": move, f"change {k}": change}

    def take_up(self, state: State) -> None:
        self._here = self._model = None
        if not state.memory:  # of a run that had not made a step
            return
        counts = state.memory["counts"].tolist()
        if "base" in state.memory:
            self._set_counts(counts, before_base=True)
            self._model = LimitedMemory(self._new_base(state.memory["base"]))
            for k in range(sum(name.startswith("move") for name in state.memory)):
                self._model.learn(state.memory[f"move {k}"], state.memory[f"change {k}"])
            self._decrements = state.memory["decrements"].tolist()
        self._set_counts(counts, before_base=False)

    def _counts(self) -> Any:
        """Whole numbers to remember; none by default."""
        return np.empty(0, dtype=np.int64)

    def _set_counts(self, counts: list[int], before_base: bool) -> None:
        """Take up what `_counts` gave; `before_base`: as it was before the present base was made."""

    def derive_alpha(self, w: Floats, out: Floats) -> None:
        """Not here: the workers have it."""

    def _shorter(self, there: Look, direction: Floats, slope: float) -> float:
        """A t below 1 at which P falls enough, by halving; each try is a pass."""
        assert self._here is not None
        w, seen = self._here.w, self._here.evaluation
        t = 1.0
        while t > _SHORTEST:
            t *= 0.5
            if self._falls(seen, self._look(w + t * direction).evaluation, t * slope):
                break
        return t


class ClusterNewton(_OnCluster, Newton):
    """Newton's method with a Hessian sampled from all partitions."""

    def begin_roughly(self, state: State) -> None:
        """Begin at the partitions' rough start instead of zero, where that is better."""
        found = self._look(self.problem.rough_start())
        if self.problem.intercept or found.evaluation.value < self.problem.facts.value_at_zero:
            self._here = found
            state.w[:] = found.w

    def _new_base(self, margins: Floats) -> Base:
        self._base_at, self._growths_of_base = margins.copy(), self._growths
        return super()._new_base(margins)

    def _counts(self) -> Any:
        known = 0 if self._model is None else self._growths_of_base
        return np.array([self._samples, self._growths, known])

    def _set_counts(self, counts: list[int], before_base: bool) -> None:
        self._samples, self._growths, known = counts
        if before_base:
            self._samples, self._growths = self._samples - 1, known


class ClusterLBFGS(_OnCluster, LBFGS):
    """L-BFGS: an iteration is one round."""
