"""The line through α and where it was: against the literal search, what is held at its end, and what it wins."""

import math

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree import reference
from dualfree.methods import dfsdca
from dualfree.methods.drift import Drift
from dualfree.methods.extrapolation import Extrapolation
from dualfree.methods.rescaling import Rescaling
from dualfree.samplings import Restless
from small_problems import LOSSES
from test_copies import run
from test_rescaling import LITERAL, N, problem_of

NO_LINE = None


def after_a_round(problem, line, threads=0, offset=0.0):
    """α and w after one round from zero, and what became of the line; on copies of w where `threads` says so."""
    bound = Restless(rounds=1).bind(problem)
    multiples = (1, 1, 0.0, 1e-3, Rescaling(bound).flatness)
    if threads:
        told, order = list(multiples), np.random.default_rng(0).permutation(N)
        w, alpha, *_ = run(problem, threads, (0, float(N), 1), order, rescaling=told, line=line)
        return alpha, w, None
    alpha, w = np.zeros(N), np.zeros(problem.d)
    bound.refresh(w, alpha)
    step = (0.0, problem.norms**2 / (problem.lam * N), 1 / (problem.lam * N))
    rounds = bound.rounds(0, bound.fresh_until, 0)
    *_, became, _ = problem.examples.dfsdca_rounds(
        problem.loss.native, *step, rounds.native, (*multiples, line), offset, alpha, w
    )
    return alpha, w, became[-1]


def line_from(problem, before, price=1e-3):
    """What the kernel is told of a line that is due now, and where α and w were."""
    where = before.copy(), problem.primal(before)
    return (1, 1, price, 1, True, 10.0, 0.0, *where), *where


def literal_of(problem, name):
    X = problem.examples.X.toarray() if sparse.issparse(problem.examples.X) else problem.examples.X
    weight = np.ones(N) if problem.loss.weight is None else problem.loss.weight
    return reference.ReferenceProblem(X, problem.loss.y, weight, LITERAL[name], problem.lam)


def inside(literal, alpha):
    """α where the conjugates are finite, though rounding may have taken an α_i out of its domain."""
    return alpha * (1 - 1e-15)


def towards(problem, plain, part):
    """Where α was before, if it has gone a part of its way to the optimum since; examples at an end stay there."""
    best = df.solve(problem, method="dfsdca", tol=1e-9, max_epochs=5000).alpha
    way = part * (best - plain)
    weight = 1.0 if problem.loss.weight is None else problem.loss.weight
    for end in (0.0, 1.0, 0.3):
        way[np.isclose(np.abs(plain), end * weight, atol=1e-6)] = 0.0
    return plain - way


