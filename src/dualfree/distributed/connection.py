"""A client of a Dask scheduler from what the user gave: a client, an address, a cluster, or nothing."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

from dualfree.optional import require

_PATIENCE = "10s"  # to connect to a scheduler
RECONNECTION = 10.0  # seconds that a client may take to find its scheduler again


class SchedulerLostError(ConnectionError):
    """The scheduler does not answer any more."""


@contextmanager
def connected(client: Any = None) -> Iterator[Any]:
    """A `distributed.Client` for the length of a fit.

    None is the client of this thread, if there is one, and otherwise, as ``"local"``, a cluster of one process for each
    core of this machine, which ends with the fit. Text is the address of a scheduler.
    """
    distributed = require("distributed", "cluster")
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError:
            client = "local"
    if isinstance(client, distributed.Client):
        yield client
    elif isinstance(client, str) and client == "local":
        with local_cluster() as cluster, distributed.Client(cluster) as made:
            yield made
    elif isinstance(client, str) or hasattr(client, "scheduler_address"):
        with _client_of(distributed, client) as made:
            yield made
    else:
        raise TypeError(
            f"client is {client!r:.60}; it must be a distributed.Client, a cluster, a scheduler's address, or 'local'."
        )


def local_cluster(workers: int | None = None) -> Any:
    """One process for each core, or so many."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return require("distributed", "cluster").LocalCluster(
        n_workers=workers or cores, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    )


def _client_of(distributed: Any, address: Any) -> Any:
    try:
        return distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SchedulerLostError(
            f"client is {address!r:.80}, but no scheduler answers there within {_PATIENCE} ({type(error).__name__}); "
            "start one with `dask scheduler`, or give its address as tcp://host:port."
        ) from None


def losses_of_data() -> tuple[type[BaseException], ...]:
    """The exceptions that say that something a worker held is gone, as opposed to errors of the tasks themselves."""
    distributed = require("distributed", "cluster")
    return (CancelledError, distributed.KilledWorker, distributed.comm.CommClosedError, TimeoutError, *_cancelled())


def _cancelled() -> tuple[type[BaseException], ...]:
    module = require("distributed.client", "cluster")
    found = (getattr(module, name, None) for name in ("FutureCancelledError", "FuturesCancelledError"))
    return tuple(kind for kind in found if kind is not None)


def require_scheduler(client: Any, patience: float | None = None) -> None:
    """Raise `SchedulerLostError` unless the scheduler answers within so many seconds, by default `RECONNECTION`."""
    until = time.monotonic() + (RECONNECTION if patience is None else patience)
    while client.status == "connecting" and time.monotonic() < until:
        time.sleep(0.1)
    try:
        answers = client.status == "running" and client.sync(client.scheduler.identity, callback_timeout=5)
    except Exception:  # whatever a dead connection raises
        answers = False
    if not answers:
        raise SchedulerLostError("the scheduler no longer answers")
