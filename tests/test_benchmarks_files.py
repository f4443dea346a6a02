"""The race takes anybody's file, says what it made of its classes, and does not mix up results of different files."""

import dataclasses
import os

import numpy as np
import pytest
import typer
from benchmarks import data, files
from benchmarks.optimum import Optimum
from benchmarks.race.__main__ import _datasets
from benchmarks.race.store import Outcome, Store
from benchmarks.race.tables import ordered, summary_rows
from benchmarks.race.worker import About, Cell, about
from scipy.sparse import csr_matrix, issparse

from dualfree.io import write_libsvm

rng = np.random.default_rng(0)
X = np.where(rng.random((60, 7)) < 0.5, rng.standard_normal((60, 7)), 0.0)
y = np.where(X[:, 0] > 0, 1.0, -1.0)


def write(folder, kind, labels):
    path = str(folder / f"mine.{kind}")
    sparse = csr_matrix(X)
    if kind == "svm":
        write_libsvm(path, sparse, labels)
    elif kind == "dense.npz":
        np.savez(path, X=X.astype(np.float32).astype(float), y=labels)
    elif kind == "sparse.npz":
        np.savez(path, data=sparse.data, indices=sparse.indices, indptr=sparse.indptr, shape=sparse.shape, y=labels)
    else:
        pytest.importorskip("pyarrow")
        names = [*"abcdefg", "label"]
        np.savetxt(path, np.column_stack([X, labels]), delimiter=",", header=",".join(names), comments="")
    return path


@pytest.mark.parametrize("kind", ["svm", "csv", "dense.npz", "sparse.npz"])
def test_every_format_gives_the_same_data(tmp_path, kind):
    found = data.load(write(tmp_path, kind, np.where(y > 0, 7.0, 3.0)))
    assert issparse(found.X) == (kind in ("svm", "sparse.npz"))
    dense = found.X.toarray() if issparse(found.X) else found.X
    np.testing.assert_allclose(dense, X / np.linalg.norm(X, axis=1).max(), rtol=1e-6)
    np.testing.assert_array_equal(found.y, y)
    assert found.provenance == "file"


def test_of_many_classes_the_most_frequent_is_taken_and_said():
    labels = np.array(["c", "a", "b", "a", "b"])
    found, provenance = files.two_classes("mine.csv", labels)
    np.testing.assert_array_equal(found, [-1, 1, -1, 1, -1])  # a and b are equally frequent
    assert provenance == "file, class a against 2 others"


def test_files_that_are_no_race_say_why(tmp_path):
    with pytest.raises(ValueError, match=r"mine.svm: the labels are all 1.0, but the race needs two classes"):
        data.load(write(tmp_path, "svm", np.ones(60)))
    np.savez(tmp_path / "other.npz", X=X, label=y)
    with pytest.raises(ValueError, match="expected the arrays y and X, or y, data, indices, indptr, shape, found X"):
        data.load(str(tmp_path / "other.npz"))
    np.savez(tmp_path / "other.npz", X=X, y=y[:-1])
    with pytest.raises(ValueError, match=r"X has the shape \(60, 7\) and y \(59,\)"):
        data.load(str(tmp_path / "other.npz"))
    np.savez(tmp_path / "other.npz", X=0 * X, y=y)
    with pytest.raises(ValueError, match="every value is 0"):
        data.load(str(tmp_path / "other.npz"))


def test_names_and_paths_are_chosen_side_by_side(tmp_path, monkeypatch):
    path = write(tmp_path, "svm", y)
    monkeypatch.chdir(tmp_path)
    assert _datasets("w8a,mine.svm") == ["w8a", path]
    with pytest.raises(typer.BadParameter, match="has 'w9a', which is no file; the names are"):
        _datasets("w9a")
    (tmp_path / "more").mkdir()
    write(tmp_path / "more", "svm", y)
    with pytest.raises(typer.BadParameter, match=r"two files called 'mine.svm'"):
        _datasets("mine.svm,more/mine.svm")


def test_a_file_has_a_row_in_the_tables(tmp_path):
    cell = Cell(write(tmp_path, "svm", np.arange(60.0) % 3), "logistic", 0.1)
    mine, digits = Outcome(cell, about(cell)), Outcome(Cell("digits", "logistic", 0.1), about(cell))
    assert [o.cell.title for o in ordered([mine, digits], data.NAMES, ["logistic"])] == ["digits", "mine.svm"]
    assert summary_rows([mine], 1e-6)[0][:3] == ["logistic", "mine.svm (file, class 0 against 2 others)", "0.1"]


def test_results_of_another_file_or_of_older_contents_do_not_count(tmp_path):
    path, store = write(tmp_path, "svm", y), Store(tmp_path / "results")
    cell = Cell(path, "logistic", 0.1)
    store.save(Outcome(cell, About(60, 7, 200, "file", Optimum(1.0, 0.0, 0.0))))
    assert store.load(cell).cell == cell
    assert store.load(dataclasses.replace(cell, dataset="/elsewhere/mine.svm")) is None
    later = os.stat(path).st_mtime + 1000
    os.utime(path, (later, later))
    assert store.load(cell) is None
