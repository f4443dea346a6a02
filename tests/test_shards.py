"""Features divided among threads: the literal batches, the invariant, caution, certificates, and clear refusals."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree import reference
from dualfree._native import kernels
from dualfree.methods import shard_plan

LOSSES = {
    "logistic": (df.losses.Logistic, reference.logistic()),
    "squared": (df.losses.Squared, reference.squared()),
    "squared-hinge": (df.losses.SquaredHinge, reference.squared_hinge()),
}


def make_data(n=90, d=40, density=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random(size=(n, d)) < density)
    return X, np.sign(X @ rng.normal(size=d) + 0.1 * rng.normal(size=n))


LAYOUTS = {
    "csr": sparse.csr_array,
    "float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "long": lambda X: with_long_offsets(sparse.csr_array(X)),
    "dense": np.ascontiguousarray,
    "by columns": np.asfortranarray,
}


def with_long_offsets(A):
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


def random_words(rng, n, d, each):
    places = (np.repeat(np.arange(n), each), rng.integers(d, size=n * each))
    return sparse.csr_array((rng.random(n * each), places), shape=(n, d))


def make_wide(loss=df.losses.Logistic, n=4000, d=9000, lam=1.0):
    """Many features, few of them in common."""
    rng = np.random.default_rng(2)
    X = random_words(rng, n, d, 45)
    return df.Problem(X, loss(np.sign(X @ rng.normal(size=d) + 0.1 * rng.normal(size=n))), lam=lam / n)


def visit(problem, threads, together, order, alpha, omega, cuts=None, alone=False):
    """One call of the kernel: w, α and the caution that it ends with."""
    rows, n = problem.examples.native, problem.n
    crew, inverse = kernels.Crew(threads), 1 / (problem.lam * n)
    cuts = shard_plan.feature_cuts(problem.examples.feature_sums(), threads) if cuts is None else np.array(cuts)
    bounds = np.empty(n * (threads + 1) if len(rows) > 3 else 0, dtype=rows[2].dtype if len(rows) > 3 else np.int64)
    shared = np.empty(n)
    kernels.divide_rows(crew, rows, cuts, (omega - 1) * (together - 1) / (n - 1), bounds, shared)
    scale = inverse * np.stack([problem.examples.square_norms, shared], axis=1).ravel()
    alpha, w, caution = alpha.copy(), problem.primal(alpha), np.ones(1)
    moved = kernels.dfsdca_shards(
        crew, rows, problem.loss.native, cuts, bounds, scale, inverse, order, together, alone, caution, alpha, w
    )
    return w, alpha, caution[0], moved


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("layout", "together"), [*zip(LAYOUTS, (4, 8, 3, 16, 1), strict=True)])
def test_the_kernel_is_the_literal_method(loss, layout, together, threads):
    X, y = make_data()
    native, literal = LOSSES[loss]
    X = X.astype(np.float32).astype(float) if layout == "float32" else X
    problem = df.Problem(LAYOUTS[layout](X), native(y), lam=0.5 / len(y))
    rng = np.random.default_rng(1)
    order, omega = rng.permutation(len(y)), (X != 0).sum(axis=0).astype(float)
    alpha = y * rng.random(len(y))
    w, after, caution, moved = visit(problem, threads, together, order, alpha, omega)
    batches = [order[k : k + together] for k in range(0, len(order), together)]
    same = reference.ReferenceProblem(X, y, np.ones(len(y)), literal, lam=0.5 / len(y))
    expected = reference.cautious_dfsdca(same, batches, omega, together, alpha)
    np.testing.assert_allclose(after, expected[1], atol=1e-9)
    np.testing.assert_allclose(w, expected[0], atol=1e-9)
    np.testing.assert_allclose(caution, expected[2], rtol=1e-9)
    np.testing.assert_allclose(w, problem.primal(after), atol=1e-10)
    np.testing.assert_allclose(moved, np.sum((after - alpha) ** 2), rtol=1e-12)
    by_one = visit(problem, threads, together, order, alpha, omega, alone=True)
    np.testing.assert_array_equal(
        np.concatenate([w, after, [caution, moved]]), np.concatenate([*by_one[:2], by_one[2:]])
    )


def test_weights_and_plain_batches_agree_with_algorithm_1():
    X, y = make_data()
    weights = np.random.default_rng(3).random(len(y))
    problem = df.Problem(sparse.csr_array(X), df.losses.Logistic(y, weights), lam=1 / len(y))
    order, omega = np.arange(len(y)), (X != 0).sum(axis=0).astype(float)
    w, alpha, caution, _ = visit(problem, 2, 8, order, np.zeros(len(y)), omega)
    assert caution == 1
    literal = reference.ReferenceProblem(X, y, weights, reference.logistic(), lam=1 / len(y))
    v = (X**2 * (1 + (omega - 1) * 7 / (len(y) - 1))).sum(axis=1)
    batches = [order[k : k + 8] for k in range(0, len(order), 8)]
    expected = reference.dfsdca(literal, batches, np.full(len(y), 8 / len(y)), v, "implicit", np.zeros(len(y)))
    np.testing.assert_allclose(w, expected[0], atol=1e-9)
    np.testing.assert_allclose(alpha, expected[1], atol=1e-9)


@pytest.mark.parametrize("threads", [1, 3])
def test_caution_grows_where_steps_were_too_long(threads):
    X = np.ones((400, 1)) * [[1.0, 0.0, 0.0]]  # all examples are alike, and omega says that they share nothing much
    y = np.ones(400)
    problem = df.Problem(sparse.csr_array(X), df.losses.Squared(y), lam=0.01 / 400)
    omega = np.full(3, 20.0)
    w, alpha, caution, _ = visit(problem, threads, 16, np.arange(400), np.zeros(400), omega, [*range(threads), 3])
    same = reference.ReferenceProblem(X, y, np.ones(400), reference.squared(), lam=0.01 / 400)
    expected = reference.cautious_dfsdca(same, np.arange(400).reshape(-1, 16), omega, 16, np.zeros(400))
    assert caution > 5
    np.testing.assert_allclose(caution, expected[2], rtol=1e-9)
    np.testing.assert_allclose(w, expected[0], rtol=1e-9)
    np.testing.assert_allclose(alpha, expected[1], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("loss", [df.losses.Logistic, df.losses.SquaredHinge, df.losses.Squared])
@pytest.mark.parametrize("sampling", ["shuffled", "restless"])
def test_the_certified_optimum_with_any_number_of_threads(loss, sampling):
    problem = make_wide(loss, n=2000)
    best = df.solve(problem, method="dfsdca", tol=1e-9, max_epochs=1000).certificate.value
    options = {"method": "dfsdca-shards", "sampling": sampling, "tol": 1e-6}
    for n_threads in (1, 2, 5):
        result, again = (df.solve(problem, n_threads=n_threads, **options) for _ in range(2))
        assert result.status == "converged"
        assert best * (1 - 1e-8) <= result.certificate.value <= best * (1 + 1e-6)
        assert (result.w.tobytes(), result.alpha.tobytes()) == (again.w.tobytes(), again.alpha.tobytes())
        np.testing.assert_allclose(result.w, problem.primal(result.alpha), atol=1e-9 * np.abs(result.w).max())


@pytest.mark.parametrize("loss", [df.losses.Logistic, df.losses.Squared])
def test_a_hard_core_that_shares_a_rare_feature_does_not_diverge(loss):
    rng = np.random.default_rng(4)
    X = random_words(rng, 2000, 3000, 9)
    same = sparse.csr_array((np.full(60, 3.0), (np.arange(60), np.full(60, 7))), shape=(60, 3000))
    X = sparse.vstack([X, same], format="csr")  # what is visited again and again is alike; few others have feature 7
    y = np.sign(rng.normal(size=2060))
    problem = df.Problem(X, loss(y), lam=1 / 2060)
    result = df.solve(problem, method="dfsdca-shards", sampling="restless", n_threads=2, max_epochs=300)
    assert result.status == "converged"


def test_plans_use_no_more_threads_than_pay():
    problem = make_wide(n=2000)
    assert shard_plan.plan(problem, 1).threads == 1
    assert shard_plan.plan(problem, 2).threads == 2
    assert shard_plan.plan(problem, 1000).threads <= 16
    dense = df.Problem(np.ones((10, 3)), df.losses.Squared(np.ones(10)), lam=1.0)
    assert shard_plan.plan(dense, 64).threads <= 3


@pytest.mark.parametrize(("threads", "every"), [(1, 1), (3, 4)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_counts_are_those_of_the_features(layout, threads, every):
    X, _ = make_data()
    counts = np.empty(X.shape[1])
    kernels.shard_counts(kernels.Crew(threads), df.examples.Rows(LAYOUTS[layout](X)).native, every, counts)
    np.testing.assert_array_equal(counts, (X[::every] != 0).sum(axis=0))


def test_cuts_have_about_as_many_nonzeros_each():
    counts = np.random.default_rng(0).zipf(1.5, size=5000).clip(max=300).astype(float)
    cuts = shard_plan.feature_cuts(counts, 4)
    parts = np.add.reduceat(counts, cuts[:-1])
    assert cuts[0] == 0
    assert cuts[-1] == 5000
    assert parts.max() - parts.min() < 0.05 * counts.sum()
    assert shard_plan.feature_cuts(np.array([5.0, 0.0]), 2).tolist()[::2] == [0, 2]


def test_refusals():
    X, y = make_data()
    problem = df.Problem(sparse.csr_array(X), df.losses.Logistic(y), lam=0.1)
    for options in ({"sampling": "nice:8"}, {"sampling": "uniform"}, {"step": "theorem-2"}):
        with pytest.raises(
            ValueError, match=r"takes the samplings 'shuffled' and 'restless' .*method='dfsdca' takes all"
        ):
            df.solve(problem, method="dfsdca-shards", **options)
    with pytest.raises(ValueError, match=r"takes no intercept: .*method='auto' finds"):
        df.solve(df.Problem(X, df.losses.Logistic(y), lam=0.1, intercept=True), method="dfsdca-shards")
    backwards = sparse.csr_array((np.ones(2), np.array([3, 1]), np.array([0, 2])), shape=(1, 5))
    with pytest.raises(ValueError, match=r"columns do not increase.*sort_indices"):
        df.solve(df.Problem(backwards, df.losses.Squared(np.ones(1)), lam=0.1), method="dfsdca-shards")


def test_the_kernel_refuses_what_would_read_out_of_bounds():
    X, y = make_data()
    problem = df.Problem(sparse.csr_array(X), df.losses.Logistic(y), lam=0.1)
    omega, order = np.ones(X.shape[1]), np.arange(len(y))
    with pytest.raises(ValueError, match="cuts must go from 0"):
        visit(problem, 2, 8, order, np.zeros(len(y)), omega, [0, 50, 40])
    with pytest.raises(ValueError, match="together must be between 1 and 32"):
        visit(problem, 2, 33, order, np.zeros(len(y)), omega)
    with pytest.raises(ValueError, match="indices names example 90"):
        visit(problem, 2, 8, order + 1, np.zeros(len(y)), omega)
    with pytest.raises(ValueError, match="threads must be at least 1"):
        kernels.Crew(0)
    with pytest.raises(TypeError, match="bounds must have the type"):
        kernels.divide_rows(
            kernels.Crew(1),
            problem.examples.native,
            np.array([0, X.shape[1]]),
            omega,
            np.empty(2 * len(y), dtype=np.int16),
            np.empty(len(y)),
        )
