"""dfSDCA on several threads, each of which owns a part of the features."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.losses.builtin import BuiltIn
from dualfree.methods.base import About, State
from dualfree.methods.dfsdca import DfSDCA
from dualfree.methods.shard_plan import Turns, feature_cuts, ordered, plan
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.samplings.restless import Restless
from dualfree.samplings.serial import Shuffled
from dualfree.steps import StepRule

_COUNTED = 5000  # rows in which features are counted
_PIECES = 8  # of an epoch, after each of which it is seen whether the threads were a help


@dataclass(frozen=True)
class _Shards:
    """What a fit needs: threads, their features, where each row crosses from one's to the next one's, and v."""

    crew: Any
    together: int
    cuts: Indices
    bounds: Indices
    scale: Floats  # for each example ``‖A_i‖²/(λn)`` and ``(v_i − ‖A_i‖²)/(λn)``


class DfSDCAShards(DfSDCA):
    """dfSDCA in batches of τ examples, with the features divided among the threads.

    For each batch a thread computes its features' part of the products ``A_iᵀw``, sends these τ sums to the others and
    waits for theirs. Then each of them takes all τ implicit steps and updates its own features: w never travels. The
    steps are those of τ-nice sampling, ``v_i = Σ_j (1 + c (|J_j| − 1)(τ − 1)/(n − 1)) A_ij²`` with c = 1 at first, J_j
    the examples with feature j, by a sample of some thousands. Batches are drawn from what `Restless` chooses, and such
    examples may share more than others do. So the kernel looks now and then whether ``‖Σ A_i δ_i‖² ≤ Σ v_i δ_i²`` for
    the steps δ of a batch, and where, over some of these looks, it is not so, c grows.

    Threads that wait for each other need a core each. Where other programs keep them from it, one thread does the work
    of all, with the same bits, until they are free again (`shard_plan.Turns`).

    It pays where rows have many nonzeros and few of them in common with other rows, as texts. τ, and how many of the
    threads are used, is chosen by `shard_plan.plan`. The answer depends on the number of threads, within the
    tolerance, and for one number it is always the same.
    """

    takes_l1 = False
    takes_outputs = False
    about = About(
        title="dfSDCA on T threads that own the features",
        needs="built-in convex losses; shuffled or restless; implicit steps; sorted columns; no intercept",
        memory="n(T + 4)",
        cost="O(z/T) for each example on each thread, and a wait for each batch",
        rate="that of dfSDCA with τ-nice sampling",
        origin="Csiba, Richtárik 2015 (batches); the division of labour is ours",
    )

    whole_epochs = True
    sparing = True
    resumable = False  # a checkpoint may be written within an epoch

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        problem.require_convex("method='dfsdca-shards'")
        if not isinstance(problem.loss, BuiltIn):
            raise ValueError("method='dfsdca-shards' takes the built-in losses; method='dfsdca' takes any.")
        if problem.intercept:
            raise ValueError(
                "method='dfsdca-shards' takes no intercept: a feature that all examples share makes batches slow; "
                "method='auto' finds what is fast with one."
            )
        if not rule.implicit or not isinstance(sampling.sampling, Shuffled | Restless):
            raise ValueError(
                "method='dfsdca-shards' takes the samplings 'shuffled' and 'restless' and step='implicit', not "
                f"{sampling.sampling!r} and step={rule.name!r}; method='dfsdca' takes all of them."
            )
        if not ordered(problem.examples):
            raise ValueError(
                "X has rows whose columns do not increase, and method='dfsdca-shards' divides rows by columns; "
                "X.sort_indices() sorts them, and method='dfsdca' takes any order."
            )
        self._shards: _Shards | None = None
        self._caution = np.ones(1)
        self._turns = Turns()

    def advance(self, state: State, draws: Draws) -> None:
        shards = self._shards = self._shards or self._divide()
        piece = -(-self.problem.n // (_PIECES * shards.together)) * shards.together
        for first in range(0, draws.count, piece):
            visited, begun = draws.indices[first : first + piece], time.perf_counter()
            few = len(visited) < piece // 4  # not worth calling the others for, and no measure of what they take
            state.moved += self._visit(shards, state, visited, few or self._turns.alone)
            if not few:
                self._turns.learn((time.perf_counter() - begun) / len(visited))
        state.iteration += draws.count

    def _visit(self, shards: _Shards, state: State, visited: Indices, alone: bool) -> float:
        problem = self.problem
        return float(
            kernels.dfsdca_shards(
                shards.crew,
                problem.examples.native,
                problem.loss.native,
                shards.cuts,
                shards.bounds,
                shards.scale,
                1 / (problem.lam * problem.n),
                visited,
                shards.together,
                alone,
                self._caution,
                state.alpha,
                state.w,
            )
        )

    def _divide(self) -> _Shards:
        problem, examples = self.problem, self.problem.examples
        chosen = plan(problem, self.n_threads)
        crew, omega, every = kernels.Crew(chosen.threads), np.empty(problem.d), max(1, problem.n // _COUNTED)
        kernels.shard_counts(crew, examples.native, every, omega)
        cuts = feature_cuts(omega, chosen.threads)
        if every > 1:  # one more than seen: some features are in none of these rows
            omega = every * (omega + 1)
        bounds = np.empty(0, dtype=np.int64)
        if len(examples.native) > 3:  # sparse: offsets of the kind that X has
            bounds = np.empty(problem.n * (chosen.threads + 1), dtype=examples.native[2].dtype)
        beta, shared = (omega - 1) * (chosen.together - 1) / max(1, problem.n - 1), np.empty(problem.n)
        kernels.divide_rows(crew, examples.native, cuts, beta, bounds, shared)
        scale = np.empty((problem.n, 2))
        scale[:, 0], scale[:, 1] = self.rule.scale, shared / (problem.lam * problem.n)
        return _Shards(crew, chosen.together, cuts, bounds, scale.ravel())
