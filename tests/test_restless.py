"""Visits to what moves: how the rounds are drawn, what they learn, and that runs with them end at the same optimum."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree._native import kernels
from dualfree.lookout import Watch
from dualfree.samplings import Restless
from small_problems import problem as small_problem

N = 400


def easy_and_hard(n=N, d=6, lam=1e-4):
    """Most examples are far from the boundary."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, d))
    return df.Problem(sparse.csr_matrix(X), df.losses.Logistic(X @ np.ones(d) + rng.normal(size=n) * 0.1 > 0), lam)


def drawn(unrest, count, rounds, seed=0, near=False):
    order = np.empty(len(unrest) + 1, dtype=np.int64)
    seen, sure = np.zeros(len(unrest)), 0.0
    for k in range(rounds):
        sure = kernels.draw_restless(seed, k, unrest, count, near, sure, order)
        assert len(np.unique(order[:count])) == count
        seen[order[:count]] += 1
    return seen / rounds, sure


@pytest.mark.parametrize(("n", "near"), [(N, False), (20_000, False), (20_000, True)])
def test_a_round_visits_in_proportion_to_unrest(n, near):
    unrest = np.exp(3 * np.random.default_rng(0).normal(size=n))
    shares, sure = drawn(unrest, n // 8, 400, near=near)
    wanted = np.minimum(1.0, unrest / sure)
    assert n // 8 <= wanted.sum() <= 1.15 * n // 8  # somewhat more are picked than visited
    np.testing.assert_allclose(shares.sum(), n // 8)
    expected = wanted * (n // 8) / wanted.sum()
    assert np.abs(shares - expected).max() < 5.5 * np.sqrt(0.25 / 400)
    assert np.corrcoef(shares, expected)[0, 1] > 0.99


def test_where_nothing_moves_all_are_alike():
    for unrest in (np.zeros(N), np.full(N, np.nan), np.full(N, np.inf)):
        shares, sure = drawn(unrest, N // 8, 300)
        assert sure == 0
        assert np.abs(shares - 1 / 8).max() < 6 * np.sqrt(1 / 8 / 300)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 16_384, 50_000])
def test_neighbours_are_visited_within_a_window(n):
    order, other = (kernels.draw_by_windows(seed, n) for seed in (0, 1))
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    assert n < 3 or (order != other).any()
    at = np.empty(n, dtype=np.int64)
    at[order] = np.arange(n)
    windows = [set(at[first : first + 32] // 16_384) for first in range(0, n, 32)]
    assert sum(len(each) > 1 for each in windows) <= n // 16_384  # a run may begin in one window and end in the next
    if n > 1000:
        assert np.median(np.abs(np.diff(order))) > n / 8  # one after the other are examples from all over


def test_many_examples_have_the_same_rounds_in_the_kernel_and_out_of_it(monkeypatch):
    monkeypatch.setattr("dualfree.samplings.restless._MANY", 1)
    problem = easy_and_hard()
    settings = {"method": "dfsdca", "sampling": "restless", "tol": 0.0, "max_epochs": 4.5}
    natively = df.solve(problem, **settings)
    monkeypatch.setattr(type(problem.examples), "rounds", False)
    one_by_one = df.solve(problem, **settings)
    assert (natively.w == one_by_one.w).all()
    monkeypatch.setattr("dualfree.samplings.restless._MANY", 10**9)
    assert (natively.w != df.solve(problem, **settings).w).any()


@pytest.mark.parametrize("settings", [{"method": "dfsdca"}, {"method": "dfsdca-copies", "n_threads": 3}])
def test_the_same_optimum_where_neighbours_are_alike(monkeypatch, settings):
    """Sorted by their label, and visited by windows."""
    monkeypatch.setattr("dualfree.samplings.restless._MANY", 1)
    X, y = words()
    order = np.argsort(y, kind="stable")
    problem = df.Problem(X[order], df.losses.Logistic(y[order]), 0.3 / 3000)
    result = df.solve(problem, sampling="restless", tol=1e-8, max_epochs=300, **settings)
    assert result.status is df.Status.CONVERGED
    best = df.solve(problem, method="lbfgs", tol=1e-10, max_epochs=1000)
    np.testing.assert_allclose(result.w, best.w, atol=1e-3 * np.abs(best.w).max())


def test_a_round_is_one_call_also_where_it_is_long(monkeypatch):
    monkeypatch.setattr("dualfree.loop._PIECE_NONZEROS", 100)
    problem = easy_and_hard()
    called, kernel = [], kernels.dfsdca_rounds
    monkeypatch.setattr(kernels, "dfsdca_rounds", lambda *a: called.append(a[5][3]) or kernel(*a))
    settings = {"method": "auto", "sampling": "restless", "step": "rescaled", "tol": 1e-6, "max_epochs": 500}
    df.solve(problem, **settings)
    assert set(called) == {1}
    called.clear()
    monkeypatch.setattr("dualfree.loop._ROUND_NONZEROS", 100)  # but not where it is so long that Ctrl-C would wait
    df.solve(problem, **settings)
    assert not called


@pytest.mark.parametrize("shape", ["rows", "outputs", "blocks"])
def test_unrest_is_what_the_last_visit_moved(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    problem = {
        "rows": lambda: df.Problem(X, df.losses.Logistic(np.arange(60) % 2), 0.01),
        "outputs": lambda: df.Problem(X, df.losses.Softmax(np.arange(60) % 3), 0.01),
        "blocks": lambda: df.Problem(df.Blocks(X, np.arange(0, 61, 2)), df.losses.ConditionalLogit([0] * 30), 0.01),
    }[shape]()
    n, bound = problem.n, Restless().bind(problem)
    alpha, w, seen = rng.normal(size=problem.examples.total), np.zeros(problem.d), []
    learnt, iteration, rounds = np.zeros(n), 0, 0
    weight = np.sqrt(bound.v + n * problem.lam / problem.l)
    while iteration < 3 * n:
        bound.refresh(w, alpha, 0.0, iteration)
        count = bound.fresh_until - iteration
        order = bound.draw(iteration, count).indices
        before = alpha.copy()
        moves = rng.normal(size=len(alpha)) * np.isin(np.repeat(np.arange(n), len(alpha) // n), order)
        alpha += moves
        lengths = np.linalg.norm((alpha - before).reshape(n, -1), axis=1)
        learnt *= np.sqrt(2)
        learnt[order] = (lengths * weight)[order] * np.sqrt(2)
        seen.append(order)
        iteration, rounds = iteration + count, rounds + 1
    assert sorted(np.concatenate(seen[:8]).tolist()) == list(range(n))  # once each, to begin with
    bound.refresh(w, alpha, 0.0, iteration)
    present = bound.memory["unrest"] / bound.memory["numbers"][0]
    np.testing.assert_allclose(present, learnt, rtol=1e-9)


@pytest.mark.parametrize("layout", ["csr", "float32", "dense", "one value"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("step", ["implicit", "nearly-implicit", "per-example"])
def test_rounds_in_the_kernel_are_the_rounds_drawn_one_by_one(monkeypatch, layout, intercept, step):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((203, 7)) < 0.6, rng.normal(size=(203, 7)), 0.0)
    X = {
        "csr": lambda: sparse.csr_matrix(X),
        "float32": lambda: sparse.csr_matrix(X, dtype=np.float32),
        "dense": lambda: X,
        "one value": lambda: sparse.csr_matrix((X != 0).astype(float)),
    }[layout]()
    problem = df.Problem(X, df.losses.Logistic(X @ np.ones(7) + rng.normal(size=203) > 0), 1e-3, intercept)
    settings = {"method": "dfsdca", "sampling": "restless", "step": step, "seed": 3, "tol": 0.0, "max_epochs": 6.5}
    called, kernel = [], kernels.dfsdca_rounds
    monkeypatch.setattr(kernels, "dfsdca_rounds", lambda *a: called.append(a[5][3]) or kernel(*a))
    natively = df.solve(problem, **settings)
    assert called == [8] * 6 + [4]  # rounds
    monkeypatch.setattr(type(problem.examples), "rounds", False)
    one_by_one = df.solve(problem, **settings)
    assert len(called) == 7
    assert (natively.w == one_by_one.w).all()
    assert (natively.alpha == one_by_one.alpha).all()


def words(n=3000, d=6000, each=100):
    """Examples with some words of many, whose labels a few of them tell."""
    rng = np.random.default_rng(6)
    X = sparse.csr_matrix(
        (rng.random(n * each), (np.repeat(np.arange(n), each), rng.integers(d, size=n * each))), (n, d)
    )
    X.sum_duplicates()
    return X, np.sign(X @ rng.normal(size=d))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    ("how", "n_threads"),
    [
        ({"method": "auto"}, 1),
        ({"method": "auto", "sampling": "restless", "step": "nearly-implicit"}, 1),
        ({"method": "dfsdca-copies"}, 1),
        ({"method": "dfsdca-copies"}, 2),
    ],
)
@pytest.mark.parametrize(("lam_n", "tol"), [(1.0, 1e-6), (0.1, 1e-4), (0.2, 1e-9)])
def test_a_kernel_that_asks_by_itself_ends_where_python_would(monkeypatch, how, n_threads, intercept, lam_n, tol):
    X, y = words()
    problem = df.Problem(X, df.losses.Logistic(y), lam_n / 3000, intercept)
    settings = how | {"n_threads": n_threads, "tol": tol, "max_epochs": 300}
    calls = []
    for kernel in ("dfsdca_rounds", "dfsdca_copies"):
        plain = getattr(kernels, kernel)
        monkeypatch.setattr(kernels, kernel, lambda *a, plain=plain: calls.append(1) or plain(*a))
    monkeypatch.setattr("dualfree.methods.copies.DfSDCACopies._together", lambda self: True)  # as if all had a core
    by_itself = df.solve(problem, **settings)
    fewer = len(calls)
    monkeypatch.setattr("dualfree.lookout.Lookout.watch", lambda self, epoch: None)
    asked = df.solve(problem, **settings)
    assert by_itself.status is df.Status.CONVERGED
    assert by_itself.epochs == asked.epochs
    if by_itself.step == "rescaled":  # the factor goes back into w at the end of each call
        np.testing.assert_allclose(by_itself.w, asked.w, rtol=1e-9, atol=1e-12)
    else:
        assert by_itself.certificate == asked.certificate
        assert (by_itself.w == asked.w).all()
    assert fewer < len(calls) - fewer


def test_a_kernel_that_asks_by_itself_stops_where_it_may_be_done():
    problem = easy_and_hard()
    bound, n = Restless().bind(problem), problem.n
    bound.refresh(np.zeros(problem.d), np.zeros(n))
    rounds = bound.rounds(0, n, 0, Watch(every=0.25, until=1.0, factor=1.0, goal=np.inf))
    assert (rounds.every, rounds.first, rounds.count) == (2, 0, 8)
    step = (problem.loss.native, 0.0, np.ones(n), 1 / (problem.lam * n))
    start = (None, 0.0, np.zeros(n), np.zeros(problem.d))
    moved, unit, sure, rescaled, looks = problem.examples.dfsdca_rounds(*step, rounds.native, *start)
    assert len(moved) == 1
    assert rescaled is None
    assert looks == []
    assert rounds.end(unit, sure, len(moved)) == [round(n / 4)]
    assert bound.fresh_until == round(n / 4)


@pytest.mark.parametrize("step", ["rescaled", "nearly-implicit"])
@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "squared"])
@pytest.mark.parametrize(("lam", "tol"), [(0.1, 1e-3), (0.02, 1e-6), (0.02, 1e-9), (0.001, 0.3), (1.0, 1e-5)])
def test_a_kernel_that_looks_by_itself_ends_where_python_would(monkeypatch, loss, step, lam, tol):
    """Of few examples: in one call, where a pass costs less than to come back and ask for one."""
    problem = small_problem(loss, lam=lam)
    settings = {"method": "auto", "sampling": "restless", "step": step, "tol": tol, "max_epochs": 3000}
    calls, kernel = [], kernels.dfsdca_rounds
    monkeypatch.setattr(kernels, "dfsdca_rounds", lambda *a: calls.append(kernel(*a)) or calls[-1])
    by_itself = df.solve(problem, **settings)
    looks = [look for call in calls for look in call[4]]
    assert looks
    value, gap = looks[-1][1:3]
    assert by_itself.certificate.value == pytest.approx(value, rel=1e-12)
    assert by_itself.certificate.duality_gap == pytest.approx(gap, rel=1e-6) or by_itself.certificate.gap < gap
    own = len(calls)
    monkeypatch.setattr("dualfree.methods.glances.Glances.by_kernel", lambda self, terms: None)
    asked = df.solve(problem, **settings)
    assert by_itself.status is df.Status.CONVERGED
    assert by_itself.epochs == asked.epochs
    np.testing.assert_allclose(by_itself.w, asked.w, rtol=1e-9, atol=1e-12)
    assert own <= len(calls) - own


def test_rounds_go_on_where_the_order_of_the_first_epoch_ends(monkeypatch):
    problem = easy_and_hard()
    settings = {"method": "auto", "sampling": "restless", "step": "nearly-implicit", "tol": 1e-8, "max_epochs": 500}
    called, kernel = [], kernels.dfsdca_rounds
    monkeypatch.setattr(kernels, "dfsdca_rounds", lambda *a: called.append(a[5]) or kernel(*a))
    natively = df.solve(problem, **settings)
    assert called[0][3] > 8  # rounds in the first call, which begins with a list of all examples
    assert len(called[0][4]) == problem.n
    monkeypatch.setattr(type(problem.examples), "rounds", False)
    one_by_one = df.solve(problem, **settings)
    assert natively.epochs == one_by_one.epochs
    assert (natively.w == one_by_one.w).all()


def test_long_runs_keep_the_unit_of_unrest_in_range(monkeypatch):
    monkeypatch.setattr("dualfree.samplings.restless._SMALLEST_UNIT", 0.1)
    problem = easy_and_hard()
    settings = {"method": "dfsdca", "sampling": "restless", "tol": 0.0, "max_epochs": 5}
    natively = df.solve(problem, **settings)
    monkeypatch.setattr(type(problem.examples), "rounds", False)
    np.testing.assert_array_equal(natively.w, df.solve(problem, **settings).w)


def test_few_and_short_rows_are_asked_less_often_whether_they_are_done():
    X = sparse.random(3000, 400, 0.5, "csr", rng=np.random.default_rng(0))
    for rows, every in ((40, 1.0), (3000, 0.25)):
        problem = df.Problem(X[:rows], df.losses.Logistic(np.arange(rows) % 2), 0.1)
        assert Restless().bind(problem).look_every == every


def test_the_kernel_refuses_what_does_not_fit():
    rows, loss = df.Problem(np.eye(4), df.losses.Squared(np.ones(4)), 0.1), np.ones(4)
    course = {"seed": 0, "first": 0, "length": 4.0, "count": 1, "order": None, "size": loss, "growth": 1.4,
              "least": 1e-6, "smallest_unit": 1e-100, "unrest": np.ones(4), "unit": 1.0, "sure": 0.0,
              "room": np.empty(5, np.int64), "every": 1, "factor": 1.0, "goal": 0.0, "near": False}  # fmt: skip
    given = {"slack": 0.0, "scale": loss, "inverse": 1.0, "rescaling": None, "alpha": np.zeros(4), "w": np.zeros(4)}

    def call(**wrong):
        rounds = tuple(wrong.get(name, value) for name, value in course.items())
        others = {name: wrong.get(name, value) for name, value in given.items()}
        kernels.dfsdca_rounds(rows.examples.native, rows.loss.native, course=rounds, **others)

    for name, value in (("length", 5.0), ("length", 0.5), ("length", np.nan), ("first", -1), ("first", 2**60),
                        ("count", -1), ("order", np.arange(3)), ("order", np.array([0, 1, 2, 4])),
                        ("room", np.empty(4, np.int64)), ("alpha", np.zeros(3)), ("w", np.zeros(5)),
                        ("size", np.ones(3)), ("unrest", np.ones(3)),
                        ("scale", np.ones(2)), ("every", 0)):  # fmt: skip
        with pytest.raises(ValueError, match=r"must|numbered"):
            call(**{name: value})
    with pytest.raises(ValueError, match="rescaling is for implicit steps"):
        call(slack=None, rescaling=(1, 1, 0.0, 0.1, 1.0, None))
    call()
    assert (given["alpha"] != 0).all()


@pytest.mark.parametrize("loss", ["logistic", "smoothed-hinge", "squared-hinge", "squared", "huber"])
def test_the_same_optimum_as_with_any_order(loss):
    problem = small_problem(loss, lam=0.003)
    rough = df.solve(problem, method="dfsdca", sampling="restless", tol=1e-10, max_epochs=3000)
    best = df.solve(problem, method="dfsdca", sampling="shuffled", tol=1e-12, max_epochs=3000)
    assert rough.status is df.Status.CONVERGED
    np.testing.assert_allclose(rough.w, best.w, atol=1e-5 * (1 + np.abs(best.w).max()))
    np.testing.assert_allclose(problem.primal(rough.alpha), rough.w, atol=1e-9 * (1 + np.abs(best.w).max()))


def test_easy_examples_are_left_in_peace():
    epochs = {}
    for sampling in ("shuffled", "restless"):
        result = df.solve(easy_and_hard(), method="dfsdca", sampling=sampling, tol=1e-6, max_epochs=2000)
        assert result.status is df.Status.CONVERGED
        epochs[sampling] = result.epochs
    assert epochs["restless"] < 0.7 * epochs["shuffled"]


def test_auto_takes_it_and_says_so():
    wide = df.Problem(sparse.random(50, 6000, 0.05, "csr", rng=np.random.default_rng(0)),
                      df.losses.Logistic(np.arange(50) % 2), 0.1)  # fmt: skip
    assert df.solve(wide, method="auto").sampling == "Restless(rounds=8)"
    assert df.solve(wide, method="auto", sampling="uniform").sampling == "Uniform()"
    assert df.solve(wide, method="auto", step="per-example").sampling == "Shuffled()"


def test_one_seed_one_answer_and_refusals():
    problem = easy_and_hard()
    first, again = (df.solve(problem, method="dfsdca", sampling="restless", seed=5) for _ in range(2))
    assert (first.w == again.w).all()
    with pytest.raises(ValueError, match="such a step rests on them"):
        df.solve(problem, method="dfsdca", sampling="restless", step="theorem-2")
    bound = Restless().bind(problem)
    one = df.solve(problem, method="dfsdca", sampling=bound, seed=5)
    two = df.solve(problem, method="dfsdca", sampling=bound, seed=5)  # nothing leaks from run to run
    assert (one.w == two.w).all()
    assert (one.w == first.w).all()


@pytest.mark.parametrize("sampling", ["restless", "adaptive"])
def test_a_resumed_run_ends_at_the_same_bits(tmp_path, sampling):
    problem, file = easy_and_hard(), tmp_path / "run.npz"
    settings = {"method": "dfsdca", "sampling": sampling, "tol": 1e-9, "max_epochs": 4000}
    whole = df.solve(problem, **settings)
    stopped = df.solve(problem, **settings, checkpoint=file, checkpoint_every=1e-9,
                       callback=lambda row: row.epoch >= 5)  # fmt: skip
    assert stopped.status is df.Status.STOPPED
    resumed = df.solve(problem, **settings, checkpoint=file, resume=True)
    assert resumed.epochs == whole.epochs
    assert (resumed.w == whole.w).all()


@pytest.mark.parametrize("n", [16, 17, 53, 800, 20242])
def test_rounds_begin_where_the_last_one_ended(n):
    problem = df.Problem(np.ones((n, 1)), df.losses.Squared(np.ones(n)), 0.1)
    bound, now = Restless().bind(problem), 0
    while now < 3 * n:
        bound.refresh(np.zeros(1), np.zeros(n), 0.0, now)
        rounds = bound.rounds(now, now + n // 2, 0)
        asked = rounds.end(1.0, 0.0, 1)
        assert len(asked) == 1
        assert now < asked[0] <= now + n // 2
        assert rounds.order is None if now >= n else len(rounds.order) == min(asked[0], n) - now
        now = asked[0]
        assert abs(now * 8 / n - round(now * 8 / n)) <= 4 / n + 1e-12  # the whole number next to the end of an eighth
