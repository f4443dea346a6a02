"""Datasets by name: where they are looked for, what is checked, and what a stand-in imitates."""

import dataclasses
import functools
import http.server
import os
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix

from dualfree import datasets
from dualfree.datasets import files, registry
from dualfree.datasets.shapes import SHAPES
from dualfree.io import write_libsvm

TINY = registry.Entry(
    name="w8a", n=3, d=4, nnz=4, classes={-1: 2, 1: 1}, positive=1, source="a test", urls=("http://127.0.0.1:9/w8a",)
)  # fmt: skip
X = csr_matrix(np.array([[1.0, 0, 2, 0], [0, 0, 0, 3], [0, 0.1, 0, 0]]))
Y = np.array([-1.0, 1, -1])


@pytest.fixture
def real_files():
    if not os.environ.get("DUALFREE_DATA"):
        pytest.skip("DUALFREE_DATA does not name a folder with the real files")


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Give an empty data folder and an empty cache, and make w8a tiny."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    data.mkdir()
    monkeypatch.setenv("DUALFREE_DATA", str(data))
    monkeypatch.setenv("DUALFREE_CACHE", str(cache))
    monkeypatch.setitem(registry.ENTRIES, "w8a", TINY)
    return data, cache


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def home(tmp_path):
    """Serve a folder over HTTP, as a public home does. Gives the folder and its address."""
    folder = tmp_path / "home"
    folder.mkdir()
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def at_home(monkeypatch, entry, address, *names):
    changed = dataclasses.replace(entry, urls=tuple(address + name for name in names))
    monkeypatch.setitem(registry.ENTRIES, entry.name, changed)


@pytest.mark.parametrize("suffix", ["", ".xz", ".gz", ".bz2"])
def test_a_file_in_the_users_folder(places, suffix):
    write_libsvm(places[0] / f"w8a.svm{suffix}", X, Y)
    data = datasets.load("w8a")
    assert_array_equal(data.X.toarray(), X.toarray())
    assert_array_equal(data.y, Y)
    assert (data.name, data.provenance) == ("w8a", "real")
    assert datasets.describe("w8a").available == "real"
    assert not places[1].exists()


def test_nowhere_to_be_had(places):
    assert datasets.describe("w8a").available is None
    with pytest.raises(datasets.DatasetUnavailable) as caught:
        datasets.load("w8a")
    for words in (str(places[0]), str(places[1]), "DUALFREE_DATA", "standin=True", TINY.urls[0]):
        assert words in str(caught.value)
    assert list(places[1].iterdir()) == []


def test_download_is_cached_and_later_damage_noticed(places, home, monkeypatch):
    folder, address = home
    write_libsvm(folder / "w8a.bz2", X, Y)
    at_home(monkeypatch, TINY, address, "w8a.bz2")
    assert_array_equal(datasets.load("w8a").y, Y)
    assert sorted(p.name for p in places[1].iterdir()) == ["w8a.svm.bz2", "w8a.svm.bz2.sha256"]
    (folder / "w8a.bz2").unlink()
    assert_array_equal(datasets.load("w8a").y, Y)
    write_libsvm(places[1] / "w8a.svm.bz2", X, Y[[1, 0, 2]])
    with pytest.raises(datasets.DatasetMismatch, match="changed since it was downloaded"):
        datasets.load("w8a")


@pytest.mark.parametrize("fault", ["another file", "not LIBSVM text", "missing"])
def test_a_bad_download_leaves_nothing(places, home, monkeypatch, fault):
    folder, address = home
    if fault == "another file":
        write_libsvm(folder / "w8a", X[:2], Y[:2])
    elif fault == "not LIBSVM text":
        (folder / "w8a").write_text("<html>We have moved</html>")
    at_home(monkeypatch, TINY, address, "w8a")
    kind = datasets.DatasetUnavailable if fault == "missing" else datasets.DatasetMismatch
    with pytest.raises(kind, match=address):
        datasets.load("w8a")
    assert list(places[1].iterdir()) == []


def test_dorothea_is_converted_from_its_own_form(places, home, monkeypatch):
    folder, address = home
    (folder / "d.data").write_text("1 3 \n4 2\n2 \n")
    (folder / "d.labels").write_text("-1\n1\n-1\n")
    entry = dataclasses.replace(TINY, name="dorothea", nnz=5)
    at_home(monkeypatch, entry, address, "d.data", "d.labels")
    loaded, y = datasets.load("dorothea")
    assert_array_equal(loaded.toarray(), [[1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 0, 0]])
    assert_array_equal(y, Y)
    assert (places[1] / "dorothea.svm.xz").is_file()


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [(X[:2], Y[:2], "expected 3 rows and 4 nonzeros, found 2 and 3"), (X, -Y, "expected the labels")],
)
def test_a_file_under_the_wrong_name(places, X, y, words):
    write_libsvm(places[0] / "w8a.svm", X, y)
    with pytest.raises(datasets.DatasetMismatch, match=words):
        datasets.load("w8a")


