"""dfSDCA for several threads at once, which wait for each other once a round and not once a batch."""

import numpy as np

from dualfree._native import kernels
from dualfree.losses.builtin import BuiltIn
from dualfree.methods.base import About, State
from dualfree.methods.dfsdca import DfSDCA
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule

_MERGED = 0.15  # what adding up one feature's copies costs, in nonzeros of a step
_SHARE = 0.1  # of the time that adding up may take
_MOST_ROUNDS = 16  # in an epoch


class DfSDCARounds(DfSDCA):
    """dfSDCA in rounds: each thread visits its own examples on its own copy of w; after a round all moves are added.

    A thread counts each of its moves T times, T the number of threads, in its copy of w and in the curvature of its
    steps, which makes the sum of what all do safe (the safe aggregation of CoCoA⁺). It needs more epochs than dfSDCA,
    the more the smaller λ is, and many more where the examples share their features, as in dense data; each epoch
    takes a T-th of the time. The answer depends on the number of threads, and for one number it is always the same.
    Memory: a copy of w for each thread.
    """

    takes_l1 = False
    takes_outputs = False
    about = About(
        title="dfSDCA on T threads, in rounds",
        needs="built-in convex losses; serial samplings; implicit steps; no intercept",
        memory="n + Td",
        cost="O(z) for each example, O(Td) a round",
        rate="that of dfSDCA with T times the curvature",
        origin="Ma, Smith, Jaggi, Jordan, Richtárik, Takáč 2015 (the aggregation)",
    )

    whole_epochs = True
    resumable = False  # a checkpoint may be written within an epoch

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        problem.require_convex("method='dfsdca-rounds'")
        if not isinstance(problem.loss, BuiltIn):
            raise ValueError("method='dfsdca-rounds' takes the built-in losses; method='dfsdca' takes any.")
        if problem.intercept:
            raise ValueError(
                "method='dfsdca-rounds' takes no intercept: a feature that all examples share makes rounds slow; "
                "method='auto' finds what is fast with one."
            )
        if not rule.implicit or sampling.mean_size != 1:
            raise ValueError(
                f"method='dfsdca-rounds' takes serial samplings and step='implicit', not {sampling.sampling!r} and "
                f"step={rule.name!r}; method='dfsdca' takes all of them."
            )
        self._scale = np.ascontiguousarray(np.broadcast_to(rule.scale, (problem.n,)))

    def advance(self, state: State, draws: Draws) -> None:
        problem, work = self.problem, float(self.problem.examples.stored + 20 * self.problem.n) / self.problem.n
        threads = max(1, min(self.n_threads, draws.count // 1000))
        rounds = _SHARE * work * draws.count / (threads * _MERGED * problem.d)
        state.moved += kernels.dfsdca_rounds(
            problem.examples.native,
            problem.loss.native,
            self._scale,
            1 / (problem.lam * problem.n),
            draws.indices,
            int(np.clip(rounds, 1, _MOST_ROUNDS)),
            threads,
            state.alpha,
            state.w,
        )
        state.iteration += draws.count
