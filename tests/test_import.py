"""Imports: every format, bounded memory, and an import that is killed goes on to the same bytes."""

import errno
import glob
import gzip
import lzma
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import dualfree as df
from dualfree.io import libsvm, write_libsvm
from dualfree.store import buckets, importing, sources
from helpers.stores import text_like

pyarrow = pytest.importorskip("pyarrow")


def rows_of(X, y):
    """The rows as a sorted list, whatever their order."""
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return sorted((*row, label) for row, label in zip(dense.tolist(), y.tolist(), strict=True))


@pytest.fixture
def small_pieces(monkeypatch):
    """Many blocks and many buckets for little data, and a note after each block."""
    monkeypatch.setattr(libsvm, "PIECE_BYTES", 10_000)
    monkeypatch.setattr(sources, "_BLOCK_BYTES", 20_000)
    monkeypatch.setattr(sources, "_BATCH_ENTRIES", 5_000)
    monkeypatch.setattr(buckets, "BUCKET_BYTES", 50_000)
    monkeypatch.setattr(importing, "_NOTE_SECONDS", 0.0)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # what survives a loss of power is not tested here


@pytest.fixture
def svm(tmp_path):
    X, y = text_like(n=600, d=150)
    write_libsvm(tmp_path / "a.svm", X, y)
    return tmp_path / "a.svm", X, y


@pytest.mark.usefixtures("small_pieces")
def test_libsvm_text_comes_out_shuffled_and_whole(svm, tmp_path):
    path, X, y = svm
    seen = []
    store = df.import_files([path], tmp_path / "a.dfs", progress=lambda done, doing: seen.append((done, doing)))
    assert store.shape == X.shape
    assert rows_of(store.matrix(), store.y) == rows_of(X, y)
    assert not np.array_equal(store.matrix().toarray(), X.toarray())
    again = df.import_files([path], tmp_path / "b.dfs")
    np.testing.assert_array_equal(again.matrix().toarray(), store.matrix().toarray())
    other = df.import_files([path], tmp_path / "c.dfs", seed=1)
    assert not np.array_equal(other.y, store.y)
    assert not list(tmp_path.glob("*.partial"))
    assert len(seen) > 10
    assert seen == sorted(seen)
    assert seen[-1][0] == 1.0


@pytest.mark.usefixtures("small_pieces")
def test_several_compressed_files(svm, tmp_path):
    path, X, y = svm
    text = path.read_bytes()
    (tmp_path / "b.svm.gz").write_bytes(gzip.compress(text))
    (tmp_path / "c.svm.xz").write_bytes(lzma.compress(text))
    store = df.import_files([path, tmp_path / "b.svm.gz", tmp_path / "c.svm.xz"], tmp_path / "a.dfs", dtype="float32")
    assert store.shape == (3 * len(y), X.shape[1])
    assert store.dtype == np.float32
    assert rows_of(store.matrix(), store.y) == rows_of(
        *[np.concatenate([a.astype(t)] * 3) for a, t in ((X.toarray(), "f4"), (y, "f8"))]
    )


def test_files_that_count_from_zero(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1 3:2\n")
    (tmp_path / "b.svm").write_text("-1 0:4 2:1\n")
    store = df.import_files([tmp_path / "a.svm"], tmp_path / "a.dfs")
    assert store.matrix().toarray().tolist() == [[1, 0, 2]]
    both = df.import_files([tmp_path / "a.svm", tmp_path / "b.svm"], tmp_path / "both.dfs")
    assert sorted(both.matrix().toarray().tolist()) == [[0, 1, 0, 2], [4, 0, 1, 0]]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "csv.xz", "parquet"])
