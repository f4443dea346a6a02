"""Newton's method and L-BFGS on a cluster: the methods of one machine, on a problem whose passes are rounds."""

from typing import Any

import numpy as np

from dualfree.arrays import Floats
from dualfree.distributed.problem import ClusterProblem
from dualfree.methods.base import State
from dualfree.methods.full_pass import FullPass
from dualfree.methods.newton import LBFGS, Newton
from dualfree.problem import Evaluation, Look

_SHORTEST = 2.0**-40


class _OnCluster(FullPass):
    """What differs on a cluster: margins are not at hand, and α comes to this process once, at the end."""

    problem: ClusterProblem

    def start(self, alpha: Floats, intercept: Any = 0.0) -> State:
        state = FullPass.start(self, alpha, intercept)
        state.alpha = np.empty(0)
        return state

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        self._here = self._here or self._look(state.w)
        state.w[:] = self._here.w
        return self._here.w, self._here.evaluation

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


class ClusterLBFGS(_OnCluster, LBFGS):
    """L-BFGS: an iteration is one round."""
