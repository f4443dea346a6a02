"""A Dask client without a cluster: every task runs at once, in this process. It can lose what it holds."""

import pickle
from collections.abc import Callable, Sequence
from typing import Any


class InlineFuture:
    """A result that is there already, unless it was lost."""

    def __init__(self, value: Any) -> None:
        self.value, self.status = value, "finished"


class InlineClient:
    """What `dualfree.distributed` asks of a client: submit, gather and scatter.

    `losing` is called before each task with its number and says whether all that is held is lost just then.
    """

    status = "running"

    def __init__(self, threads: int = 2, losing: Callable[[int], bool] = lambda number: False) -> None:
        self._threads, self._losing = threads, losing
        self.tasks, self.losses, self._held = 0, 0, list[InlineFuture]()
        self.scheduler = self

    def submit(self, function: Callable[..., Any], *arguments: Any, pure: bool = False, key: str = "") -> InlineFuture:
        self.tasks += 1
        if self._losing(self.tasks):
            self.losses += 1
            for future in self._held:
                future.value, future.status = None, "lost"
            self._held.clear()
        return self._hold(lambda: function(*(_value(argument) for argument in arguments)))

    def scatter(self, data: Any, broadcast: bool = False, hash: bool = True) -> Any:
        if isinstance(data, list):
            return [self.scatter(one) for one in data]
        return self._hold(lambda: pickle.loads(pickle.dumps(data)))  # as a wire would

    def _hold(self, make: Callable[[], Any]) -> InlineFuture:
        try:
            future = InlineFuture(make())
        except TimeoutError:  # an ancestor is lost
            future = InlineFuture(None)
            future.status = "lost"
        self._held.append(future)
        return future

    def gather(self, futures: Sequence[InlineFuture]) -> list[Any]:
        return [_value(future) for future in futures]

    def nthreads(self) -> dict[str, int]:
        return {"here": self._threads}

    def wait_for_workers(self, count: int, timeout: float) -> None:
        """Here they are."""

    def identity(self) -> None:
        """Asked for to see whether the scheduler answers."""

    def sync(self, function: Callable[..., Any], **options: Any) -> bool:
        return True


def _value(argument: Any) -> Any:
    if isinstance(argument, list):
        return [_value(one) for one in argument]
    if not isinstance(argument, InlineFuture):
        return argument
    if argument.status == "lost":
        raise TimeoutError("lost")
    return argument.value
