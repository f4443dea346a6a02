"""CSV and Parquet tables, and the function that tells them from LIBSVM text."""

import gzip
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from dualfree.io import read, read_table, write_libsvm

pyarrow = pytest.importorskip("pyarrow", reason="tables need pyarrow")
parquet = pytest.importorskip("pyarrow.parquet", reason="tables need pyarrow")


def write_csv(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("header", "label", "position"),
    [
        ("a,b,c", None, 2),
        ("a,label,c", None, 1),
        ("target,b,c", None, 0),
        ("y,label,c", None, 1),
        ("a,b,c", "b", 1),
        ("a,b,c", 0, 0),
        ("a,b,label", -2, 1),
    ],
)
def test_which_column_is_the_label(tmp_path, header, label, position):
    data = read_table(write_csv(tmp_path / "a.csv", f"{header}\n1,2,3\n4,5,6\n"), label=label)
    whole = np.array([[1.0, 2, 3], [4, 5, 6]])
    assert_array_equal(data.y, whole[:, position])
    assert_array_equal(data.X, np.delete(whole, position, axis=1))
    assert data.feature_names == [name for i, name in enumerate(header.split(",")) if i != position]
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous


def test_class_names_stay_strings(tmp_path):
    X, y, _ = read_table(write_csv(tmp_path / "a.csv", "a,label\n1,spam\n2,ham\n"))
    assert y.dtype.kind == "U"
    assert y.tolist() == ["spam", "ham"]
    assert X.shape == (2, 1)


def test_parquet_with_many_types(tmp_path):
    path = tmp_path / "a.parquet"
    table = {
        "small": pyarrow.array([1, 2], pyarrow.int8()),
        "single": pyarrow.array([0.5, 1.5], pyarrow.float32()),
        "flag": pyarrow.array([True, False]),
        "kind": pyarrow.array(["x", "y"]).dictionary_encode(),
    }
    parquet.write_table(pyarrow.table(table), path)
    data = read(path, label="kind")
    assert_array_equal(data.X, [[1, 0.5, 1], [2, 1.5, 0]])
    assert data.y.tolist() == ["x", "y"]
    assert data.feature_names == ["small", "single", "flag"]


@pytest.mark.parametrize(
    ("text", "label", "words"),
    [
        ("a,b,label\n1,x,1\n2,z,1\n", None, "column 'b' holds string values, but features must be numbers"),
        ("a,b,label\n1,2,1\n2,,1\n", None, "column 'b' has no value in data row 2"),
        ("a,label\n1,2\n2,\n", None, "column 'label' has no value in data row 2"),
        ("a,label\n1,2\ninf,1\n", None, "column 'a' holds inf in data row 2"),
        ("a,b\n1,2\n", "c", "expected one column called 'c' for the labels, the columns are a, b"),
        ("a,a,b\n1,2,3\n", "a", "expected one column called 'a' for the labels, found 2"),
        ("a,b\n1,2\n", 2, "there is no column 2 for the labels; there are 2"),
        ("a\n1\n", None, "found 1 columns and 1 rows"),
        ("a,b\n", None, "found 2 columns and 0 rows"),
        ("a,b\n1,2,3\n", None, "Expected 2 columns, got 3"),
        ("", None, "Empty CSV file"),
    ],
)
def test_refused_in_one_sentence(tmp_path, text, label, words):
    path = write_csv(tmp_path / "a.csv", text)
    with pytest.raises(ValueError, match=words) as caught:
        read_table(path, label=label)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_without_pyarrow(tmp_path, monkeypatch):
    path = write_csv(tmp_path / "a.csv", "a,b\n1,2\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.csv", None)
    with pytest.raises(ImportError, match=r'pip install "dualfree\[tables\]"'):
        read_table(path)


def test_read_tells_by_the_suffix(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert_array_equal(read(tmp_path / "a.csv.gz").X, [[1]])
    write_libsvm(tmp_path / "a.txt.gz", np.eye(2), [1, 2])
    data = read(tmp_path / "a.txt.gz")
    assert_array_equal(data.X.toarray(), np.eye(2))
    assert data.feature_names is None
    with pytest.raises(ValueError, match="label='a' is for tables"):
        read(tmp_path / "a.txt.gz", label="a")
