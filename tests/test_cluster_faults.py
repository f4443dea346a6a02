"""Things that go wrong on a real cluster: a worker killed, stopped for a while or added, the scheduler gone, Ctrl-C."""

import _thread
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import dualfree as df

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def problem() -> df.Problem:
    """Many features, so that w is scattered and not embedded, and some rounds to go."""
    rng = np.random.default_rng(0)
    X = sparse.random(4000, 5000, 0.005, random_state=rng, format="csr")
    y = np.sign(X @ rng.normal(size=5000) + 0.1)
    return df.Problem(X, df.losses.Logistic(y), lam=10 / 4000)


def pids(client: Any) -> list[int]:
    client.wait_for_workers(1, timeout=60)  # one may be on its way back from an earlier test
    return list(client.run(os.getpid).values())


def once(at: int, act: Callable[[], None]) -> Callable[[Any], None]:
    """A callback that starts a thread that acts a moment after the first row with so many iterations."""
    done: list[int] = []

    def watch(row: Any) -> None:
        if row.iteration >= at and not done:
            done.append(row.iteration)
            threading.Timer(0.02, act).start()

    watch.done = done  # type: ignore[attr-defined]
    return watch


@pytest.mark.parametrize("method", ["dfsdca", "lbfgs"])
def test_a_worker_killed_in_mid_fit(cluster_client: Any, problem: df.Problem, method: str) -> None:
    options = {"client": cluster_client, "partitions": 3, "method": method, "tol": 1e-7, "max_epochs": 2000}
    plain = df.distributed.solve(problem, **options)
    victim = pids(cluster_client)[0]
    watch = once(0, lambda: os.kill(victim, signal.SIGKILL))
    result = df.distributed.solve(problem, **options, callback=watch)
    assert watch.done
    assert result.status == "converged"
    assert victim not in pids(cluster_client)
    assert problem.value(result.w) - plain.certificate.value <= result.certificate.gap
    assert result.certificate.relative_gap <= 1e-7
    np.testing.assert_array_equal(result.w, plain.w)  # from lost state to the same bits


def test_a_killed_worker_held_data_of_dask(cluster_client: Any, problem: df.Problem) -> None:
    """Its chunks are made again from their graph."""
    X = da.from_array(problem.examples.X.toarray()[:, :300], chunks=(1000, 300))
    there = df.distributed.Partitioned(X, problem.loss.y, df.losses.Logistic, problem.lam, intercept=True)
    victim = pids(cluster_client)[-1]
    watch = once(0, lambda: os.kill(victim, signal.SIGKILL))
    result = df.distributed.solve(there, client=cluster_client, tol=1e-9, callback=watch)
    here = df.Problem(X.compute(scheduler="synchronous"), problem.loss, problem.lam, intercept=True)
    best = df.solve(here, tol=1e-11, method="newton").certificate.value
    assert watch.done
    assert result.status == "converged"
    assert abs(here.value(result.w) - best) <= result.certificate.gap + 1e-11


def test_a_worker_that_stands_still_for_a_while(cluster_client: Any, problem: df.Problem) -> None:
    slow = pids(cluster_client)[0]
    os.kill(slow, signal.SIGSTOP)
    threading.Timer(1.5, lambda: os.kill(slow, signal.SIGCONT)).start()
    result = df.distributed.solve(problem, client=cluster_client, partitions=4, tol=1e-6)
    assert result.status == "converged"


def test_a_worker_added_in_mid_fit_changes_no_bit(cluster_client: Any, problem: df.Problem) -> None:
    options = {"client": cluster_client, "partitions": 6, "method": "dfsdca", "tol": 1e-6}
    plain = df.distributed.solve(problem, **options)
    command = ["-m", "distributed.cli.dask_worker", cluster_client.scheduler.address, "--no-nanny", "--nthreads=1"]
    added = subprocess.Popen([sys.executable, *command, "--no-dashboard"], stderr=subprocess.DEVNULL)
    try:
        result = df.distributed.solve(
            problem, **options, callback=lambda row: cluster_client.wait_for_workers(3, timeout=60)
        )
        np.testing.assert_array_equal(result.w, plain.w)
    finally:
        added.kill()
        added.wait()


def test_ctrl_c_leaves_the_best_point_so_far(cluster_client: Any, problem: df.Problem) -> None:
    watch = once(1, _thread.interrupt_main)
    result = df.distributed.solve(
        problem, client=cluster_client, method="dfsdca", tol=0.0, max_epochs=10**6, callback=watch
    )
    assert result.status == "interrupted"
    assert result.certificate.gap < result.history[0].gap
    assert problem.gap(result.w, result.alpha) == pytest.approx(result.certificate.duality_gap, rel=1e-3)


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[tuple[str, Any]]:
    """A scheduler in its own process, with a worker; its address and the process."""
    file = tmp_path / "scheduler.json"
    options = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    head = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port=0", "--no-dashboard"]
    arm = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny", "--nthreads=2", "--no-dashboard"]
    processes = [subprocess.Popen([*head, f"--scheduler-file={file}"], **options)]
    try:
        processes.append(subprocess.Popen([*arm, f"--scheduler-file={file}", "--death-timeout=30"], **options))
        until = time.monotonic() + 30
        while not (file.exists() and file.read_text().strip()) and time.monotonic() < until:
            time.sleep(0.05)
        yield json.loads(file.read_text())["address"], processes[0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_the_scheduler_gone_leaves_a_checkpoint(
    cluster_client: Any,
    scheduler: tuple[str, Any],
    problem: df.Problem,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dualfree.distributed.connection.RECONNECTION", 0.5)
    address, process = scheduler
    path = tmp_path / "fit.npz"
    options = {"partitions": 3, "method": "dfsdca", "tol": 1e-7, "max_epochs": 2000}
    endless = options | {"tol": 0.0, "max_epochs": 10**6}
    with pytest.raises(df.distributed.SchedulerLostError, match=r"no longer answers.*the same call with resume=True"):
        df.distributed.solve(problem, client=address, checkpoint=path, callback=once(1, process.kill), **endless)
    assert path.exists()
    rows: list[Any] = []
    result = df.distributed.solve(
        problem, client=cluster_client, checkpoint=path, resume=True, callback=rows.append, **options
    )
    assert rows[0].epoch > 0  # it went on, on another cluster
    assert result.status == "converged"
    assert result.certificate.relative_gap <= 1e-7


def test_nobody_at_the_address(problem: df.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dualfree.distributed.connection._PATIENCE", "500ms")
    with pytest.raises(df.distributed.SchedulerLostError, match=r"no scheduler answers there within 500ms"):
        df.distributed.solve(problem, client="tcp://127.0.0.1:9")
    with pytest.raises(TypeError, match=r"client is 5; it must be"):
        df.distributed.solve(problem, client=5)
