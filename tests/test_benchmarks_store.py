"""The benchmark of data larger than memory, on a store of a few megabytes."""

import sys

import pytest
from benchmarks import containers
from benchmarks import store as benchmark

import dualfree as df

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for the peak of memory")


def test_generates_trains_and_compares(tmp_path):
    benchmark.generate(tmp_path / "a.dfs", 0.005, d=10_000)
    store = df.open_store(tmp_path / "a.dfs")
    assert 0.0045e9 < store.page.nbytes < 0.0055e9
    assert sorted(set(store.y.tolist())) == [-1.0, 1.0]
    found = benchmark.measure(tmp_path / "a.dfs", "1GB", 1e-3, cold=True)
    assert found["status"] == "converged"
    assert found["relative_gap"] <= 1e-3
    assert not found["on_disk"]
    assert found["against_memory"] > 0
    assert 20e6 < found["peak_bytes"] < 1e9
    assert found["speed"] == found["floor_seconds"] / found["seconds"]
    floor = (found["epochs"] + found["evaluations"]) * found["reading_seconds"]
    assert found["floor_seconds"] > floor > 0


def test_containers_hold_the_same(tmp_path):
    pytest.importorskip("pyarrow")
    rows = containers.compare(tmp_path, 3)
    assert [row[0] for row in rows] == list(containers.KINDS)
    assert all(speed > 0 for row in rows for speed in row[1:])
