"""The problem: constants, refusals in words, and inputs that are viewed rather than copied."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from helpers.problems import LAYOUTS, LOSSES, random_twins, with_layout
from helpers.vectors import EVERY_LOSS, SHAPES, VECTOR_LOSSES, as_list, every_twins, shaped, vector_twins

ONES = df.losses.Squared(np.ones(3))


WEIGHTS = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


@WEIGHTS
@pytest.mark.parametrize("name", sorted(LOSSES))
def test_constants_equal_the_reference(name, weighted):
    fast, slow = random_twins(name, weighted=weighted)
    np.testing.assert_allclose(fast.l, slow.l, rtol=1e-14)
    assert (np.mean(fast.common_l), np.max(fast.common_l)) == pytest.approx((slow.l.mean(), slow.l.max()), rel=1e-14)
    np.testing.assert_allclose(fast.L, slow.L, rtol=1e-14)
    np.testing.assert_allclose(fast.norms, np.linalg.norm(slow.X, axis=1), rtol=1e-14)
    alpha = np.random.default_rng(0).normal(size=fast.n)
    np.testing.assert_allclose(fast.primal(alpha), slow.primal(alpha), rtol=1e-12, atol=1e-14)
    w = fast.primal(alpha)
    found = [slow.derivative(i, slow.X[i] @ w) for i in range(slow.n)]
    np.testing.assert_allclose(fast.derivatives(w), found, rtol=1e-12, atol=1e-14)


@WEIGHTS
@pytest.mark.parametrize("name", VECTOR_LOSSES)
def test_several_outputs_equal_the_reference(name, weighted):
    fast, slow = vector_twins(name, weighted=weighted)
    rng = np.random.default_rng(1)
    w = rng.normal(size=fast.d)
    assert fast.value(w) == pytest.approx(slow.value(w), rel=1e-12)
    np.testing.assert_allclose(fast.gradient(w).ravel(), slow.gradient(w), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(fast.norms, [np.linalg.norm(A, 2) for A in slow.A], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(fast.l, slow.l, rtol=1e-14)
    assert (np.mean(fast.common_l), np.max(fast.common_l)) == pytest.approx((slow.l.mean(), slow.l.max()), rel=1e-14)
    alpha = -(1 - 1e-9) * fast.derivatives(w)  # inside the conjugates' domain
    np.testing.assert_allclose(fast.primal(alpha).ravel(), slow.primal(as_list(fast, alpha)), rtol=1e-11, atol=1e-13)
    assert fast.dual_value(alpha) == pytest.approx(slow.dual_value(as_list(fast, alpha)), rel=1e-9, abs=1e-12)
    assert fast.evaluate(w, alpha).duality_gap == pytest.approx(fast.gap(w, alpha), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", EVERY_LOSS)
def test_gradient_by_finite_differences(name):
    problem, _ = every_twins(name, weighted=True)
    w = np.random.default_rng(3).normal(size=problem.d)
    steps = 1e-6 * np.eye(problem.d)
    differences = [(problem.value(w + e) - problem.value(w - e)) / 2e-6 for e in steps]
    np.testing.assert_allclose(problem.gradient(w).ravel(), differences, atol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_data_are_viewed_even_read_only(layout, dtype, shape):
    X = with_layout(np.arange(12.0, dtype=dtype).reshape(3, 4), layout)
    stored = [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]
    for array in stored:
        array.flags.writeable = False
    problem = shaped(shape, X, start=[0, 1, 3])
    rows = problem.examples.rows if shape == "blocks" else problem.examples
    for array, native in zip(stored, rows.native, strict=False):
        assert np.shares_memory(array, native)
    assert df.solve(problem, max_epochs=5).w.shape == ((4, 2) if shape == "multi-output" else (4,))


def test_columns_of_a_row_may_be_in_any_order():
    shuffled = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([0, 2, 3, 3])), shape=(3, 3))
    dense = np.array([[2.0, 0, 1], [0, 3, 0], [0, 0, 0]])
    for sampling in (df.samplings.Nice(2), df.samplings.Chunks(1, 2)):
        found = [df.solve(df.Problem(X, ONES, lam=0.1), sampling=sampling, max_epochs=9).w for X in (shuffled, dense)]
        np.testing.assert_allclose(*found, rtol=1e-12)


def csr(data, indices, indptr, shape=(3, 2)):
    X = sparse.csr_array(shape, dtype=float)
    X.data, X.indices, X.indptr = np.array(data, float), np.array(indices, np.int32), np.array(indptr, np.int32)
    return X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[1.0, np.nan], [0, 0], [0, 0]]), "NaN or infinity in row 0, column 1"),
        (csr([1.0, np.inf], [0, 1], [0, 1, 2, 2]), "NaN or infinity in row 1, column 1"),
        (csr([1.0], [2], [0, 1, 1, 1]), "column index 2 in row 0"),
        (csr([1.0], [-1], [0, 0, 1, 1]), "column index -1 in row 1"),
        (csr([1.0, 2.0], [1, 1], [0, 2, 2, 2]), "column 1 twice in row 0"),
        (csr([1.0], [0], [0, 1, 0, 1]), "X.indptr .* broken at row 1"),
        (csr([1.0], [0], [0, 1, 1, 9]), "X.indptr .* broken at row 2"),
        (csr([1.0], [0], [1, 1, 1, 1]), "X.indptr .* broken at row 0"),
        (np.ones((2, 2)), "X has 2 rows but y has 3 entries"),
        (np.ones(3), "two dimensions"),
        (np.ones((0, 2)), "at least one row"),
    ],
)
def test_bad_data_are_refused_in_words(X, message):
    with pytest.raises(ValueError, match=message):
        df.Problem(X, ONES, lam=0.1)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (sparse.csc_array(np.ones((3, 2))), r"sparse csc matrix; convert it once with X.tocsr\(\)"),
        (np.ones((3, 2), dtype=int), "dtype int64; it must be float32 or float64"),
        ([[1.0], [2.0], [3.0]], "X is a list"),
    ],
)
def test_wrong_kinds_are_refused_in_words(X, message):
    with pytest.raises(TypeError, match=message):
        df.Problem(X, ONES, lam=0.1)


@pytest.mark.parametrize("lam", [0.0, -1.0, np.nan, np.inf])
def test_lambda_must_be_positive(lam):
    with pytest.raises(ValueError, match=r"lam is .* above 0"):
        df.Problem(np.ones((3, 1)), ONES, lam=lam)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("intercept", [False, True])
def test_data_whose_values_are_all_the_same(dtype, index, intercept):
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix((rng.random(size=(40, 12)) < 0.3) * dtype(0.25))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    y = rng.choice([-1.0, 1.0], size=40)
    same, plain = (df.Problem(A, df.losses.Logistic(y), 0.1, intercept=intercept) for A in (X, X.toarray()))
    w, alpha = rng.normal(size=same.d), rng.uniform(size=40) * y
    np.testing.assert_allclose(same.margins(w), plain.margins(w), atol=1e-14)
    np.testing.assert_allclose(same.gradient(w), plain.gradient(w), atol=1e-14)
    np.testing.assert_allclose(same.primal(alpha), plain.primal(alpha), atol=1e-14)
    np.testing.assert_allclose(same.norms, plain.norms, atol=1e-14)
    assert same.evaluate(w, alpha).duality_gap == pytest.approx(plain.evaluate(w, alpha).duality_gap, rel=1e-12)
    one, other = (df.solve(problem, tol=1e-12, max_epochs=500).w for problem in (same, plain))
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_the_typical_norm_is_near_the_mean():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 4))
    for A in (X, sparse.csr_array(X), np.asfortranarray(X)):
        rows = df.Problem(A, df.losses.Squared(np.ones(20_000)), 1.0).examples
        assert rows.typical_square_norm == pytest.approx(rows.square_norms.mean(), rel=0.05)
    words = sparse.csr_array((X > 1) * 0.5)
    roomy = sparse.csr_array(
        (np.append(words.data, [0.5, 0.5]), np.append(words.indices, [0, 0]), words.indptr), words.shape
    )
    for A in (words, roomy):
        for intercept in (False, True):
            rows = df.Problem(A, df.losses.Squared(np.ones(20_000)), 1.0, intercept).examples
            assert rows.typical_square_norm == pytest.approx(rows.square_norms.mean(), rel=1e-12)


LONG = {
    "dense": np.ascontiguousarray,
    "csr": sparse.csr_array,
    "float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "one value": lambda X: sparse.csr_array((X > 0) * 0.5),
}


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("layout", LONG)
def test_the_first_look_at_long_rows_finds_their_norms(layout, n_threads, intercept):
    X = LONG[layout](np.random.default_rng(2).normal(size=(40_000, 40)).round(3))
    problem = df.Problem(X, df.losses.Squared(np.ones(40_000)), 1.0, intercept, n_threads=n_threads)
    rows, full = problem.examples, np.asarray(X.todense() if sparse.issparse(X) else X, dtype=np.float64)
    squares = (full**2).sum(axis=1) + rows.constant_value**2
    assert "square_norms" in vars(rows)
    np.testing.assert_allclose(rows.square_norms, squares, rtol=1e-13)
    assert rows.typical_square_norm == pytest.approx(squares.mean(), rel=0.05 if intercept else 1e-12)
    assert rows.largest_square_norm == pytest.approx(squares.max(), rel=1e-13)
    assert not rows.square_norms.flags.writeable


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", ["dense", "csr", "float32"])
def test_what_is_not_finite_is_found_in_long_rows(layout, wrong):
    X = np.random.default_rng(3).normal(size=(30, 20))
    X[3, 7] = wrong
    with pytest.raises(ValueError, match="NaN or infinity in row 3, column 7"):
        df.Problem(LONG[layout](X), df.losses.Squared(np.ones(30)), 1.0)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_numbers_whose_squares_overflow_are_finite_all_the_same(layout):
    X = LONG[layout](np.full((30, 20), 1e200) * (1 + np.arange(20)))
    problem = df.Problem(X, df.losses.Squared(np.ones(30)), 1.0)
    assert np.isinf(problem.examples.square_norms).all()
    with pytest.raises(ValueError, match="lam is 1, too small for examples of norm inf"):
        df.solve(problem, method="dfsdca", sampling="restless")
    for method in ("auto", "newton", "lbfgs"):
        with pytest.raises(ValueError, match="too large to be squared; scale X down"):
            df.solve(problem, method=method)
