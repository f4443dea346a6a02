"""The LIBSVM writer: the way there and back, what it refuses, and what a full disk leaves behind."""

import errno
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix

from dualfree.io import read_libsvm, streams, write_libsvm


@settings(max_examples=60, deadline=None)
@given(data=st.data(), dtype=st.sampled_from([np.float64, np.float32]), zero_based=st.booleans())
def test_round_trip_is_exact_to_the_bit(data, dtype, zero_based, tmp_path_factory):
    path = tmp_path_factory.mktemp("round") / "trip.svm"
    shape = data.draw(hnp.array_shapes(min_dims=2, max_dims=2, max_side=6))
    width = 8 * np.dtype(dtype).itemsize
    dense = data.draw(
        hnp.arrays(dtype, shape, elements=st.floats(allow_nan=False, allow_infinity=False, width=width))
    )
    y = data.draw(hnp.arrays(np.float64, shape[0], elements=st.floats(allow_nan=False, allow_infinity=False)))
    qid = data.draw(hnp.arrays(np.int64, shape[0]))
    X = csr_matrix(dense)
    for given_X in (X, dense):
        write_libsvm(path, given_X, y, query_id=qid, zero_based=zero_based)
        back, labels, queries = read_libsvm(
            path, n_features=shape[1], dtype=dtype, zero_based=zero_based, query_id=True
        )
        assert back.data.tobytes() == X.data.tobytes()
        assert_array_equal(back.indices, X.indices)
        assert_array_equal(back.indptr, X.indptr)
        assert labels.tobytes() == y.tobytes()
        assert_array_equal(queries, qid)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_writer_compresses_by_suffix_and_splits_large_output(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr("dualfree.io.libsvm_writer._PIECE_BYTES", 300)
    rng = np.random.default_rng(1)
    dense = rng.standard_normal((50, 20)) * (rng.random((50, 20)) < 0.5)
    path = tmp_path / f"a.svm{suffix}"
    write_libsvm(path, dense, np.arange(50))
    assert streams.Decompressed(io.BytesIO(path.read_bytes())).kind == {
        "": None, ".gz": "gzip", ".bz2": "bzip2", ".xz": "xz",
    }[suffix]  # fmt: skip
    X, y = read_libsvm(path, n_features=20)
    assert_array_equal(X.toarray(), dense)
    assert_array_equal(y, np.arange(50))
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_writer_sums_duplicates_and_takes_integers_and_wide_indices(tmp_path):
    path = tmp_path / "a.svm"
    doubled = csr_matrix((np.array([1, 2, 4]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    write_libsvm(path, doubled, [1])
    assert path.read_text() == "1 1:2 3:5\n"
    assert doubled.nnz == 3
    wide = csr_matrix((np.ones(1), np.array([2**40]), np.array([0, 1])), shape=(1, 2**41))
    write_libsvm(path, wide, [0.1])
    assert path.read_text() == f"0.1 {2**40 + 1}:1\n"


@pytest.mark.parametrize(
    ("X", "y", "options", "words"),
    [
        (np.ones((2, 2)), [1], {}, "y must hold one number for each of the 2 rows"),
        (np.ones((1, 2)), [np.nan], {}, "y must be finite"),
        (np.array([[1, np.inf]]), [1], {}, "X must be finite to be written, but it holds inf"),
        (np.ones(3), [1], {}, "two dimensions"),
        (np.ones((0, 3)), [], {}, "at least one row"),
        (np.ones((1, 1)), [1], {"query_id": [0.5]}, "query_id must hold numbers that int64 can hold exactly"),
    ],
)
def test_writer_refuses(X, y, options, words, tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("as it was")
    with pytest.raises(ValueError, match=words):
        write_libsvm(path, X, y, **options)
    assert path.read_text() == "as it was"
    assert len(list(tmp_path.iterdir())) == 1


def test_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.svm"
    path.write_text("as it was")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(streams.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_libsvm(path, np.ones((3, 3)), np.ones(3))
    assert path.read_text() == "as it was"
    assert [p.name for p in tmp_path.iterdir()] == ["a.svm"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device that is always full")
@pytest.mark.parametrize("direct", [True, False])
def test_a_device_that_is_full(tmp_path, direct, monkeypatch):
    real_open = open
    if not direct:
        monkeypatch.setattr(streams, "open", lambda path, mode: real_open("/dev/full", "wb"), raising=False)
    path = Path("/dev/full") if direct else tmp_path / "a.svm"
    with pytest.raises(OSError, match="No space left"):
        write_libsvm(path, np.ones((1000, 30)), np.ones(1000))
    assert list(tmp_path.iterdir()) == []
    assert Path("/dev/full").is_char_device()


def test_symbolic_links_are_followed(tmp_path):
    target, link = tmp_path / "target.svm", tmp_path / "link.svm"
    target.write_text("old")
    link.symlink_to(target)
    write_libsvm(link, np.ones((1, 1)), [1])
    assert link.is_symlink()
    assert target.read_text() == "1 1:1\n"