@pytest.mark.parametrize("by", ["nnz", "fingerprint"])
def test_a_reconstruction_is_called_one(places, monkeypatch, by):
    mark = files.fingerprint(X, Y) if by == "fingerprint" else None
    remade = registry.Reconstruction(nnz=4, difference="other labels", fingerprint=mark)
    entry = dataclasses.replace(TINY, nnz=4 if mark else 5, reconstruction=remade)
    monkeypatch.setitem(registry.ENTRIES, "w8a", entry)
    write_libsvm(places[0] / "w8a.svm.gz", X, Y)
    assert datasets.load("w8a").provenance == "reconstructed"
    about = datasets.describe("w8a")
    assert (about.available, about.nnz, about.difference) == ("reconstructed", 4, "other labels")
    original = X if by == "fingerprint" else X + csr_matrix(([1.0], ([1], [0])), shape=X.shape)
    write_libsvm(places[0] / "w8a.svm", original, Y[[1, 0, 2]])
    assert datasets.load("w8a").provenance == "real"


def test_names_and_their_errors():
    assert datasets.names() == ("w8a", "dorothea", "protein", "rcv1", "cov1")
    with pytest.raises(ValueError, match="no dataset called 'w9a'; the names are w8a, dorothea"):
        datasets.load("w9a")
    with pytest.raises(ValueError, match="n is for stand-ins"):
        datasets.load("w8a", n=5)
    with pytest.raises(ValueError, match="n must be at least 1"):
        datasets.load("w8a", standin=True, n=0)


@pytest.mark.parametrize("name", ["w8a", "protein", "cov1", "dorothea", "rcv1"])
def test_standin_has_the_shape_of_the_original(name):
    entry = registry.find_entry(name)
    n = min(entry.n, 2000)
    data = datasets.load(name, standin=True, n=n)
    lengths = np.diff(data.X.indptr)
    assert data.provenance == "stand-in"
    assert data.X.shape == (n, entry.d)
    assert data.X.has_canonical_format
    assert np.isfinite(data.X.data).all()
    assert (data.X.data != 0).all()
    assert lengths.mean() == pytest.approx(entry.nnz / entry.n, rel=0.025)
    assert lengths.max() == SHAPES[name].row_lengths[-1]
    share = entry.classes[entry.positive] / entry.n
    assert (data.y == 1).mean() == pytest.approx(share, abs=1 / n)
    own = datasets.load(name, standin=True, n=n, original_labels=True)
    assert_array_equal(np.unique(own.y), sorted(entry.classes))
    assert_array_equal(own.y == entry.positive, data.y == 1)


def test_standin_depends_on_the_seed_alone():
    first, again, other = (datasets.load("w8a", standin=True, n=300, seed=seed) for seed in (1, 1, 2))
    assert (first.X != again.X).nnz == 0
    assert_array_equal(first.y, again.y)
    assert (first.X != other.X).nnz > 0


def test_standin_labels_can_be_learnt():
    X, y = datasets.load("protein", standin=True, n=3000)
    fitted = np.linalg.lstsq(X.toarray(), y, rcond=None)[0]
    assert np.corrcoef(X @ fitted, y)[0, 1] > 0.4


def test_scaled_shares_indices_and_copies_values():
    data = datasets.load("cov1", standin=True, n=200)
    before = data.X.data.copy()
    scaled = data.scaled()
    assert np.sqrt(scaled.X.power(2).sum(axis=1).max()) == pytest.approx(1)
    assert_array_equal(data.X.data, before)
    assert np.shares_memory(scaled.X.indices, data.X.indices)


@pytest.mark.usefixtures("real_files")
@pytest.mark.parametrize("name", ["w8a", "dorothea", "protein", "rcv1", "cov1"])
def test_real_files_are_what_they_should_be(name):
    entry = registry.find_entry(name)
    if files.find_file(name) is None:
        pytest.skip(f"{name} is not in DUALFREE_DATA")
    data = datasets.load(name)
    assert data.X.shape == (entry.n, entry.d)
    assert data.provenance == ("real" if entry.reconstruction is None else "reconstructed")
    standin = datasets.load(name, standin=True)
    assert standin.X.nnz == pytest.approx(data.X.nnz, rel=0.02)
    assert np.diff(standin.X.indptr).max() == np.diff(data.X.indptr).max()
    assert (standin.y == 1).sum() == (data.y == 1).sum()
    deciles = np.linspace(0, 1, 11)
    real, made = (np.quantile(np.diff(X.indptr), deciles) for X in (data.X, standin.X))
    assert np.abs(real - made).max() <= 0.02 * real.max() + 1
