"""Threads: the same bits for any number of them, and clear words for bad numbers."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree.samplings.base import Draws
from dualfree.steps import step_rule

N, D = 6000, 60


def make_problem(kind="csr", intercept=False, loss=df.losses.Logistic):
    """Large enough that threads are really started: hundreds of thousands of nonzeros."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)) * (rng.random(size=(N, D)) < 0.8)
    y = np.sign(X @ rng.normal(size=D) + rng.normal(size=N))
    layouts = {
        "csr": sparse.csr_array,
        "unsorted": unsorted,
        "dense": np.asarray,
        "same": lambda X: sparse.csr_array(X != 0) * 0.1,
    }
    return df.Problem(layouts[kind](X), loss(y), lam=1 / N, intercept=intercept)


def unsorted(X):
    """The same rows, the columns of each in reverse order."""
    A = sparse.csr_array(X)
    order = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in zip(A.indptr[:-1], A.indptr[1:], strict=True)])
    return sparse.csr_array((A.data[order], A.indices[order], A.indptr), shape=A.shape)


def bits(result):
    history = result.history
    return b"".join(part.tobytes() for part in (result.w, result.alpha, history.value, history.gap))


@pytest.mark.parametrize("kind", ["csr", "unsorted", "dense", "same"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"method": "dfsdca", "sampling": "nice:500"},
        {"method": "dfsdca", "sampling": df.samplings.Independent(np.full(N, 0.1)), "step": "theorem-2"},
        {"method": "dfsdca"},
        {"method": "newton"},
        {"method": "lbfgs"},
        {"method": "auto"},
    ],
    ids=["nice", "independent", "shuffled", "newton", "lbfgs", "auto"],
)
def test_the_same_bits_for_any_number_of_threads(options, kind, intercept):
    problem = make_problem(kind, intercept)
    runs = {bits(df.solve(problem, n_threads=k, max_epochs=3, tol=0.0, **options)) for k in (1, 2, 3, 7)}
    assert len(runs) == 1


@pytest.mark.parametrize("kind", ["csr", "unsorted", "dense", "same"])
def test_many_batches_in_a_call_have_the_same_bits(kind):
    """So many that one thread and several are tried in turn, and the rest is for whichever was quicker."""
    problem = make_problem(kind)
    sets = np.concatenate([np.random.default_rng(k).permutation(N) for k in range(6)])
    draws = Draws(sets, np.arange(0, len(sets) + 1, 400))
    rule, inverse = step_rule("implicit", df.samplings.Nice(400).bind(problem)), 1 / (problem.lam * N)
    answers = set()
    for n_threads in (1, 2, 3, 7):
        alpha, w = np.zeros(N), np.zeros(problem.d)
        moved = problem.examples.dfsdca(
            problem.loss.native, rule.slack, rule.scale, inverse, draws, 0.0, alpha, w, n_threads=n_threads
        )
        answers.add((alpha.tobytes(), w.tobytes(), moved))
        np.testing.assert_allclose(w, problem.primal(alpha), atol=1e-9 * np.abs(w).max())
    assert len(answers) == 1


def make_shaped(shape, kind, intercept=False):
    """The same with three outputs, or with three rows in each example."""
    plain = make_problem(kind)
    X, score = plain.examples.X, plain.margins(np.ones(D))
    if shape == "blocks":
        loss = df.losses.ConditionalLogit(score.reshape(-1, 3).argmax(axis=1))
        return df.Problem(df.Blocks(X, np.arange(0, N + 1, 3)), loss, lam=3 / N)
    return df.Problem(X, df.losses.Softmax(np.digitize(score, [-5.0, 5.0])), lam=1 / N, intercept=intercept)


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize(
    ("shape", "intercept"), [("multi-output", False), ("multi-output", True), ("blocks", False)], ids=str
)
@pytest.mark.parametrize("method", ["dfsdca", "newton", "lbfgs"])
def test_the_same_bits_for_every_shape(method, shape, intercept, kind):
    problem = make_shaped(shape, kind, intercept)
    options = {"sampling": "nice:500"} if method == "dfsdca" else {}
    runs = {bits(df.solve(problem, method=method, n_threads=k, max_epochs=2, tol=0.0, **options)) for k in (1, 3)}
    assert len(runs) == 1
    assert problem.examples.products > 200_000  # enough for threads


