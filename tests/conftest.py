"""Shared settings: hypothesis draws the same cases on every machine, and no case is failed for being slow."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("dualfree", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("dualfree")


@pytest.fixture(scope="module")
def cluster_client() -> Iterator[Any]:
    """A client of two worker processes on this machine, shared by the tests of a file."""
    distributed = pytest.importorskip("distributed")
    from dualfree.distributed.connection import local_cluster

    with local_cluster(2) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client
