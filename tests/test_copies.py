"""dfSDCA with a copy of w for each thread: the literal method, a dual that never falls, and bits of one kind."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree import reference
from dualfree._native import kernels
from dualfree.linear_model import LogisticRegression
from dualfree.methods import copies
from dualfree.samplings import Restless

LOSSES = {
    "logistic": (df.losses.Logistic, reference.logistic()),
    "squared": (df.losses.Squared, reference.squared()),
    "squared-hinge": (df.losses.SquaredHinge, reference.squared_hinge()),
    "smoothed-hinge": (df.losses.SmoothedHinge, reference.smoothed_hinge(1.0)),
}
LAYOUTS = {
    "csr": sparse.csr_array,
    "float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "dense": np.ascontiguousarray,
}


def make_data(n=90, d=40):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, d)) < 0.2, rng.normal(size=(n, d)), 0.0).astype(np.float32).astype(float)
    return X, np.sign(X @ rng.normal(size=d) + 0.3 * rng.normal(size=n))


def make_words(n=2000, d=5000, each=30, loss=df.losses.Logistic, lam=1.0, **options):
    rng = np.random.default_rng(2)
    X = sparse.csr_array(
        (rng.random(n * each), (np.repeat(np.arange(n), each), rng.integers(d, size=n * each))), shape=(n, d)
    )
    X.sum_duplicates()
    return df.Problem(X, loss(np.sign(X @ rng.normal(size=d))), lam=lam / n, **options)


def plan(problem, n_threads):
    return copies.plan_copies(problem, n_threads, copies.rounds_of(problem))


def run(
    problem,
    threads,
    rounds,
    order=None,
    merges=1,
    sigma=1.0,
    alone=False,
    alpha=None,
    bound=None,
    popular=(),
    stretches=1,
    kept=None,
    rescaling=None,
    line=None,
):
    """One call of the kernel: w, α, σ and what α moved; `bound` learns from it.

    `rounds` are the number of the first one, their length and their count; the stretches should be as many as `kept`.
    `rescaling` is a list of what the kernel is told, and becomes what it says; a `line` goes with it.
    """
    n = problem.n
    bound = Restless().bind(problem) if bound is None else bound
    alpha = np.zeros(n) if alpha is None else alpha.copy()
    w, now = problem.primal(alpha), bound._now
    learning = (bound._sizes, 2**0.5, 1e-6, 1e-100, now.unrest, now.unit, now.sure, bound._room)
    course = (3, *rounds, order, *learning, max(1, rounds[2]), np.inf, 0.0, bound._near)
    inverse = 1 / (problem.lam * n)
    step = (problem.examples.native, problem.loss.native, 0.0, inverse * problem.examples.square_norms, inverse)
    popular = np.asarray(popular, dtype=np.int64)
    hearing = (merges, popular, sigma, stretches)
    room = np.empty(kernels.copies_room(threads, problem.d, len(popular)))
    multiples = None if rescaling is None else (*rescaling[:5], line)
    told = kernels.dfsdca_copies(kernels.Crew(threads), *step, course, multiples, *hearing, room, alpha, w, alone)
    (moved,), now.unit, now.sure, (sigma, left), (walked,), deserted, became = told
    if rescaling is not None:
        rescaling[:2], rescaling[5:] = became[:2], became[3:5]
    assert kept is None or left == kept
    assert not (deserted and alone)
    assert walked >= moved
    return w, alpha, sigma, moved


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("layout", "merges"), [*zip(LAYOUTS, (1, 2, 4), strict=True)])
@pytest.mark.parametrize(("popular", "stretches"), [((), 1), ((0, 3, 4, 17, 38, 39), 3), (range(40), 2), ((5,), 4)])
@pytest.mark.parametrize("sigma", [1.0, 1.2])
def test_the_kernel_is_the_literal_method(loss, layout, merges, threads, popular, stretches, sigma):
    X, y = make_data()
    native, literal = LOSSES[loss]
    problem = df.Problem(LAYOUTS[layout](X), native(y), lam=0.5 / len(y))
    order = np.random.default_rng(1).permutation(len(y))
    alpha = y * np.random.default_rng(4).random(len(y))
    same = reference.ReferenceProblem(X, y, np.ones(len(y)), literal, lam=0.5 / len(y))
    dealt = [[part[t::threads] for t in range(threads)] for part in (order[:45], order[45:])]
    pieces = [
        [
            [np.array_split(np.array_split(visits, merges)[m], stretches)[s] for visits in parts]
            for s in range(stretches)
        ]
        for parts in dealt
        for m in range(merges)
    ]
    expected = reference.dfsdca_copies(same, pieces, alpha, sigma, popular)
    hearing = {"popular": popular, "stretches": stretches, "kept": stretches}
    w, after, sigma, moved = run(problem, threads, (0, 45.0, 2), order, merges, sigma, alpha=alpha, **hearing)
    np.testing.assert_allclose(after, expected[1], atol=1e-9)
    np.testing.assert_allclose(w, expected[0], atol=1e-9)
    np.testing.assert_allclose(sigma, expected[2], rtol=1e-7)
    np.testing.assert_allclose(w, problem.primal(after), atol=1e-10)
    np.testing.assert_allclose(moved, np.sum((after - alpha) ** 2), rtol=1e-9)


@pytest.mark.parametrize("rescaled", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 5, 16])
def test_one_thread_for_all_parts_gives_the_same_bits(threads, rescaled):
    problem, answers = make_words(), []
    for alone in (False, True):
        bound, alpha, told = Restless().bind(problem), None, [1, 1, -1.0, 1e-3, 4.0]
        told = told if rescaled else None
        popular = kernels.popular(problem.examples.native, 100, np.empty(problem.d))
        for first in range(0, 6000, 1000):
            order = np.random.default_rng(0).permutation(2000)[first : first + 1000] if first < 2000 else None
            rounds = (first // 250, 250.0, 4)
            hearing = {"popular": popular, "stretches": 3, "rescaling": told}
            w, alpha, sigma, moved = run(problem, threads, rounds, order, 2, 1.0, alone, alpha, bound, **hearing)
        answers.append((w.tobytes(), alpha.tobytes(), sigma, moved, told))
        assert not rescaled or told[5] > 0
        np.testing.assert_allclose(w, problem.primal(alpha), atol=1e-12)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("loss", LOSSES)
def test_all_alpha_are_multiplied_by_what_a_search_finds(loss, threads):
    X, y = make_data()
    X = X + 0.5
    problem = df.Problem(X, LOSSES[loss][0](y), lam=0.5 / len(y))
    same = reference.ReferenceProblem(X, y, np.ones(len(y)), LOSSES[loss][1], lam=0.5 / len(y))
    order, told = np.random.default_rng(1).permutation(len(y))[:45], [1, 1, -1.0, 1e-3, 1.0]
    _, plain, *_ = run(problem, threads, (0, 45.0, 1), order)
    w, alpha, *_ = run(problem, threads, (0, 45.0, 1), order, rescaling=told)
    moved = plain != 0
    c, best = float((alpha[moved] / plain[moved])[0]), reference.best_multiple(same, plain)
    np.testing.assert_allclose(alpha, c * plain, rtol=1e-12)
    np.testing.assert_allclose(w, problem.primal(alpha), atol=1e-12)
    assert told[5:] == [1, pytest.approx(max(1.0, c))]
    duals = [same.dual_value(each * plain) for each in (1.0, c, best)]
    assert duals[1] - duals[0] > (0.5 if loss == "logistic" else 0.99) * (duals[2] - duals[0]) > 0


def test_blocks_that_have_to_be_shortened_by_more_than_a_half_do_without_stretches():
    rng = np.random.default_rng(0)
    X = np.ones((64, 1)) * rng.normal(size=8)  # all examples are alike
    problem = df.Problem(X, df.losses.Squared(np.ones(64)), lam=1e-3)
    order = rng.permutation(64)
    hearing = {"popular": range(8), "stretches": 3, "kept": 1}
    w, alpha, sigma, _ = run(problem, 4, (0, 64.0, 1), order, 2, **hearing)
    assert sigma > 2
    np.testing.assert_allclose(w, problem.primal(alpha), atol=1e-12)


@pytest.mark.parametrize("most", [0, 3, 30, 1000])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_popular_features_have_the_largest_sums_of_squares(layout, most):
    X, y = make_data()
    problem = df.Problem(LAYOUTS[layout](X), df.losses.Logistic(y), lam=0.1)
    found = kernels.popular(problem.examples.native, most, np.empty(problem.d))
    assert found.tolist() == sorted(np.argsort(-(X**2).sum(axis=0))[:most])


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_rounds_that_are_drawn_visit_nobody_twice_and_what_moves_most(threads):
    problem = make_words(n=997)
    bound = Restless().bind(problem)
    bound._now.unrest[:] = 1e-9
    restless = np.random.default_rng(1).permutation(997)[:100]
    bound._now.unrest[restless] = 1.0
    _, alpha, _, _ = run(problem, threads, (16, 124.0, 1), bound=bound)
    assert np.count_nonzero(alpha) == 124
    assert np.count_nonzero(alpha[restless]) >= 90  # some more are picked than visited


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("unrest", [0.0, np.nan, np.inf])
def test_where_nothing_moves_all_examples_are_alike(threads, unrest):
    problem = make_words(n=301)
    bound = Restless().bind(problem)
    bound._now.unrest[:] = unrest
    _, alpha, _, _ = run(problem, threads, (2, 301.0, 1), bound=bound)
    assert (alpha != 0).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize(("stretches", "told"), [(1, None), (3, None), (3, [1, 1, -1.0, 1e-3, 0.5])])
def test_the_dual_never_falls(loss, alike, stretches, told):
    rng = np.random.default_rng(0)
    X = np.ones((60, 1)) * rng.normal(size=8) if alike else rng.normal(size=(60, 8))
    problem = df.Problem(X, LOSSES[loss][0](np.sign(rng.normal(size=60))), lam=1e-4)
    alpha, dual, gammas = np.zeros(60), -np.inf, []
    for k in range(40):
        order = rng.permutation(60)
        hearing = {"popular": [1, 2, 6], "stretches": stretches, "rescaling": told}
        w, alpha, sigma, _ = run(problem, 4, (0, 60.0, 1), order, alpha=alpha, **hearing)
        value = problem.evaluate(w, alpha)
        assert value.value - value.duality_gap >= dual - 1e-12 * abs(value.value)
        dual = value.value - value.duality_gap
        gammas.append(sigma)
        np.testing.assert_allclose(w, problem.primal(alpha), atol=1e-9 * max(1.0, np.abs(w).max()))
        assert k == 0 or 1 <= sigma <= 4.4 + 1e-9
    assert not alike or max(gammas) > 2  # what all have in common was seen


@pytest.mark.parametrize("loss", [df.losses.Logistic, df.losses.SquaredHinge, df.losses.Squared])
@pytest.mark.parametrize("options", [{}, {"intercept": True}])
@pytest.mark.parametrize("step", ["implicit", "rescaled"])
def test_the_certified_optimum_with_any_number_of_threads(monkeypatch, loss, options, step):
    monkeypatch.setattr(copies.DfSDCACopies, "_together", lambda self: True)  # as if each had a core of its own
    problem = make_words(loss=loss, lam=0.1, **options)
    best = df.solve(problem, method="auto", tol=1e-10, max_epochs=1000).certificate.value
    for n_threads in (1, 2, 5):
        settings = {"method": "dfsdca-copies", "n_threads": n_threads, "step": step, "tol": 1e-6}
        results = [df.solve(problem, **settings) for _ in range(2)]
        assert all(result.status == "converged" for result in results)
        assert best * (1 - 1e-9) <= results[0].certificate.value <= best * (1 + 1e-6)
        if step == "rescaled":  # calls end where threads are late, and the factor goes back into w at their ends
            np.testing.assert_allclose(results[0].alpha, results[1].alpha, rtol=1e-9, atol=1e-12)
            continue
        assert results[0].w.tobytes() == results[1].w.tobytes()
        assert results[0].alpha.tobytes() == results[1].alpha.tobytes()


def test_where_threads_have_no_core_it_is_plain_dfsdca(monkeypatch):
    problem = make_words(lam=0.1)
    monkeypatch.setattr(copies.DfSDCACopies, "_together", lambda self: False)
    alone = df.solve(problem, method="dfsdca-copies", n_threads=2, tol=1e-7)
    plain = df.solve(problem, method="dfsdca", sampling=copies.rounds_of(problem), step="implicit", tol=1e-7)
    assert alone.w.tobytes() == plain.w.tobytes()
    assert alone.epochs == plain.epochs


@pytest.mark.parametrize("intercept", [False, True])
def test_threads_that_come_and_go_lead_to_the_same_optimum(monkeypatch, intercept):
    problem = make_words(n=6000, lam=0.01, intercept=intercept)
    here = iter([True, False, False, True] * 1000)
    monkeypatch.setattr(copies.DfSDCACopies, "_together", lambda self: next(here))
    result = df.solve(problem, method="dfsdca-copies", n_threads=2, tol=1e-8, evaluate_every=0.5)
    best = df.solve(problem, method="dfsdca", tol=1e-9, max_epochs=1000).certificate
    assert result.status == "converged"
    assert best.value - best.gap <= result.certificate.value <= (best.value + best.gap) * (1 + 1e-8)


def test_a_crew_answers():
    assert kernels.Crew(1).present()
    crew = kernels.Crew(3)
    assert any(crew.present() for _ in range(10_000))  # a second, for threads that share a core


def test_epochs_hardly_grow_with_copies_on_words():
    problem = make_words(n=4000, d=8000, each=40)
    plain, split = (
        df.solve(problem, method=method, sampling="restless", n_threads=4, evaluate_every=0.25).epochs
        for method in ("dfsdca", "dfsdca-copies")
    )
    assert split <= 1.5 * plain


def test_plans_use_no_more_copies_than_pay():
    many = make_words(n=4000, d=500, each=40)
    assert plan(many, 1) == copies.CopiesPlan(1, 1, 1, 1.0)
    assert plan(many, 2).threads == 2
    assert plan(many, 2).merges > 1
    wide = make_words(n=20, d=100_000)
    assert plan(wide, 16).threads == 1
    assert plan(many, 2).stretches == 1  # all features cost as much as the popular ones
    hard = make_words(n=4000, d=500, each=40, lam=1e-6)
    assert plan(hard, 16).gain < plan(many, 16).gain


def test_the_harder_a_problem_is_the_more_often_two_copies_hear_of_each_other():
    easy, middling, hard = (make_words(n=20_000, d=40_000, each=60, lam=lam) for lam in (100.0, 1.0, 0.01))
    for problem, rounds, stretches in ((easy, 4, 1), (middling, 4, 3), (hard, 8, 2)):
        assert copies.rounds_of(problem).rounds == rounds
        assert plan(problem, 2)[:3] == (2, 1, stretches)
    result = df.solve(hard, method="dfsdca-copies", n_threads=2, tol=1e-5)
    assert result.status == "converged"


def test_stretches_are_for_two_threads_and_many_features():
    hard = make_words(n=20_000, d=40_000, each=60, lam=0.01)
    assert plan(hard, 4).stretches == 1
    few = make_words(n=2000, d=40_000, each=1, lam=0.01)
    assert plan(few, 2).stretches == 1  # stretches would be too short


def test_auto_copies_takes_them_where_they_pay():
    problem = make_words(n=4000, d=6000, each=60)
    alone, paired = (df.solve(problem, method="auto-copies", n_threads=n) for n in (1, 2))
    assert (alone.method, paired.method) == ("auto: dfsdca", "auto: dfsdca-copies")
    assert "with 2 copies of w, one for each thread" in paired.message
    assert "copies" not in alone.message
    assert df.solve(problem, method="auto", n_threads=2).method == "auto: dfsdca"
    assert df.solve(problem, method="auto-copies", n_threads=2, step="per-example").method == "auto: dfsdca"
    few = df.Problem(np.random.default_rng(0).normal(size=(3000, 5)), df.losses.Squared(np.ones(3000)), lam=1e-6)
    assert df.solve(few, method="auto-copies", n_threads=2).method == "auto: newton"


def test_an_estimator_takes_auto_copies():
    problem = make_words(n=4000, d=6000, each=60)
    y = problem.loss.y
    model = LogisticRegression(solver="auto-copies", n_threads=2, C=1.0, fit_intercept=False)
    model.fit(problem.examples.X, y)
    expected = df.solve(problem, method="auto", tol=1e-9).w
    np.testing.assert_allclose(model.coef_[0], expected, atol=2e-3 * np.abs(expected).max())


def test_refusals():
    X, y = make_data()
    problem = df.Problem(sparse.csr_array(X), df.losses.Logistic(y), lam=0.1)
    for options in ({"sampling": "nice:8"}, {"sampling": "shuffled"}, {"step": "theorem-2", "sampling": "shuffled"}):
        with pytest.raises(
            ValueError,
            match=r"takes sampling='restless' and step='implicit', 'nearly-implicit' or 'rescaled', not .* all of them",
        ):
            df.solve(problem, method="dfsdca-copies", **options)
    with pytest.raises(ValueError, match="takes no L1 part"):
        df.solve(
            df.Problem(X, df.losses.Squared(y), lam=0.1, regulariser=df.regularisers.L2L1(0.1)), method="dfsdca-copies"
        )


def test_the_kernel_refuses_what_would_read_out_of_bounds():
    X, y = make_data()
    problem = df.Problem(sparse.csr_array(X), df.losses.Logistic(y), lam=0.1)
    for wrong in (
        {"rounds": (0, 91.0, 1)},
        {"rounds": (1, 90.0, -1)},
        {"merges": 0},
        {"stretches": 0},
        {"popular": [3, 3]},
        {"popular": [-1]},
        {"popular": [40]},
        {"sigma": 0.5},
        {"sigma": np.nan},
        {"order": np.arange(1, 91)},
        {"order": np.arange(3)},
    ):
        with pytest.raises(ValueError, match=r"must|numbered"):
            run(problem, 2, **{"rounds": (0, 90.0, 1)} | wrong)
    with pytest.raises(ValueError, match="threads must be at least 1"):
        kernels.Crew(0)
