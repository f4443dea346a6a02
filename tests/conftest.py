"""Shared settings: hypothesis draws the same cases on every machine, no case is failed for being slow, Ctrl-C works."""

import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("dualfree", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("dualfree")

# What a shell puts in the background (`make test &`) is deaf to SIGINT, and tests of Ctrl-C would wait for ever.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def cluster_client() -> Iterator[Any]:
    """A client of two worker processes on this machine, shared by the tests of a file."""
    distributed = pytest.importorskip("distributed")
    from dualfree.distributed.connection import local_cluster

    with local_cluster(2) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client
