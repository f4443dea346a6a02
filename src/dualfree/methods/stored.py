"""dfSDCA on data that stay on the disk: one window of chunks at a time, the next one read while it is worked on."""

import time
from itertools import pairwise
from typing import Any, cast

import numpy as np

from dualfree._native import kernels
from dualfree.arrays import Floats, Indices
from dualfree.methods.base import State
from dualfree.methods.dfsdca import DfSDCA, steps_on
from dualfree.problem import Problem
from dualfree.samplings.base import BoundSampling, Draws, Sampling
from dualfree.steps import StepRule
from dualfree.store.examples import Stored
from dualfree.store.opened import MOST_PASSES
from dualfree.store.reader import Numbers, Window
from dualfree.store.sampling import WindowSampling, bound_to_store


class StoredDfSDCA(DfSDCA):
    """dfSDCA whose iterations visit windows of a store.

    With `Shuffled`, the rows of a window are visited one after the other in random order, each at the newest w. Where
    the disk is slower than the steps, a window is gone over several times while the next one is read: these passes
    take no time of their own, and each raises the dual. Their number is decided after the second epoch (the first
    compares checksums), from the seconds that steps and waiting took, or by the store's `local_passes`;
    ``state.memory["passes"]`` holds it. With `Chunks`, all rows of τ chunks move at one w.
    """

    sampling: WindowSampling

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        self._examples = cast(Stored, problem.examples)
        if problem.loss.native is None:
            raise ValueError(
                f"{type(problem.loss).__name__} is written in Python, and a store larger than its memory_limit takes "
                "built-in and compiled losses; give open_store a larger memory_limit."
            )
        self._loss = problem.loss.native
        self._worked = self._waited = 0.0

    @classmethod
    def bind(cls, sampling: Sampling | BoundSampling, problem: Problem) -> BoundSampling:
        if isinstance(sampling, BoundSampling):  # bound as if the rows were in memory
            sampling = super().bind(sampling, problem).sampling
        return bound_to_store(sampling, problem, cast(Stored, problem.examples))

    def start(self, alpha: Floats, intercept: Any = 0.0) -> State:
        state = super().start(alpha, intercept)
        state.memory["passes"] = np.array([self._examples.X.local_passes or 0])
        return state

    def advance(self, state: State, draws: Draws) -> None:
        clock, reader = time.perf_counter(), self._examples.reader
        before = reader.waited
        then = self.sampling.draw(state.iteration + draws.count, 1, state.seed)
        for window in reader.visit(_numbers(draws), _numbers(then)):
            if self.sampling.at_once:
                self._step(state, window, np.arange(window.count), np.array([0, window.count]))
            else:
                self._go_over(state, window)
            state.iteration += 1
        self._waited += reader.waited - before
        self._worked += time.perf_counter() - clock - (reader.waited - before)

    def end_epoch(self, state: State) -> None:
        super().end_epoch(state)
        if state.memory["passes"][0] == 0 and state.iteration > self.sampling.iterations_per_epoch:
            passes = round((self._worked + self._waited) / max(self._worked, 1e-9))
            state.memory["passes"][0] = min(max(passes, 1), MOST_PASSES)
        self._worked = self._waited = 0.0

    def _go_over(self, state: State, window: Window) -> None:
        """Visit each row in random order, as often as decided; what α moved is that of the first time."""
        moved = state.moved
        for k in range(max(1, int(state.memory["passes"][0]))):
            order = kernels.draw_permutation(state.seed, state.iteration * MOST_PASSES + k, window.count)
            self._step(state, window, order, None)
            moved = state.moved if k == 0 else moved
        state.moved = moved

    def _step(self, state: State, window: Window, order: Indices, batch_start: Indices | None) -> None:
        problem, examples, scale = self.problem, self._examples, self.rule.scale
        alpha = examples.part(state.alpha, window)
        step = (
            examples.loss_of(self._loss, window),
            self.rule.slack,
            scale if len(scale) == 1 else scale[window.rows],
            1 / (problem.lam * problem.n),
        )
        draws, threshold = Draws(order, batch_start), problem.mu / problem.lam
        state.moved += steps_on(examples.view(window), step, threshold, draws, state, alpha, self.n_threads)
        state.alpha.reshape(problem.n, -1)[window.rows] = alpha.reshape(window.count, -1)


def _numbers(draws: Draws) -> list[Numbers]:
    start = draws.batch_start
    assert start is not None
    return [tuple(draws.indices[a:b].tolist()) for a, b in pairwise(start.tolist())]
