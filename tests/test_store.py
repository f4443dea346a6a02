"""Stores on disk: what is written is read, and a fit that reads chunk by chunk is the fit in memory."""

import json
import sys
import threading
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree import losses
from dualfree.store import StoreError, opened, write_store
from dualfree.store.sampling import bound_to_store
from helpers.stores import larger_than_memory, text_like

LOSSES = {
    "logistic": losses.Logistic,
    "squared": losses.Squared,
    "squared-hinge": losses.SquaredHinge,
    "smoothed-hinge": losses.SmoothedHinge,
    "huber": losses.Huber,
}


@pytest.fixture(params=["csr", "dense"])
def kept(request, tmp_path):
    """A store of some sixty chunks, and what is in it."""
    X, y = text_like(dense=request.param == "dense")
    write_store(
        tmp_path / "a.dfs", X, y, chunk_bytes=X.shape[0] * X.shape[1] // 8 if request.param == "dense" else 12_000
    )
    return tmp_path / "a.dfs", X, y


def as_array(X):
    return X.toarray() if sparse.issparse(X) else X


def test_what_is_written_is_read(kept):
    path, X, y = kept
    store = df.open_store(path)
    assert store.fits
    assert store.shape == X.shape
    np.testing.assert_array_equal(as_array(store.matrix()), as_array(X))
    np.testing.assert_array_equal(store.y, y)
    parts = [(as_array(A).copy(), labels) for A, labels in store.parts()]
    assert len(parts) > 1
    np.testing.assert_array_equal(np.concatenate([A for A, _ in parts]), as_array(X))
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in parts]), y)
    np.testing.assert_allclose(store @ np.arange(X.shape[1]), X @ np.arange(X.shape[1]))


def test_the_files_are_plain_npy(kept):
    path, X, _ = kept
    data = np.load(path / "data.npy", mmap_mode="r")
    assert data.size == (X.nnz if sparse.issparse(X) else X.size)
    squares = np.asarray((as_array(X) ** 2).sum(axis=1))
    np.testing.assert_allclose(np.load(path / "square_norms.npy"), squares)


def test_chunks_are_balanced_by_nonzeros(tmp_path):
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 60, size=2000)
    columns = np.concatenate([rng.choice(100, size=k, replace=False) for k in counts])
    X = sparse.csr_array((np.ones(counts.sum()), columns, np.concatenate([[0], np.cumsum(counts)])), shape=(2000, 100))
    write_store(tmp_path / "a.dfs", X, np.ones(2000), chunk_bytes=16 * 500)
    page = df.open_store(tmp_path / "a.dfs").page
    assert np.diff(page.entries).max() <= 500
    np.testing.assert_array_equal(np.diff(page.starts), df.chunks(counts, limit=500))


def test_blocks_of_any_size_make_the_same_store(tmp_path):
    from dualfree.store.writer import StorePlan, StoreWriter

    X, y = text_like(n=500)
    pages = []
    for name, cuts in (("one", [0, 500]), ("many", [0, 1, 3, 170, 171, 400, 500])):
        (tmp_path / name).mkdir()
        writer = StoreWriter(tmp_path / name, StorePlan("csr", *X.shape, X.nnz, "float32", "int32", chunk_bytes=3000))
        for first, last in pairwise(cuts):
            writer.add(X[first:last], y[first:last])
        writer.finish()
        pages.append((tmp_path / name / "store.json").read_text())
    assert pages[0] == pages[1]
    assert df.open_store(tmp_path / "many").matrix().dtype == np.float32


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_fit_from_disk_reaches_the_certified_optimum(kept, loss, intercept):
    path, X, y = kept
    store = larger_than_memory(path)
    lam = 10 / len(y)
    stored = df.Problem(store, LOSSES[loss](store.y), lam, intercept=intercept)
    result = df.solve(stored, tol=1e-6)
    assert result.status is df.Status.CONVERGED
    inner = df.Problem(X, LOSSES[loss](y), lam, intercept=intercept)
    other = df.solve(inner, tol=1e-10)
    assert result.certificate.gap >= inner.value(result.w) - other.certificate.value
    assert inner.value(result.w) <= (1 + 1.1e-6) * other.certificate.value
    assert inner.value(result.w) == pytest.approx(result.certificate.value, rel=1e-12)