@pytest.mark.parametrize("threads", [0, 1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("outwards", [False, True])
def test_the_kernel_is_the_literal_step(name, layout, weighted, threads, outwards):
    problem = problem_of(name, layout, weighted, lam=1 / N)
    literal = literal_of(problem, name)
    plain, _, _ = after_a_round(problem, NO_LINE, threads)
    before = towards(problem, plain, 0.2)
    if outwards:  # some few of them go beyond the ends of their domains
        left = 0.3 * literal.weight * np.sign(plain) - plain if name == "huber" else -plain
        some = [i for i in np.argsort(np.abs(left)) if abs(left[i]) > 2e-3][:6]
        before[some] = plain[some] - 1.2 * left[some]
    expected, t, held = reference.along_line(literal, inside(literal, plain), before)
    assert (3 if outwards and name != "squared" else 0) <= len(held) <= N / 8
    line, alpha_before, w_before = line_from(problem, before)
    alpha, w, became = after_a_round(problem, line, threads)
    old, new = (literal.dual_value(inside(literal, each)) for each in (plain, expected))
    assert new > old
    np.testing.assert_allclose(alpha, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(w, literal.primal(alpha), rtol=1e-9, atol=1e-12)  # the invariant
    np.testing.assert_array_equal(alpha_before, plain)
    np.testing.assert_allclose(w_before, literal.primal(plain), rtol=1e-9, atol=1e-12)
    if became is not None:
        length, left, known, fresh, by_visits, times, roundings, moved = became
        assert (length, left, known, by_visits, times) == (1, 1, True, 0.0, 1)
        assert fresh == pytest.approx(abs(t) * (10 + N) + 3 + len(held), rel=1e-5)
        assert roundings == fresh
        assert moved == pytest.approx(np.sum((alpha - plain) ** 2))


@pytest.mark.parametrize("threads", [0, 2])
def test_where_too_many_would_be_held_nothing_moves(threads):
    problem = problem_of("smoothed-hinge")
    plain, w, _ = after_a_round(problem, NO_LINE, threads)
    before = plain - 5 * problem.loss.y * np.random.default_rng(0).random(N)
    line, alpha_before, w_before = line_from(problem, before)
    alpha, w_after, became = after_a_round(problem, line, threads)
    np.testing.assert_array_equal(alpha, plain)
    np.testing.assert_array_equal(w_after, w)
    np.testing.assert_array_equal(alpha_before, plain)  # the next line begins here
    np.testing.assert_array_equal(w_before, w)
    assert threads or became[:2] == (2, 2)  # and comes later
    assert threads or became[-3:] == (0, 0.0, 0.0)


def test_the_first_time_alpha_is_remembered_and_stays():
    problem = problem_of("logistic")
    plain, w, _ = after_a_round(problem, NO_LINE)
    alpha_before, w_before = np.full(N, np.nan), np.full(problem.d, np.nan)
    alpha, _, became = after_a_round(problem, (1, 1, 0.1, 4, False, 0.0, 0.0, alpha_before, w_before))
    np.testing.assert_array_equal(alpha, plain)
    np.testing.assert_array_equal(alpha_before, plain)
    np.testing.assert_array_equal(w_before, w)
    assert became[:3] == (1, 4, True)


@pytest.mark.parametrize(("by_visits", "length"), [(5.0, 1), (20.0, 2)])
def test_what_wins_a_tenth_of_what_visits_win_at_half_their_price_is_worth_it(by_visits, length):
    problem = problem_of("squared")  # what is won is known to the last digit
    plain, _, _ = after_a_round(problem, NO_LINE)
    before = towards(problem, plain, 0.5)
    line, *_ = line_from(problem, before)
    won = problem.dual_value(after_a_round(problem, line)[0]) - problem.dual_value(plain)
    much = 1e9  # what the visits of this round have won is next to nothing beside it
    line, *_ = line_from(problem, before, price=0.5 / math.sqrt(much))
    told = (*line[:6], by_visits * won * N * much, *line[7:])
    assert after_a_round(problem, told)[2][:2] == (length, length)


def test_copies_wait_less_for_their_first_line():
    bound = Restless().bind(problem_of("logistic"))
    alone, shared = (Extrapolation(bound, 1e5, copies).told[1] for copies in (False, True))
    assert (alone, shared) == (4 * 8, 3 * 8)


def test_the_offset_of_an_intercept_counts():
    problem = problem_of("logistic", intercept=True)
    X = np.hstack([problem.examples.X, np.full((N, 1), problem.examples.constant_value)])
    literal = reference.ReferenceProblem(X, problem.loss.y, np.ones(N), LITERAL["logistic"], problem.lam)
    steps = []
    for offset in (-0.3, 0.3):
        plain, _, _ = after_a_round(problem, NO_LINE, offset=offset)
        before = 0.5 * plain
        line, *_ = line_from(problem, before)
        alpha, _, _ = after_a_round(problem, line, offset=offset)
        expected, t, _ = reference.along_line(literal, plain, before, offset)
        np.testing.assert_allclose(alpha, expected, rtol=1e-5)
        steps.append(t)
    assert abs(steps[0] - steps[1]) > 1e-3


def spied(monkeypatch):
    """The problem's dual after each call of the kernel, and how often α went along a line."""
    seen = {"duals": [], "times": 0}
    original = Extrapolation.take_in

    def take_in(self, drift, became, roundings=1):
        seen["times"] += became[5]
        return original(self, drift, became, roundings)

    monkeypatch.setattr(Extrapolation, "take_in", take_in)
    moved = dfsdca.take_in

    def watched(state, *arguments, **more):
        seen["duals"].append(seen["problem"].dual_value(state.alpha))
        return moved(state, *arguments, **more)

    monkeypatch.setattr(dfsdca, "take_in", watched)
    return seen


@pytest.mark.parametrize("name", LOSSES)
def test_the_dual_never_falls(name, monkeypatch):
    problem, seen = problem_of(name, lam=0.003 / N), spied(monkeypatch)
    seen["problem"] = problem
    settings = {"method": "dfsdca", "sampling": "restless", "step": "rescaled"}
    df.solve(problem, tol=0.0, max_epochs=40, evaluate_every=0.125, **settings)
    duals = np.array(seen["duals"])
    assert len(duals) > 250
    assert seen["times"] > 5
    assert (np.diff(duals) >= -1e-12 * np.abs(duals[1:])).all()


def words(n=1500, d=1500, each=40):
    """Rows with popular columns, as texts have them."""
    rng = np.random.default_rng(0)
    columns = (d * rng.random(n * each) ** 3).astype(int)
    X = sparse.csr_matrix((np.ones(n * each), (np.repeat(np.arange(n), each), columns)), shape=(n, d))
    X.data /= math.sqrt(X.multiply(X).sum(axis=1).max())
    return X, np.sign(X @ rng.normal(size=d) + 0.05 * rng.normal(size=n))


@pytest.mark.parametrize("loss", [df.losses.Logistic, df.losses.SquaredHinge, df.losses.Squared])
def test_small_lambda_takes_fewer_epochs(loss, monkeypatch):
    X, y = words()
    problem, seen = df.Problem(X, loss(y), lam=0.003 / len(y)), spied(monkeypatch)
    seen["problem"] = problem
    settings = {"method": "dfsdca", "sampling": "restless", "tol": 1e-6, "max_epochs": 2000}
    epochs = [df.solve(problem, step=step, **settings).epochs for step in ("nearly-implicit", "rescaled")]
    assert seen["times"] > 5
    assert epochs[1] < 0.85 * epochs[0]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_roundings_do_not_feed_on_themselves(seed, intercept, monkeypatch):
    """At the optimum a line is noise, which would grow by t each time that w goes along it."""
    rng, seen = np.random.default_rng(seed), spied(monkeypatch)
    X = rng.random((15, 31))
    problem = df.Problem(X, df.losses.Huber(rng.integers(0, 3, 15), delta=1e-5), 1e-6, intercept=intercept)
    seen["problem"] = problem
    settings = {"method": "dfsdca", "sampling": "restless", "step": "rescaled", "evaluate_every": 10}
    result = df.solve(problem, tol=0.0, max_epochs=1000, **settings)
    gaps = [row.gap for row in result.history]
    assert seen["times"] > 5
    assert max(gaps[-50:]) < 1e-14 * gaps[0]


def test_easy_problems_end_before_it_begins(monkeypatch):
    X, y = words()
    problem, seen = df.Problem(X, df.losses.Logistic(y), lam=10 / len(y)), spied(monkeypatch)
    seen["problem"] = problem
    result = df.solve(problem, method="dfsdca", sampling="restless", step="rescaled", tol=1e-6)
    assert result.status == "converged"
    assert seen["times"] == 0


def test_the_account_of_rounding_has_the_lines(monkeypatch):
    drift = Drift(at=0)
    drift.add(0, 10, 10, 1.0)
    before = drift.bound(10, 1.0)
    drift.extrapolate(5, 2.5, 3.0)
    assert drift.bound(10, 1.0) == pytest.approx(before * (18.5 / 11) * math.sqrt(15 * 4 / 10))
    X, y = words()
    problem, seen = df.Problem(X, df.losses.Logistic(y), lam=0.003 / len(y)), spied(monkeypatch)
    seen["problem"] = problem
    result = df.solve(problem, method="dfsdca", sampling="restless", step="rescaled", tol=1e-9, max_epochs=1000)
    assert seen["times"] > 5
    assert problem.value(result.w) - problem.dual_value(result.alpha) <= result.certificate.gap * (1 + 1e-6) + 1e-15
    np.testing.assert_allclose(result.w, problem.primal(result.alpha), atol=1e-10)


@pytest.mark.parametrize("place", ["alpha before", "w before"])
def test_a_line_of_the_wrong_length_is_refused(place):
    problem = problem_of("logistic")
    line = (1, 1, 0.1, 1, True, 0.0, 0.0, np.zeros(N - (place == "alpha before")), np.zeros(12 - (place == "w before")))
    with pytest.raises(ValueError, match=place):
        after_a_round(problem, line)
    with pytest.raises(ValueError, match="length and unit"):
        after_a_round(problem, (0, 1, 0.1, 1, True, 0.0, 0.0, np.zeros(N), np.zeros(12)))