def test_tables(kind, tmp_path):
    from pyarrow import csv, parquet

    X, y = text_like(n=700, d=12, per_row=4, dense=True)
    X[:300] = X[:300].round()  # whole numbers first must not settle the type of a column
    labels = np.where(y > 0, "yes", "no")
    table = pyarrow.table({**{f"x{j}": X[:, j] for j in range(12)}, "answer": labels})
    if kind == "parquet":
        parquet.write_table(table, tmp_path / "a.parquet")
    else:
        csv.write_csv(table, tmp_path / "plain.csv")
        pack = {"csv": bytes, "csv.gz": gzip.compress, "csv.xz": lzma.compress}[kind]
        (tmp_path / f"a.{kind}").write_bytes(pack((tmp_path / "plain.csv").read_bytes()))
    store = df.import_files([tmp_path / f"a.{kind}"], tmp_path / "a.dfs", label="answer")
    assert store.feature_names == [f"x{j}" for j in range(12)]
    assert rows_of(store.matrix(), store.y) == rows_of(X, labels)
    problem = df.Problem(store, df.losses.Logistic(store.y), lam=0.01)
    assert problem.loss.classes.tolist() == ["no", "yes"]
    assert df.solve(problem).status is df.Status.CONVERGED


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("kind", ["svm", "svm.gz", "csv"])
def test_stopped_at_every_note_and_resumed_to_the_same_bytes(kind, svm, tmp_path, monkeypatch):
    path, X, y = svm
    if kind == "svm.gz":
        path = tmp_path / "b.svm.gz"
        path.write_bytes(gzip.compress(svm[0].read_bytes()))
    if kind == "csv":
        path = tmp_path / "a.csv"
        lines = [",".join([*(f"x{j}" for j in range(20)), "y"])]
        lines += [
            ",".join(map(repr, [*row, label]))
            for row, label in zip(X.toarray()[:, :20].tolist(), y.tolist(), strict=True)
        ]
        path.write_text("\n".join(lines))
    df.import_files([path, path], tmp_path / "whole.dfs")
    stops, save = [0], importing.Journal.save

    def stop_after(self, state, files):
        save(self, state, files)
        for file in self.folder.iterdir():  # bytes that came after the note
            if file.suffix == ".npy" or file.name.startswith("bucket"):
                with open(file, "ab") as grown:
                    grown.write(b"half a row")
        stops[0] += 1
        raise KeyboardInterrupt

    monkeypatch.setattr(importing.Journal, "save", stop_after)
    while not (tmp_path / "again.dfs").exists():
        try:
            df.import_files([path, path], tmp_path / "again.dfs")
        except KeyboardInterrupt:
            assert (tmp_path / "again.dfs.partial").is_dir()
        assert stops[0] < 200
    assert stops[0] > 5
    names = sorted(file.name for file in (tmp_path / "whole.dfs").iterdir())
    assert names == sorted(file.name for file in (tmp_path / "again.dfs").iterdir())
    for name in names:
        assert (tmp_path / "whole.dfs" / name).read_bytes() == (tmp_path / "again.dfs" / name).read_bytes()


def test_killed_while_it_works(svm, tmp_path):
    path, X, y = svm
    script = (
        "import os, sys; import dualfree as df; from dualfree.store import buckets, importing, sources\n"
        "sources._BLOCK_BYTES, buckets.BUCKET_BYTES, importing._NOTE_SECONDS = 20000, 50000, 0.0\n"
        "os.fsync = lambda _: None\n"
        f"df.import_files([{str(path)!r}] * 4, sys.argv[1])"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "a.dfs")])
    buckets = str(tmp_path / "a.dfs.partial" / "bucket-*")  # by glob, which does not mind a folder that goes meanwhile
    while process.poll() is None and len(glob.glob(buckets)) < 3:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "a.dfs").exists()
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.dfs")], check=True)
    store = df.open_store(tmp_path / "a.dfs")
    assert rows_of(store.matrix(), store.y) == rows_of(np.concatenate([X.toarray()] * 4), np.concatenate([y] * 4))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc, which Linux alone has")
def test_memory_does_not_grow_with_the_files(svm, tmp_path):
    """Twenty times the text, in the same blocks and buckets, takes hardly more memory."""
    script = (
        "import os, sys; import dualfree as df\n"
        "from dualfree.io import libsvm; from dualfree.store import buckets, sources\n"
        "libsvm.PIECE_BYTES, sources._BLOCK_BYTES, buckets.BUCKET_BYTES = 50000, 200000, 400000\n"
        "os.fsync = lambda _: None\n"
        "def peak():\n"
        "    return next(int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        f"few = df.import_files([{str(svm[0])!r}] * 2, sys.argv[1] + '/few.dfs'); before = peak()\n"
        f"many = df.import_files([{str(svm[0])!r}] * 40, sys.argv[1] + '/many.dfs')\n"
        "print(many.page.nbytes, (peak() - before) * 1024)"
    )
    run = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    size, grown = map(int, run.stdout.split())
    assert size > 4_000_000
    assert grown < size / 2


