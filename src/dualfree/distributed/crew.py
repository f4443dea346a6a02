"""The workers' side of a problem as futures: ask all partitions, add up what they say, and mend what is lost."""

import time
import uuid
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from dualfree.arrays import Floats
from dualfree.distributed.block import Encoder, Survey, aligned, make_loss, survey
from dualfree.distributed.connection import losses_of_data, require_scheduler
from dualfree.distributed.report import Report, add
from dualfree.distributed.sources import Source
from dualfree.losses.base import Loss

T = TypeVar("T")

_FAN = 8  # reports that are added up by one task, or here
_EMBEDDED = 32_768  # bytes up to which an argument travels with each task instead of once to every worker
_KEPT = 4_000_000  # bytes up to which the scheduler keeps what was sent; Dask warns of more
_ATTEMPTS = 20  # in a row that may fail
_PAUSE = 0.2  # seconds before another attempt, for a worker to come back


class Blocks:
    """The blocks on the workers. Empty ones (frames may have such partitions) are left out."""

    def __init__(self, client: Any, source: Source, wants_labels: bool) -> None:
        self.client, self._source = client, source
        self._numbers = list(range(source.count))
        self.futures: list[Any] = attempt(client, lambda: source.deal(client, self._numbers), lambda: None)
        found = attempt(client, lambda: self._survey(wants_labels), self.mend)
        kept = [k for k, one in enumerate(found) if one.rows > 0]
        if not kept:
            raise ValueError("X has no rows; a fit needs at least one example.")
        self._numbers, self.futures = [self._numbers[k] for k in kept], [self.futures[k] for k in kept]
        self.surveys: list[Survey] = [found[k] for k in kept]
        self.starts = np.concatenate([[0], np.cumsum([one.rows for one in self.surveys])]).astype(np.int64)

    def _survey(self, wants_labels: bool) -> list[Survey]:
        return list(self.client.gather([self.client.submit(survey, f, wants_labels, pure=False) for f in self.futures]))

    def mend(self) -> None:
        """Deal out again what is lost."""
        lost = [k for k, future in enumerate(self.futures) if is_lost(future)]
        if lost:
            again = self._source.deal(self.client, [self._numbers[k] for k in lost])
            for k, future in zip(lost, again, strict=True):
                self.futures[k] = future


class Crew:
    """All partitions of one problem: the blocks and their losses."""

    def __init__(self, blocks: Blocks, kind: Loss, encoder: Encoder | None) -> None:
        self.blocks, self.client = blocks, blocks.client
        self.kind, self.encoder = kind, encoder
        self._losses = self._make(blocks.futures)

    @property
    def count(self) -> int:
        """Number of partitions."""
        return len(self.blocks.futures)

    def _make(self, blocks: Sequence[Any]) -> list[Any]:
        return [self.client.submit(make_loss, block, self.kind, self.encoder, pure=False) for block in blocks]

    def each(self, function: Callable[..., Any], *shared: Any, own: Sequence[Sequence[Any]] = ()) -> list[Any]:
        """Futures of ``function(block, loss, *own, *shared)``, one for each partition."""
        columns = zip(*own, strict=True) if own else [()] * self.count
        return [
            self.client.submit(on_worker, function, block, loss, *mine, *shared, key=_key(function))
            for block, loss, mine in zip(self.blocks.futures, self._losses, columns, strict=True)
        ]

    def then(self, function: Callable[..., Any], futures: Sequence[Any], *shared: Any) -> list[Any]:
        """Futures of ``function(result, *shared)``, where the results are."""
        return [self.client.submit(function, future, *shared, pure=False) for future in futures]

    def share(self, array: Floats) -> Any:
        """An array that all workers will ask for: itself where it is small, otherwise a future of it.

        The workers then pass it on to each other. (Dask's own broadcast does not return when a worker dies in it.)
        """
        return array if array.nbytes <= _EMBEDDED else self._held(array, array.nbytes)

    def _held(self, value: Any, nbytes: int) -> Any:
        """A future of a value from here: with the scheduler, from where it can be had again, unless it is large."""
        if nbytes <= _KEPT:
            return self.client.submit(same, value, pure=False)
        return self.client.scatter([value], hash=False)[0]  # of a tuple, Dask would scatter what is in it

    def total(self, futures: Sequence[Any]) -> Report:
        """The sum of all reports: added up in a tree on the workers, the last few here."""
        futures = list(futures)
        while len(futures) > _FAN:
            groups = [futures[k : k + _FAN] for k in range(0, len(futures), _FAN)]
            futures = [self.client.submit(add, group, pure=False) for group in groups]
        return add(self.client.gather(futures))

    def deal(self, alpha: Floats, as_what: Callable[[Floats], Any]) -> list[Any]:
        """Each partition's part of a vector with one entry for each example, as futures that depend on nothing."""
        starts = self.blocks.starts
        parts = [alpha[a:b].copy() for a, b in pairwise(starts)]
        return [self._held(as_what(part), part.nbytes) for part in parts]

    def collect(self, futures: Sequence[Any]) -> Floats:
        """The parts of such a vector, put together."""
        return np.concatenate(self.client.gather(list(futures)))

    def attempt(self, work: Callable[[], T]) -> T:
        """Do `work`; when a worker took its data with it, mend and do it again, all of it: same input, same result."""
        return attempt(self.client, work, self._mend)

    def _mend(self) -> None:
        self.blocks.mend()
        for k, future in enumerate(self._losses):
            if is_lost(future):
                self._losses[k] = self._make([self.blocks.futures[k]])[0]


def on_worker(function: Callable[..., T], block: Any, loss: Loss, *arguments: Any) -> T:
    """A worker's call of `function`, with arrays as the kernels need them, however they got there."""
    loss.y, loss.weight = aligned(loss.y), None if loss.weight is None else aligned(loss.weight)
    return function(block, loss, *(aligned(a) if isinstance(a, np.ndarray) else a for a in arguments))


def same(value: T) -> T:
    """The value, which is then held by a worker."""
    return value


def _key(function: Callable[..., Any]) -> str:
    """A fresh name that tells on Dask's own displays what a task does."""
    return f"{function.__name__}-{uuid.uuid4().hex}"


def is_lost(future: Any) -> bool:
    """Whether a future will never have a result."""
    return future.status in ("cancelled", "lost", "error")


def attempt(client: Any, work: Callable[[], T], mend: Callable[[], None]) -> T:
    """`work()`, again after each loss of data; a scheduler that is gone is `SchedulerLostError`."""
    lost: tuple[type[BaseException], ...] = (*losses_of_data(), OSError)
    for k in range(_ATTEMPTS):
        try:
            if k > 0:
                mend()
            return work()
        except lost as error:
            require_scheduler(client)
            if k + 1 == _ATTEMPTS:
                raise RuntimeError(
                    f"workers were lost {_ATTEMPTS} times in a row while they did the same work ({error}); they may be "
                    "short of memory: take smaller partitions, or larger workers."
                ) from None
        time.sleep(_PAUSE)
    raise AssertionError
