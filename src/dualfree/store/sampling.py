"""Samplings on a store: an iteration visits a window of whole chunks, and `Draws.indices` are numbers of chunks."""

from dataclasses import dataclass

import numpy as np

from dualfree import memory
from dualfree._native import kernels
from dualfree.problem import Problem
from dualfree.samplings import Chunks, Sampling, Shuffled
from dualfree.samplings.base import BoundSampling, Drawer, Draws
from dualfree.store.examples import Stored


@dataclass(frozen=True, eq=False)
class WindowSampling(BoundSampling):
    """A sampling whose sets are windows of a store; `at_once` says that all of a window moves at the same w."""

    windows: float
    at_once: bool

    @property
    def iterations_per_epoch(self) -> float:
        """Windows that visit n examples on average; from p it could be had up to rounding only."""
        return self.windows


def bound_to_store(sampling: Sampling, problem: Problem, examples: Stored) -> WindowSampling:
    """`Shuffled` or `Chunks` on the store's own chunks.

    `Shuffled` visits every chunk once an epoch: the chunks in a fresh random order, as many at a time as make a window,
    and the rows of a window in a fresh random order. `Chunks` moves all examples of τ chunks at the same w, as in
    memory.
    """
    count, size = examples.page.chunks, examples.reader.size
    if isinstance(sampling, Shuffled):
        windows = -(-count // size)
        p = memory.repeated(1 / windows, problem.n)
        return WindowSampling(sampling, problem, p, examples.square_norms, _shuffled(count, size), windows, False)
    if not isinstance(sampling, Chunks) or sampling.chunks is not None:
        raise ValueError(
            f"sampling is {sampling!r}, but a store larger than its memory_limit is read by the chunk: "
            "it must be Shuffled() or Chunks(tau), with the store's own chunks."
        )
    tau = sampling.tau
    if tau > min(count, size):
        raise ValueError(
            f"tau is {tau}, but the store has {count} chunks, and memory_limit has room for {size} at a time; "
            "tau must exceed neither."
        )
    p = memory.repeated(tau / count, problem.n)
    return WindowSampling(
        sampling, problem, p, examples.chunk_eso(tau), _chunks(count, tau), count / tau, True
    )  # fmt: skip


def _shuffled(count: int, size: int) -> Drawer:
    windows = -(-count // size)

    def draw(seed: int, first: int, number: int) -> Draws:
        drawn = [np.empty(0, np.int64)]
        for epoch, k in (divmod(iteration, windows) for iteration in range(first, first + number)):
            drawn.append(kernels.draw_permutation(seed, epoch, count)[k * size : (k + 1) * size])
        return Draws(np.concatenate(drawn), np.cumsum([len(each) for each in drawn], dtype=np.int64))

    return draw


def _chunks(count: int, tau: int) -> Drawer:
    def draw(seed: int, first: int, number: int) -> Draws:
        return Draws.of_equal_size(kernels.draw_nice(seed, first, number, count, tau), tau)

    return draw
