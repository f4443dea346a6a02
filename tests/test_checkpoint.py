"""Checkpoints: a run that was killed and resumed ends at the same bits as one that was not."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import dualfree as df
from dualfree.checkpoint import CheckpointError, Checkpoints
from dualfree.methods import METHODS as METHODS_BY_NAME
from dualfree.store import write_store
from helpers.stores import larger_than_memory, text_like

METHODS = tuple(name for name, kind in METHODS_BY_NAME.items() if kind.resumable)
ALWAYS = 1e-9  # seconds: a checkpoint before every piece of work


@pytest.fixture(scope="module")
def data():
    return text_like(n=1500, d=200)


def keep_copies(monkeypatch, folder):
    """Copy every checkpoint that is written, as a process killed right after it would leave it."""
    copies, save = [], Checkpoints.save

    def saved(self, run):
        save(self, run)
        copies.append(folder / f"copy-{len(copies)}")
        shutil.copy(self.path, copies[-1])

    monkeypatch.setattr(Checkpoints, "save", saved)
    return copies


def assert_same(resumed, whole):
    np.testing.assert_array_equal(resumed.w, whole.w)
    np.testing.assert_array_equal(resumed.alpha, whole.alpha)
    assert [(row.epoch, row.value, row.gap) for row in resumed.history] == [
        (row.epoch, row.value, row.gap) for row in whole.history
    ]
    assert (resumed.status, resumed.iterations, resumed.bound) == (whole.status, whole.iterations, whole.bound)


@pytest.mark.parametrize(("method", "intercept"), [*((method, False) for method in METHODS), ("dfsdca", True)])
def test_from_every_checkpoint_to_the_same_bits(data, tmp_path, monkeypatch, method, intercept):
    X, y = data
    problem = df.Problem(X, df.losses.Logistic(y), 1 / len(y), intercept=intercept)
    options = {"method": method, "max_epochs": 6, "tol": 1e-9, "seed": 3}
    whole = df.solve(problem, **options)
    copies = keep_copies(monkeypatch, tmp_path)
    watched = df.solve(problem, **options, checkpoint=tmp_path / "run", checkpoint_every=ALWAYS)
    assert_same(watched, whole)
    assert len(copies) > 6
    monkeypatch.undo()
    for copy in copies[:: max(1, len(copies) // 6)] + copies[-1:]:
        assert_same(df.solve(problem, **options, checkpoint=copy, resume=True), whole)


@pytest.mark.parametrize("options", [{"sampling": "nice:8"}, {"sampling": "importance", "step": "theorem-2"}])
def test_other_samplings_and_few_evaluations(data, tmp_path, monkeypatch, options):
    X, y = data
    problem = df.Problem(X, df.losses.SquaredHinge(y), 5 / len(y))
    options |= {"evaluate_every": 1.7, "max_epochs": 9, "tol": 1e-12}
    whole = df.solve(problem, **options)
    copies = keep_copies(monkeypatch, tmp_path)
    df.solve(problem, **options, checkpoint=tmp_path / "run", checkpoint_every=ALWAYS)
    monkeypatch.undo()
    for copy in copies[:: len(copies) // 5]:
        assert_same(df.solve(problem, **options, checkpoint=copy, resume=True), whole)


def test_on_a_store(data, tmp_path, monkeypatch):
    X, y = data
    write_store(tmp_path / "a.dfs", X, y, chunk_bytes=8000)
    problem = df.Problem(larger_than_memory(tmp_path / "a.dfs"), df.losses.Logistic(y), 1 / len(y))
    whole = df.solve(problem, tol=1e-6)
    copies = keep_copies(monkeypatch, tmp_path)
    df.solve(problem, tol=1e-6, checkpoint=tmp_path / "run", checkpoint_every=ALWAYS)
    monkeypatch.undo()
    for copy in copies[:: len(copies) // 5]:
        assert_same(df.solve(problem, tol=1e-6, checkpoint=copy, resume=True), whole)


def test_a_finished_run_can_go_on_to_a_smaller_tolerance(data, tmp_path):
    X, y = data
    problem = df.Problem(X, df.losses.Logistic(y), 1 / len(y))
    path = tmp_path / "run"
    rough = df.solve(problem, tol=1e-2, checkpoint=path)
    exact = df.solve(problem, tol=1e-8, checkpoint=path, resume=True)
    assert exact.status is df.Status.CONVERGED
    assert exact.history.rows[: len(rough.history)] == rough.history.rows
    np.testing.assert_array_equal(exact.w, df.solve(problem, tol=1e-8).w)


def test_auto_is_dfsdca_and_no_file_is_a_fresh_start(data, tmp_path):
    X, y = data
    problem = df.Problem(X, df.losses.Logistic(y), 1 / len(y))
    result = df.solve(problem, method="auto", checkpoint=tmp_path / "run", resume=True)
    assert result.method == "dfsdca"
    assert result.status is df.Status.CONVERGED


def changed(data, **differences):
    X, y = data
    settings = {"lam": 1 / len(y), "loss": df.losses.Logistic, "y": y, "X": X} | differences
    return df.Problem(settings["X"], settings["loss"](settings["y"]), settings["lam"])


def test_a_checkpoint_belongs_to_its_problem(data, tmp_path):
    X, y = data
    path = tmp_path / "run"
    df.solve(changed(data), max_epochs=1, tol=1e-12, checkpoint=path)
    others = {
        "lam": changed(data, lam=0.5),
        "loss": changed(data, loss=df.losses.SquaredHinge),
        "checksum of y": changed(data, y=-y),
        "number of features": changed(data, X=X[:, :-1]),
    }
    for what, problem in others.items():
        with pytest.raises(CheckpointError, match=f"belongs to another run: its {what} is"):
            df.solve(problem, checkpoint=path, resume=True)
    for what, options in {
        "seed": {"seed": 1},
        "sampling": {"sampling": "uniform"},
        "method": {"method": "saga"},
    }.items():
        with pytest.raises(CheckpointError, match=f"its {what} is"):
            df.solve(changed(data), checkpoint=path, resume=True, **options)


def test_refusals(data, tmp_path):
    problem = changed(data)
    for method in ("newton", "lbfgs", "dfsdca-copies"):
        with pytest.raises(ValueError, match=f"method='{method}' remembers what no file can hold"):
            df.solve(problem, method=method, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="tune first"):
        df.solve(problem, step="tuned", checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="give checkpoint=path too"):
        df.solve(problem, resume=True)
    with pytest.raises(ValueError, match="checkpoint_every is 0"):
        df.solve(problem, checkpoint=tmp_path / "run", checkpoint_every=0)
    with pytest.raises(ValueError, match="a folder that exists"):
        df.solve(problem, checkpoint=tmp_path / "no" / "run")
    (tmp_path / "text").write_text("something else")
    with pytest.raises(CheckpointError, match="is not a dualfree checkpoint"):
        df.solve(problem, checkpoint=tmp_path / "text", resume=True)


def test_a_full_disk_is_one_warning_and_nothing_is_lost(data, tmp_path, monkeypatch):
    problem, path = changed(data), tmp_path / "run"
    df.solve(problem, max_epochs=1, tol=1e-12, checkpoint=path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(RuntimeWarning, match="could not be written") as warned:
        result = df.solve(problem, checkpoint=path, checkpoint_every=ALWAYS)
    assert len(warned) == 1
    assert result.status is df.Status.CONVERGED
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


RUN = textwrap.dedent(
    """
    import numpy as np
    import dualfree as df
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 30)) + 1
    problem = df.Problem(X, df.losses.Logistic(np.sign(X @ rng.normal(size=30))), 1e-6)
    options = {} if checkpoint is None else dict(checkpoint=checkpoint, checkpoint_every=0.02, resume=True)
    result = df.solve(problem, tol=1e-14, max_epochs=1000, evaluate_every=20, **options)
    """
)


def test_killed_again_and_again(tmp_path):
    path = tmp_path / "run"
    for _ in range(2):
        before = path.stat().st_mtime_ns if path.exists() else 0
        process = subprocess.Popen([sys.executable, "-c", f"checkpoint = {str(path)!r}\n{RUN}"])
        while process.poll() is None and not (path.exists() and path.stat().st_mtime_ns > before):
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert process.returncode == -signal.SIGKILL  # it was not done yet
    whole, resumed = {"checkpoint": None}, {"checkpoint": path}
    exec(RUN, whole)
    exec(RUN, resumed)
    assert whole["result"].epochs == 1000
    assert_same(resumed["result"], whole["result"])
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]  # and no half-written file beside it