@pytest.mark.usefixtures("small_pieces")
def test_a_full_disk_leaves_a_part_to_go_on_from(svm, tmp_path, monkeypatch):
    scatter = buckets.Buckets.scatter

    def full(self, X, labels, first):
        if first > 200:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "bucket")
        scatter(self, X, labels, first)

    monkeypatch.setattr(buckets.Buckets, "scatter", full)
    with pytest.raises(OSError, match="No space left on device; what is done so far stays in"):
        df.import_files([svm[0]], tmp_path / "a.dfs")
    monkeypatch.setattr(buckets.Buckets, "scatter", scatter)
    store = df.import_files([svm[0]], tmp_path / "a.dfs")
    assert rows_of(store.matrix(), store.y) == rows_of(svm[1], svm[2])


def test_errors_are_one_sentence(svm, tmp_path):
    path, _, _ = svm
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,x\n")
    (tmp_path / "b.csv").write_text("z,c\n1,2\n")
    (tmp_path / "ok.csv").write_text("a,b\n1,2\n")
    (tmp_path / "bad.svm").write_text("1 1:1\n1 1:1 41\n")
    (tmp_path / "empty.svm").write_text("# nothing\n")
    cases = {
        ("bad.svm",): "bad.svm, line 2, column 9: expected ':'",
        ("empty.svm",): "expected at least one example",
        ("a.svm", "ok.csv"): "ok.csv is a table and",
        ("ok.csv", "b.csv"): "b.csv has other columns than",
        ("ok.csv", "a.csv"): "has text as labels",
        ("missing.svm",): "No such file",
        (): "files is empty",
    }
    for names, words in cases.items():
        with pytest.raises((ValueError, OSError), match=words):
            df.import_files([tmp_path / name for name in names], tmp_path / "out" if names else tmp_path / "none")
        for file in tmp_path.glob("out.partial/*"):
            file.unlink()
    df.import_files([path], tmp_path / "a.dfs")
    with pytest.raises(ValueError, match="exists already"):
        df.import_files([path], tmp_path / "a.dfs")
    with pytest.raises(TypeError, match="must be a list"):
        df.import_files(str(path), tmp_path / "b.dfs")
    (tmp_path / "b.dfs.partial").mkdir()
    (tmp_path / "b.dfs.partial" / "thesis.tex").write_text("")
    with pytest.raises(ValueError, match="is in the way"):
        df.import_files([path], tmp_path / "b.dfs")


def test_another_import_in_the_same_place_is_refused(svm, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(importing.Import, "_scatter", stop)
    with pytest.raises(KeyboardInterrupt):
        df.import_files([svm[0]], tmp_path / "a.dfs")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="an import of other files or with other settings"):
        df.import_files([svm[0]], tmp_path / "a.dfs", seed=7)


@pytest.mark.parametrize("step", ["remove", "rename"])
def test_stopped_at_the_very_end(svm, tmp_path, monkeypatch, step):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(*((importing.Journal, "remove") if step == "remove" else (os, "rename")), stop)
    with pytest.raises(KeyboardInterrupt):
        df.import_files([svm[0]], tmp_path / "a.dfs")
    monkeypatch.undo()
    assert not (tmp_path / "a.dfs").exists()
    store = df.import_files([svm[0]], tmp_path / "a.dfs")
    assert rows_of(store.matrix(), store.y) == rows_of(svm[1], svm[2])


def test_rows_without_entries(tmp_path):
    (tmp_path / "a.svm").write_text("1\n-1 2:3\n1\n")
    store = df.import_files([tmp_path / "a.svm"], tmp_path / "a.dfs")
    assert sorted(store.matrix().toarray().tolist()) == [[0, 0], [0, 0], [0, 3]]