@pytest.mark.parametrize("kind", ["csr", "dense"])
def test_a_pass_in_threads_is_the_pass(kind):
    problem = make_problem(kind)
    rng = np.random.default_rng(1)
    w, alpha = rng.normal(size=D), rng.normal(size=N)
    one, four = (problem.evaluate(w, alpha, n_threads=k) for k in (1, 4))
    assert one.value == four.value
    assert one.duality_gap == four.duality_gap
    np.testing.assert_array_equal(one.gradient, four.gradient)
    np.testing.assert_array_equal(problem.margins(w), problem.margins(w, n_threads=4))
    X = problem.examples.X.toarray() if kind == "csr" else problem.examples.X
    np.testing.assert_allclose(problem.margins(w), X @ w, atol=1e-12)
    np.testing.assert_allclose(problem.examples.combine(alpha, n_threads=3), X.T @ alpha, atol=1e-10)


@pytest.mark.parametrize("n_threads", [2, None])
def test_auto_with_threads_ends_with_the_same_certificate(n_threads):
    result = df.solve(make_problem(), method="auto", n_threads=n_threads, tol=1e-8)
    assert result.status == "converged"
    assert result.certificate.relative_gap <= 1e-8


@pytest.mark.parametrize(
    ("n_threads", "error"), [(0, ValueError), (-2, ValueError), (1.5, TypeError), ("many", TypeError)]
)
def test_bad_numbers_of_threads(n_threads, error):
    with pytest.raises(error, match="n_threads is"):
        df.solve(make_problem(), n_threads=n_threads)


@pytest.mark.parametrize("layout", ["csr", "dense", "fortran"])
@pytest.mark.parametrize("place", ["first", "seam", "last"])
def test_faults_of_x_are_found_by_any_number_of_threads(layout, place):
    n, d = 30_000, 50  # 1.5 million entries: enough for three threads
    values = np.random.default_rng(0).normal(size=(n, d))
    row = {"first": 0, "seam": n // 2, "last": n - 1}[place]
    values[row, d - 1] = np.nan
    make = {"csr": sparse.csr_matrix, "dense": np.asarray, "fortran": np.asfortranarray}[layout]
    X, loss = make(values), df.losses.Squared(np.ones(n))
    for n_threads in (1, 2, 3):
        with pytest.raises(ValueError, match=rf"NaN or infinity in row {row}, column {d - 1}"):
            df.Problem(X, loss, 0.1, n_threads=n_threads)
    values[row, d - 1] = 0.5
    for n_threads in (1, 2, 3, None):
        assert df.Problem(make(values), loss, 0.1, n_threads=n_threads).examples.stored == n * d


@pytest.mark.parametrize("at", [0, 14_999, 15_000, 29_999])
def test_columns_out_of_order_or_out_of_range_are_seen_by_any_number_of_threads(at):
    n, d = 30_000, 50
    columns, values = np.tile(np.arange(d, dtype=np.int32), n), np.random.default_rng(0).normal(size=n * d)
    start, loss = np.arange(0, n * d + 1, d, dtype=np.int32), df.losses.Squared(np.ones(n))

    def problem(n_threads):
        return df.Problem(sparse.csr_matrix((values, columns, start), shape=(n, d)), loss, 0.1, n_threads=n_threads)

    columns[at * d + 3], columns[at * d + 4] = 4, 3
    for n_threads in (1, 2, 3):
        assert not problem(n_threads).examples.native[-1]  # not sorted
    for wrong, message in ((4, "column 4 twice"), (d, f"column index {d} in row {at}")):
        columns[at * d + 4] = wrong
        for n_threads in (1, 2, 3):
            with pytest.raises(ValueError, match=message):
                problem(n_threads)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "two"])
def test_threads_of_a_problem_are_checked(wrong):
    with pytest.raises((TypeError, ValueError), match="n_threads is"):
        df.Problem(np.eye(3), df.losses.Squared(np.ones(3)), 0.1, n_threads=wrong)
