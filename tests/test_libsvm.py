"""The LIBSVM reader: what it accepts, and what it refuses and where."""

import bz2
import gzip
import io
import lzma
import pickle
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_svmlight_file

import dualfree.io.libsvm as reader
from dualfree.io import LibsvmError, read_libsvm

COMPRESS = {"plain": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


def parse(text: bytes, **options):
    return read_libsvm(io.BytesIO(text), **options)


def test_everything_the_format_allows():
    text = b"# a comment\n\n+1 qid:3 1:0.5\t3:1e-5 # more\r\n  -1 qid:-4\n \t\r\n"
    text += b"2.5 qid:3 2:-.25#x\n1e2 qid:0 3:+7. 1:-0"
    X, y, qid = parse(text, query_id=True)
    assert_array_equal(X.toarray(), [[0.5, 0, 1e-5], [0, 0, 0], [0, -0.25, 0], [0, 0, 7]])
    assert_array_equal(y, [1, -1, 2.5, 100])
    assert_array_equal(qid, [3, -4, 3, 0])
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert qid.dtype == np.int64
    assert np.signbit(X[3].data[0])
    assert_array_equal(parse(text)[0].toarray(), X.toarray())


# Halfway cases, limits of the fast path, numbers that round twice if they go to float32 through float64.
NUMBERS = """
    0 7 8.5 .5 5. 1E5 1e+5 0.1 0.30000000000000004 0.99999999999999994 16777217 33554435 9007199254740993
    123456789012345678 179769313486231570 1e22 1e23 5e-324 1e-400 123e-500 0.000000000000000000000001
    2.2250738585072011e-308 1.00000017881393432617187499 1.00000017881393432617187501 0.50000008940696716
    100000000000000000000000000000000000e-35
"""


def nearest_single(number: str) -> np.float32:
    near = np.float32(float(number))
    candidates = [np.nextafter(near, np.float32(-1)), near, np.nextafter(near, np.float32(np.inf))]
    errors = [abs(Fraction(float(c)) - Fraction(number)) for c in candidates]
    nearest = [c for c, error in zip(candidates, errors, strict=True) if error == min(errors)]
    return min(nearest, key=lambda c: int(c.view(np.uint32)) & 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("number", NUMBERS.split())
def test_numbers_are_correctly_rounded(number, dtype):
    expected = nearest_single(number) if dtype == np.float32 else float(number)
    for sign in ("", "-", "+"):
        X, _ = parse(f"1 1:{sign}{number}".encode(), dtype=dtype)
        assert X.dtype == dtype
        assert X.data[0] == (-expected if sign == "-" else expected)


def test_labels_and_values_far_too_small_become_zero_of_the_same_sign():
    X, y = parse(b"-0." + 400 * b"0" + b"1 1:-1e-99999999999999999999 2:1e-50", dtype=np.float32)
    assert y[0] == 0
    assert np.signbit(y[0])
    assert_array_equal(X.data, [0, 0])


MALFORMED = [
    (b"", {}, None, None, "found none"),
    (b"# only\n\n", {}, None, None, "found none in 2 lines"),
    (b"1 1:1\nx 1:1\n", {}, 2, 1, "number as the label, found 'x'"),
    (b"1 1:1\n  1,2 1:1\n", {}, 2, 3, "number as the label, found '1,2'"),
    (b"1:1 2:1\n", {}, 1, 1, "label, found '1:1'"),
    (b"+-1 1:1", {}, 1, 1, "label, found '+-1'"),
    (b"nan 1:1", {}, 1, 1, "finite number as the label, found 'nan'"),
    (b"1 1:1 41", {}, 1, 9, "':' after feature index 41, found end of line (is the file cut off?)"),
    (b"1 1:1 41\n", {}, 1, 9, "':' after feature index 41, found end of line."),
    (b"1 1:1 41:", {}, 1, 10, "value of feature 41, found end of line (is the file cut off?)"),
    (b"1 41: 3\n", {}, 1, 6, "value of feature 41, found a blank"),
    (b"1 41 :3\n", {}, 1, 5, "':' after feature index 41, found a blank"),
    (b"1 4:1e\n", {}, 1, 5, "value of feature 4, found '1e'"),
    (b"1 4:0x10\n", {}, 1, 5, "value of feature 4, found '0x10'"),
    (b"1 4:1:2\n", {}, 1, 5, "value of feature 4, found '1:2'"),
    (b"1 4:--1\n", {}, 1, 5, "value of feature 4, found '--1'"),
    (b"1 4:" + 60 * b"z", {}, 1, 5, "..."),
    (b"1 4:-inf\n", {}, 1, 5, "finite number as the value of feature 4, found '-inf'"),
    (b"1 4:NaN # c\n", {}, 1, 5, "found 'NaN'"),
    (b"1 4:1e999\n", {}, 1, 5, "found '1e999'"),
    (b"1 -4:1\n", {}, 1, 3, "feature index (a whole number, 0 or more), found '-4:1'"),
    (b"1 a:1\n", {}, 1, 3, "found 'a:1'"),
    (b"1 1.5:1\n", {}, 1, 4, "':' after feature index 1, found '.5:1'"),
    (b"1 1:1\x002:1\n", {}, 1, 5, "value of feature 1"),
    (b"1 \xff:1\n", {}, 1, 3, r"\xff"),
    (b"1 1234567890123456789:1\n", {}, 1, 3, "at most 18 digits"),
    (b"1 3:1 4:1 3:2\n", {}, 1, 11, "feature index 3 appears twice"),
    (b"1 qid:1 3:1\t3:1\n", {}, 1, 13, "feature index 3 appears twice"),
    (b"1 1:1\n1 0:1\n", {"zero_based": False}, 2, 3, "zero_based=True"),
    (
        b"1 1:1\n1 2:1 5:1\n",
        {"n_features": 4},
        2,
        7,
        "index 5 is beyond n_features=4 (the last index allowed is 4)",
    ),
    (b"1 4:1", {"n_features": 4, "zero_based": True}, 1, 3, "the last index allowed is 3"),
    (b"\n1 2:1 4:1 1:1\n1 0:1", {"n_features": 4}, 2, 7, "the last index allowed is 3"),
    (b"1 qid:x 1:1", {}, 1, 3, "'qid:' and a whole number, found 'qid:x'"),
    (b"1 qid:99999999999999999999 1:1", {}, 1, 3, "'qid:' and a whole number"),
    (b"1 1:1\n", {"query_id": True}, 1, 3, "because query_id=True, found '1:1'"),
]


@pytest.mark.parametrize(("text", "options", "line", "column", "words"), MALFORMED)
def test_malformed_text_is_refused_with_its_place(text, options, line, column, words):
    with pytest.raises(LibsvmError) as caught:
        parse(text, **options)
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert words in str(error)
    assert str(error).endswith(".")
    assert str(error).startswith("<stream>" if line is None else f"<stream>, line {line}, column {column}: ")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("options", [{"dtype": np.int32}, {"n_features": 0}, {"zero_based": "maybe"}])
def test_bad_arguments(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        parse(b"1 1:1", **options)


def test_text_files_and_missing_files(tmp_path):
    with pytest.raises(TypeError, match="binary mode"):
        read_libsvm(io.StringIO("1 1:1"))
    with pytest.raises(FileNotFoundError):
        read_libsvm(tmp_path / "none.svm")


@pytest.mark.parametrize("zero_based", ["auto", True, False])
def test_index_base(zero_based):
    X, _ = parse(b"1 1:1 2:2\n", zero_based=zero_based)
    assert_array_equal(X.toarray(), [[0, 1, 2]] if zero_based is True else [[1, 2]])
    if zero_based is not False:
        X, _ = parse(b"1 1:1 2:2\n1 0:3\n", zero_based=zero_based)
        assert_array_equal(X.toarray(), [[0, 1, 2], [3, 0, 0]])


@pytest.mark.parametrize("first", [b"", b"1 0:1\n"])
@pytest.mark.parametrize("index", [2**31 - 1, 2**31, 2**31 + 1, 10**18 - 1])
def test_large_indices_widen_the_arrays(index, first):
    X, y = parse(first + b"1 5:2\n-1 3:1 %d:4\n1 6:1\n" % index)
    base = 0 if first else 1
    assert X.shape == (3 + bool(first), index + 1 - base)
    assert X.indices.dtype == (np.int64 if X.shape[1] > 2**31 - 1 else np.int32)
    assert_array_equal(X.indices[bool(first) :], np.array([5, 3, index, 6]) - base)
    assert y.size == X.shape[0]


def random_text(rng: np.random.Generator) -> bytes:
    lines = []
    for _ in range(rng.integers(1, 40)):
        columns = np.flatnonzero(rng.random(30) < 0.3) + 1
        numbers = rng.standard_normal(columns.size) * 10.0 ** rng.integers(-8, 8, columns.size)
        forms = rng.choice(["{:.17g}", "{:.3f}", "{:.0f}", "{:e}", "{:+.5g}"], columns.size)
        entries = [f"{j}:{form.format(v)}" for j, form, v in zip(columns, forms, numbers, strict=True)]
        separator = rng.choice([" ", "  ", "\t"])
        end = rng.choice(["\n", "\r\n", " # comment 1:2\n", "\n\n"])
        lines.append(separator.join([str(rng.integers(-2, 3)), *entries]) + end)
    return "".join(lines).encode()


@pytest.mark.parametrize("seed", range(30))
def test_same_as_scikit_learn(seed, monkeypatch):
    # Tiny pieces put the cuts everywhere, and lines longer than a piece make the buffer grow.
    monkeypatch.setattr(reader, "PIECE_BYTES", 8 + 16 * seed)
    text = random_text(np.random.default_rng(seed))
    X, y = parse(text, n_features=31)
    expected, labels = load_svmlight_file(io.BytesIO(text), n_features=31)
    assert_array_equal(X.toarray(), expected.toarray())
    assert_array_equal(X.indptr, expected.indptr)
    assert_array_equal(y, labels)


def test_error_place_does_not_depend_on_the_pieces(monkeypatch):
    text = 50 * b"1 1:1 2:2\n" + b"-1 3:3 4\n" + 50 * b"1 1:1\n"
    for size in (8, 9, 100, 1 << 20):
        monkeypatch.setattr(reader, "PIECE_BYTES", size)
        with pytest.raises(LibsvmError, match=r"line 51, column 9: .* found end of line\.$"):
            parse(text)


@pytest.mark.parametrize("kind", COMPRESS)
def test_compressed_by_content_not_by_name(kind, tmp_path):
    text = b"".join(b"%d %d:0.%d\n" % (i, i + 1, i + 1) for i in range(5000))
    path = tmp_path / "file.dat"
    path.write_bytes(COMPRESS[kind](text))
    X, y = read_libsvm(path)
    assert_array_equal(y, np.arange(5000))
    assert X.shape == (5000, 5000)
    with path.open("rb") as file:
        assert (read_libsvm(file)[0] != X).nnz == 0
        assert not file.closed


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "xz"])
def test_cut_or_damaged_streams(kind, tmp_path):
    rng = np.random.default_rng(0)
    whole = COMPRESS[kind](b"".join(b"1 1:%.17g\n" % v for v in rng.random(30000)))
    path = tmp_path / "file.svm"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(LibsvmError, match=f"file.svm, line [0-9]+: the {kind} stream is cut off"):
        read_libsvm(path)
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes(64) + whole[middle + 64 :])
    with pytest.raises(LibsvmError, match=f"the {kind} stream is damaged|line"):
        read_libsvm(path)