def test_windows_of_chunks_need_hardly_more_epochs_than_memory(tmp_path):
    X, y = text_like(n=6000, d=60)
    X = 3 * X
    write_store(tmp_path / "a.dfs", X, y, chunk_bytes=20_000)
    store = larger_than_memory(tmp_path / "a.dfs")
    options = {"tol": 1e-6, "evaluate_every": 1}
    stored = df.solve(df.Problem(store, losses.Logistic(y), 1 / len(y)), **options)
    inside = df.solve(df.Problem(X, losses.Logistic(y), 1 / len(y)), **options)
    assert stored.epochs <= 1.3 * inside.epochs + 1
    often = larger_than_memory(tmp_path / "a.dfs", local_passes=4)
    assert df.solve(df.Problem(often, losses.Logistic(y), 1 / len(y)), **options).epochs < stored.epochs


@pytest.mark.parametrize("tau", [1, 3])
def test_chunks_are_those_of_memory_bit_by_bit(kept, tau):
    path, X, y = kept
    store = larger_than_memory(path)
    sizes = np.diff(store.page.starts)
    options = {"step": "theorem-2", "max_epochs": 1.4, "tol": 1e-12, "evaluate_every": 1}
    stored = df.solve(df.Problem(store, losses.Logistic(y), 0.01), sampling=df.samplings.Chunks(tau), **options)
    inner = df.Problem(X, losses.Logistic(y), 0.01)
    inside = df.solve(inner, sampling=df.samplings.Chunks(tau, chunks=sizes), **options)
    np.testing.assert_allclose(stored.w, inside.w, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(stored.alpha, inside.alpha, rtol=1e-12, atol=1e-15)
    assert stored.bound.covered
    problem = df.Problem(store, losses.Logistic(y), 0.01)
    bound = df.samplings.Shuffled().bind(problem)  # as in memory; solve knows better
    assert df.solve(problem, sampling=bound, max_epochs=1, tol=1e-12).iterations < 30
    assert stored.bound.iterations == pytest.approx(inside.bound.iterations)


def test_chunks_read_only_what_they_visit(kept, monkeypatch):
    from dualfree.store.reader import WindowReader

    store = larger_than_memory(kept[0])
    problem = df.Problem(store, losses.Logistic(store.y), 0.01)
    bound = df.solve(problem, sampling=df.samplings.Chunks(2), max_epochs=1e-3, tol=1e-9)
    assert bound.iterations == 1
    read, threads = [], set()
    inner = WindowReader._read

    def watched(self, run, parts):
        read.extend(run)
        threads.add(threading.current_thread())
        return inner(self, run, parts)

    monkeypatch.setattr(WindowReader, "_read", watched)
    for _ in problem.examples.reader.visit([(3, 7), (7, 9)], [(1, 2)]):
        pass
    problem.examples.reader._pool.shutdown()  # which waits for what is under way
    assert sorted(read) == [1, 2, 3, 7, 7, 9]
    assert threading.main_thread() not in threads


def test_several_reads_are_in_flight(kept, monkeypatch):
    from dualfree.store.reader import WindowReader

    store, both = larger_than_memory(kept[0]), threading.Barrier(2, timeout=30)
    inner = WindowReader._read

    def meet(self, run, parts):
        both.wait()  # until another thread reads too
        return inner(self, run, parts)

    reader = store.reader(intercept=False)
    monkeypatch.setattr(WindowReader, "_read", meet)
    assert [window.count > 0 for window in reader.visit([(1, 3), (5, 8)])] == [True, True]


def test_same_bits_from_disk_and_for_any_window_that_was_read_before(kept):
    store = larger_than_memory(kept[0])
    first, second = (df.solve(df.Problem(store, losses.Logistic(store.y), 0.003), tol=1e-5, seed=4) for _ in range(2))
    np.testing.assert_array_equal(first.w, second.w)
    np.testing.assert_array_equal(first.alpha, second.alpha)


def test_damage_is_noticed(kept):
    path, _, _ = kept
    store = larger_than_memory(path)
    with open(path / "data.npy", "r+b") as file:
        file.seek(5000)
        byte = file.read(1)
        file.seek(5000)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(StoreError, match=r"chunk \d+ does not have the checksum"):
        df.solve(df.Problem(store, losses.Logistic(store.y), 0.01))
    with pytest.raises(StoreError, match="checksum"):
        df.open_store(path).matrix()


def test_a_file_cut_off_is_noticed(kept):
    path, _, _ = kept
    with open(path / "data.npy", "r+b") as file:
        file.truncate(2000)
    with pytest.raises(StoreError, match=r"data.npy is shorter than it was"):
        df.open_store(path).matrix()


def test_what_is_no_store(tmp_path):
    with pytest.raises(StoreError, match="is not a dualfree store"):
        df.open_store(tmp_path)
    (tmp_path / "store.json").write_text("{")
    with pytest.raises(StoreError, match="damaged"):
        df.open_store(tmp_path)
    (tmp_path / "store.json").write_text(json.dumps({"format": 99}))
    with pytest.raises(StoreError, match="store format 99"):
        df.open_store(tmp_path)


def test_refusals_are_one_sentence(kept):
    path, _, _ = kept
    store = larger_than_memory(path)
    problem = df.Problem(store, losses.Logistic(store.y), 0.01)
    for method in ("newton", "lbfgs", "saga", "dfsdca-copies"):
        with pytest.raises(ValueError, match=f"method='{method}' would read a store"):
            df.solve(problem, method=method)
    with pytest.raises(ValueError, match="step='tuned'"):
        df.solve(problem, step="tuned")
    with pytest.raises(ValueError, match=r"must be Shuffled\(\) or Chunks"):
        df.solve(problem, sampling="nice:8")
    with pytest.raises(ValueError, match="tau is 50"):
        df.solve(problem, sampling=df.samplings.Chunks(50))
    with pytest.raises(ValueError, match="needs all rows in memory"):
        df.plan(problem, ["nice:8"])
    with pytest.raises(ValueError, match="memory_limit is 1,000 bytes, but a fit"):
        df.Problem(df.open_store(path, memory_limit=1000), losses.Logistic(store.y), 0.01)
    with pytest.raises(ValueError, match="memory_limit is '2 elephants'"):
        df.open_store(path, memory_limit="2 elephants")
    with pytest.raises(ValueError, match="local_passes"):
        df.open_store(path, local_passes=9)


def test_a_store_that_fits_takes_every_method(kept):
    path, X, y = kept
    inside = df.solve(df.Problem(X, losses.Logistic(y), 0.01), method="auto")
    stored = df.solve(df.Problem(df.open_store(path), losses.Logistic(y), 0.01), method="auto")
    np.testing.assert_array_equal(inside.w, stored.w)


def test_the_hessian_counts_against_the_limit(tmp_path):
    """Rows that would fit are left on the disk where the method that a fit in memory may choose would not."""
    X, y = text_like(n=300, d=3000, per_row=40, dense=True)
    write_store(tmp_path / "a.dfs", X, y)
    limit = opened._libraries() + 150_000_000
    store = df.open_store(tmp_path / "a.dfs", memory_limit=limit)
    assert store.page.nbytes < 10_000_000
    assert not store.fits
    result = df.solve(df.Problem(store, losses.Logistic(y), 0.01), method="auto")
    assert result.status is df.Status.CONVERGED
    assert df.open_store(tmp_path / "a.dfs", memory_limit=limit + 120_000_000).fits


def test_local_passes_follow_the_rates_of_disk_and_steps(kept):
    from dualfree.methods.stored import StoredDfSDCA

    problem = df.Problem(larger_than_memory(kept[0], local_passes=None), losses.Logistic(kept[2]), 0.01)
    bound = bound_to_store(df.samplings.Shuffled(), problem, problem.examples)
    for waited, passes in ((0.0, 1), (0.4, 1), (2.6, 4), (100.0, 8)):
        method = StoredDfSDCA(problem, bound, StoredDfSDCA.step_rule(bound))
        state = method.start(np.zeros(problem.n))
        state.iteration = int(bound.iterations_per_epoch)
        method._worked, method._waited = 1.0, 50.0
        method.end_epoch(state)
        assert state.memory["passes"].tolist() == [
            0
        ]  # the first epoch compares checksums, which is not the disk's rate
        state.iteration *= 2
        method._worked, method._waited = 1.0, waited
        method.end_epoch(state)
        assert state.memory["passes"].tolist() == [passes]


def test_progress_moves_between_evaluations(kept, monkeypatch):
    shown = []

    @contextmanager
    def bar(*_):
        yield shown.append

    monkeypatch.setattr(sys.modules["dualfree.solve"], "progress_bar", bar)
    monkeypatch.setattr(sys.modules["dualfree.loop"], "_SHOW_SECONDS", 0.0)
    store = larger_than_memory(kept[0])
    result = df.solve(df.Problem(store, losses.Logistic(store.y), 0.01), progress=True)
    assert len(shown) > 2 * len(result.history)
    assert [row.epoch for row in shown] == sorted(row.epoch for row in shown)
