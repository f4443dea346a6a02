"""Data that are wrong: one sentence that names the argument, the value and what would be right."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree.losses import Huber, Logistic, SmoothedHinge, Squared, SquaredHinge
from small_problems import data, labels

X = data()
Y = labels(X)


def csr():
    return sparse.csr_array(X)


def make(X=X, y=Y, lam=0.1, weight=None):
    return df.Problem(X, Logistic(y, weight=weight), lam=lam)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("convert", [np.array, sparse.csr_array, lambda a: a.astype(np.float32)])
def test_not_finite_in_x(convert, value):
    bad = X.copy()
    bad[7, 2] = value
    with pytest.raises(ValueError, match=r"X has NaN or infinity in row 7, column 2; remove or impute"):
        make(convert(bad))


@pytest.mark.parametrize(("value", "shown"), [(np.nan, "nan"), (np.inf, "inf")])
def test_not_finite_in_y_and_weight(value, shown):
    bad = Y.copy()
    bad[5] = value
    with pytest.raises(ValueError, match=rf"y\[5\] is {shown}; every label must be finite"):
        Logistic(bad)
    with pytest.raises(ValueError, match=rf"y\[5\] is {shown}; every entry must be finite"):
        Squared(bad)
    with pytest.raises(ValueError, match=rf"weight\[5\] is {shown}; every entry must be finite"):
        Logistic(Y, weight=bad)


@pytest.mark.parametrize(
    ("bad", "error", "sentence"),
    [
        (X.tolist(), TypeError, r"X is a list; it must be a SciPy CSR matrix or a NumPy array"),
        (X[0], ValueError, r"X has shape \(8,\); it must have two dimensions"),
        (X[None], ValueError, r"X has shape \(1, 60, 8\); it must have two dimensions"),
        (sparse.coo_array(X[0]), ValueError, r"X has shape \(8,\); it must have two dimensions"),
        (sparse.csc_array(X), TypeError, r"X is a sparse csc matrix; convert it once with X\.tocsr\(\)"),
        (sparse.coo_array(X), TypeError, r"X is a sparse coo matrix; convert it once with X\.tocsr\(\)"),
        (X.astype(np.int64), TypeError, r"X has dtype int64; it must be float32 or float64"),
        (sparse.csr_array(X.astype(np.int32)), TypeError, r"X has dtype int32; it must be float32 or float64"),
        (X.astype(complex), TypeError, r"X has dtype complex128; it must be float32 or float64"),
        (X.astype(">f8"), TypeError, r"X has dtype >f8; it must be float32 or float64"),
        (X.astype(object), TypeError, r"X has dtype object; it must be float32 or float64"),
        (np.ma.masked_array(X, X > 0), TypeError, r"X is a masked array; fill or drop"),
        (np.empty((0, 8)), ValueError, r"X has shape \(0, 8\): it needs at least one row and one column"),
        (np.empty((60, 0)), ValueError, r"X has shape \(60, 0\): it needs at least one row and one column"),
        (sparse.csr_array((0, 8)), ValueError, r"X has shape \(0, 8\): it needs at least one row"),
        (X[:9], ValueError, r"X has 9 rows but y has 60 entries; they must be equal"),
        (None, TypeError, r"X is a NoneType; it must be"),
    ],
)
def test_x_of_the_wrong_kind(bad, error, sentence):
    with pytest.raises(error, match=sentence):
        make(bad)


def test_records_whose_fields_are_not_aligned():
    records = np.zeros((60, 8), dtype=[("flag", "u1"), ("value", "f8")])
    with pytest.raises(ValueError, match=r"X is a view whose numbers are not aligned in memory"):
        make(records["value"])


@pytest.mark.parametrize(
    ("break_it", "sentence"),
    [
        (lambda c: c.indices.__setitem__(3, 99), r"X has column index 99 in row \d+, but only 8 columns: .* 0\.\.7"),
        (lambda c: c.indices.__setitem__(3, -1), r"X has column index -1 in row \d+, but only 8 columns"),
        (lambda c: c.indices.__setitem__(1, c.indices[0]), r"X has column \d twice in row 0; call X\.sum_duplicates"),
        (lambda c: c.indptr.__setitem__(0, 1), r"X\.indptr must start at 0, .* broken at row 0"),
        (lambda c: c.indptr.__setitem__(5, 10**6), r"X\.indptr must .* stay within X\.data, .* broken at row 4"),
        (lambda c: c.indptr.__setitem__(5, 0), r"X\.indptr must .* never decrease .* broken at row 4"),
        (lambda c: setattr(c, "indptr", c.indptr[:-3]), r"X\.indptr has 58 entries; for 60 rows it must have 61"),
        (lambda c: setattr(c, "data", c.data[:9]), r"X\.indptr must .* stay within X\.data"),
        (lambda c: setattr(c, "data", np.repeat(c.data, 2)[::2]), r"X\.data, X\.indices and X\.indptr must be contig"),
    ],
)
def test_broken_csr(break_it, sentence):
    bad = csr()
    break_it(bad)
    with pytest.raises(ValueError, match=sentence):
        make(bad)


def test_mixed_index_types():
    bad = csr()
    bad.indices = bad.indices.astype(np.int64)
    with pytest.raises(TypeError, match=r"X\.indices is int64 and X\.indptr int32; both must be int32 or both int64"):
        make(bad)


@pytest.mark.parametrize(
    ("lam", "error", "sentence"),
    [
        (0, ValueError, r"lam is 0; it must be a finite number above 0"),
        (-1.5, ValueError, r"lam is -1\.5; it must be a finite number above 0"),
        (np.nan, ValueError, r"lam is nan; it must be a finite number above 0"),
        (np.inf, ValueError, r"lam is inf; it must be a finite number above 0"),
        ("0.1", TypeError, r"lam is '0\.1'; it must be a number"),
        (True, TypeError, r"lam is True; it must be a number"),
        (None, TypeError, r"lam is None; it must be a number"),
    ],
)
def test_lambda(lam, error, sentence):
    with pytest.raises(error, match=sentence):
        make(lam=lam)


@pytest.mark.parametrize("loss", [Logistic, SquaredHinge, SmoothedHinge])
def test_number_of_classes(loss):
    with pytest.raises(ValueError, match=rf"y has 1 class \(1\.0\); {loss.__name__} needs exactly two"):
        loss(np.ones(5))
    with pytest.raises(ValueError, match=rf"y has 3 classes \(a, b, c\); {loss.__name__} needs exactly two"):
        loss(["a", "b", "c"])
    with pytest.raises(ValueError, match=r"y has 9 classes \(0, 1, 2, 3, 4, \.\.\.\)"):
        loss(np.arange(9))
    with pytest.raises(TypeError, match=r"y must be a vector of labels that can be sorted, of one type"):
        loss(["a", None, "b"])


@pytest.mark.parametrize("loss", [Logistic, Squared])
def test_shapes_of_y_and_weight(loss):
    with pytest.raises(ValueError, match=r"y is empty; a loss needs at least one example"):
        loss([])
    with pytest.raises(ValueError, match=r"y has shape \(60, 1\); it must be a vector"):
        loss(Y[:, None])
    with pytest.raises(ValueError, match=r"weight has 3 entries; it must have 60"):
        loss(Y, weight=[1, 2, 3])


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (["a", "b"], r"y must be a vector of numbers, but it is a list of other things"),
        ([[1.0, 2.0], [3.0]], r"y must be a vector of numbers, but it is a list of other things"),
        (np.array([1j, 2.0]), r"y must be a vector of numbers, but it is an array of complex128"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), r"y is a masked array; fill or drop"),
        (5.0, r"y is 5\.0; it must be a vector"),
        (None, r"y .*None"),
    ],
)
def test_y_that_is_no_vector_of_numbers(bad, sentence):
    with pytest.raises(TypeError, match=sentence):
        Squared(bad)


def test_parameters_of_losses():
    with pytest.raises(ValueError, match=r"gamma is 0; it must be a finite number above 0"):
        SmoothedHinge(Y, gamma=0)
    with pytest.raises(ValueError, match=r"delta is -1; it must be a finite number above 0"):
        Huber(Y, delta=-1)


def test_loss_must_be_a_loss():
    with pytest.raises(TypeError, match=r"loss is 'logistic'; it must be one of dualfree\.losses, such as Logistic"):
        df.Problem(X, "logistic", lam=0.1)


def test_points_of_the_wrong_length():
    small = make()
    with pytest.raises(ValueError, match=r"w has 3 entries; it must have 8"):
        small.value(np.zeros(3))
    with pytest.raises(TypeError, match=r"w is 0\.0; it must be a vector"):
        small.gradient(0.0)
    with pytest.raises(ValueError, match=r"alpha has 3 entries; it must have 60"):
        small.primal(np.zeros(3))
    with pytest.raises(ValueError, match=r"alpha\[0\] is nan; every entry must be finite"):
        small.dual_value(np.full(60, np.nan))
    with pytest.raises(ValueError, match=r"w has 3 entries; it must have 8"):
        small.examples.margins(np.zeros(3))
    with pytest.raises(ValueError, match=r"indices names example 60; examples are numbered 0\.\.59"):
        small.examples.margins(np.zeros(8), np.array([0, 60]))


def test_dual_needs_convexity():
    negative = make(weight=np.r_[-2.0, np.ones(59)])
    for asked in (lambda: negative.dual_value(np.zeros(60)), lambda: df.solve(negative, step="theorem-2")):
        with pytest.raises(ValueError, match=r"needs every φ_i to be convex, but weight\[0\] is -2, .*theorem-1"):
            asked()
