"""The best multiple of α after each round of visits: against the literal search, what it keeps, and what it wins."""

import math

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree import reference
from dualfree.methods import METHODS
from dualfree.methods.drift import Drift
from dualfree.methods.rescaling import Rescaling
from dualfree.samplings import Restless
from small_problems import LOSSES, data

LITERAL = {
    "logistic": reference.logistic(),
    "squared": reference.squared(),
    "squared-hinge": reference.squared_hinge(),
    "smoothed-hinge": reference.smoothed_hinge(0.5),
    "huber": reference.huber(0.3),
}
N = 160


def shared(n=N, d=12, seed=0):
    """Rows with much in common, so that visits one by one go too far."""
    X = data(n, d, seed) + 0.5
    return X / np.linalg.norm(X, axis=1).max()


def in_rounds(problem, count, rescaled, price=1e-3, offset=0.0):
    """α, w and what became of the rescaling after each of the first rounds, in one call each."""
    bound, step = Restless().bind(problem), (0.0, problem.norms**2 / (problem.lam * problem.n))
    alpha, w, iteration = np.zeros(problem.n), np.zeros(problem.d), 0
    told = (1, 1, 0.0, price, Rescaling(bound).flatness, None)
    bound.refresh(w, alpha)
    for _ in range(count):
        rounds = bound.rounds(iteration, bound.fresh_until, 0)
        settings = (*step, 1 / (problem.lam * problem.n), rounds.native, told if rescaled else None, offset)
        moved, unit, sure, became, _ = problem.examples.dfsdca_rounds(problem.loss.native, *settings, alpha, w)
        iteration = rounds.end(unit, sure, len(moved))[-1]
        bound.refresh(w, alpha, iteration=iteration)
        told = told if became is None else (*became[:3], *told[3:5], None)
        yield alpha.copy(), w.copy(), became


def one_round(*arguments, **settings):
    return next(in_rounds(*arguments[:1], 1, *arguments[1:], **settings))


def problem_of(name, layout="dense", weighted=False, lam=0.05 / N, d=12, intercept=False):
    X = shared(d=d)
    loss = LOSSES[name](X)
    if weighted:
        weight = np.random.default_rng(4).uniform(0.2, 2.0, N)
        weight[::7] = 0.0
        loss = type(loss)(loss.y, *loss.parameters, weight=weight)
    return df.Problem(sparse.csr_matrix(X) if layout == "csr" else X, loss, lam, intercept)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("layout", "d", "price"), [("dense", 12, 1e-3), ("csr", 400, 0.5)])
@pytest.mark.parametrize("name", LOSSES)
def test_the_kernel_multiplies_by_what_a_search_finds(name, layout, d, price, weighted):
    """With a short w that is multiplied at once, and with a long one whose factor is kept apart for a while."""
    problem = problem_of(name, layout, weighted, d=d)
    plain, _, _ = one_round(problem, rescaled=False)
    alpha, w, (length, left, squares, times, growth, _) = one_round(problem, rescaled=True, price=price)
    X = problem.examples.X.toarray() if layout == "csr" else problem.examples.X
    weight = np.ones(N) if problem.loss.weight is None else problem.loss.weight
    literal = reference.ReferenceProblem(X, problem.loss.y, weight, LITERAL[name], problem.lam)
    moved = plain != 0
    factors = alpha[moved] / plain[moved]
    c, best = float(factors[0]), reference.best_multiple(literal, plain)
    np.testing.assert_allclose(factors, c, rtol=1e-14)
    np.testing.assert_allclose(w, literal.primal(alpha), rtol=1e-9, atol=1e-12)  # the invariant
    assert squares == pytest.approx(problem.lam * N * float(w @ w), rel=1e-9)
    if abs(best - 1) < 1e-9:  # an α at the end of its domain
        assert (times, growth, c) == (0, 1.0, 1.0)
        return
    assert times == 1
    assert growth == pytest.approx(max(1.0, c), rel=1e-14)
    assert (length, left) == ((1, 1) if price < 0.1 else (2, 2))
    before, after, there = (literal.dual_value(s * plain) for s in (1.0, c, best))
    if name == "logistic":  # shortened, so that the dual cannot fall
        assert (after - before) > 0.5 * (there - before)
    elif 0.5 < best < 2.0:
        assert c == pytest.approx(best, rel=1e-6)
    assert after > before


def test_the_offset_of_an_intercept_counts():
    problem = problem_of("logistic", intercept=True)
    for offset in (-1.0, 1.0):
        plain, _, _ = one_round(problem, rescaled=False, offset=offset)
        alpha, _, _ = one_round(problem, rescaled=True, offset=offset)
        moved = plain != 0
        X = np.hstack([problem.examples.X, np.full((N, 1), problem.examples.constant_value)])
        literal = reference.ReferenceProblem(X, problem.loss.y, np.ones(N), LITERAL["logistic"], problem.lam)

        def dual(c, literal=literal, plain=plain, offset=offset):
            return literal.dual_value(c * plain) - offset * c * plain.mean()

        best, c = reference.best_multiple(literal, plain, offset), float((alpha[moved] / plain[moved])[0])
        assert abs(best - 1) > 1e-3
        assert dual(c) - dual(1.0) > 0.5 * (dual(best) - dual(1.0))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_the_same_optimum(name, layout, intercept):
    problem = problem_of(name, layout, lam=0.01 / N, intercept=intercept)
    settings = {"method": "dfsdca", "sampling": "restless", "max_epochs": 20_000}
    rescaled = df.solve(problem, step="rescaled", tol=1e-10, **settings)
    plain = df.solve(problem, step="implicit", tol=1e-11, **settings)
    assert (rescaled.status, rescaled.step) == (df.Status.CONVERGED, "rescaled")
    scale = 1 + np.abs(plain.w).max()
    np.testing.assert_allclose(rescaled.w, plain.w, atol=2e-4 * scale)
    assert rescaled.certificate.value == pytest.approx(plain.certificate.value, rel=1e-9)
    if not intercept:
        np.testing.assert_allclose(problem.primal(rescaled.alpha), rescaled.w, atol=1e-10 * scale)


@pytest.mark.parametrize("name", LOSSES)
def test_the_dual_never_falls_from_round_to_round(name):
    problem = problem_of(name, lam=0.003 / N)
    before, rescaled = -math.inf, 0
    for alpha, _, (*_, times, _, _) in in_rounds(problem, 60, rescaled=True):
        dual = problem.dual_value(alpha)
        assert dual >= before - 1e-12 * abs(dual)
        before, rescaled = dual, rescaled + times
    assert rescaled > 3


def test_examples_with_much_in_common_come_nearer_in_as_many_epochs():
    rng = np.random.default_rng(0)
    common = sparse.csr_matrix((rng.random((800, 300)) < 0.3).astype(float))
    X = sparse.hstack([sparse.random(800, 5000, 0.02, "csr", rng=rng), common], "csr")
    X.data[:] = 1 / math.sqrt(np.diff(X.indptr).max())
    told = X @ rng.normal(size=X.shape[1])
    problem = df.Problem(X, df.losses.Logistic(told > np.quantile(told, 0.9)), 1 / 800)
    gaps = {}
    for step in ("nearly-implicit", "rescaled"):
        settings = {"method": "dfsdca", "sampling": "restless", "step": step, "tol": 0.0, "max_epochs": 3}
        found = [df.solve(problem, seed=seed, evaluate_every=3, **settings) for seed in range(5)]
        gaps[step] = np.mean([one.certificate.duality_gap for one in found])
    assert gaps["rescaled"] < 0.75 * gaps["nearly-implicit"]


def test_looks_that_win_nothing_become_rare():
    X = np.eye(64)  # no example knows of another: each visit ends at its optimum
    problem = df.Problem(X, df.losses.Squared(np.ones(64)), 0.1)
    pauses = [became[:2] for *_, became in in_rounds(problem, 6, rescaled=True, price=0.1)]
    assert pauses == [(2, 2), (2, 1), (4, 4), (4, 3), (4, 2), (4, 1)]


def test_the_account_of_rounding_has_the_multiples():
    drift = Drift(at=0)
    drift.add(0, 10, 10, 1.0)
    before = drift.bound(10, 1.0)
    drift.rescale(2, 1.5)
    assert drift.bound(10, 1.0) == pytest.approx(before * 1.5 * (17 / 11) * math.sqrt(16 / 10))
    problem = problem_of("logistic", "csr", d=400, lam=1 / N)
    result = df.solve(problem, method="auto", sampling="restless", step="rescaled", tol=1e-12)
    assert result.certificate.gradient_norm == math.inf  # proven by the account alone
    assert problem.value(result.w) - problem.dual_value(result.alpha) <= result.certificate.gap * (1 + 1e-6) + 1e-15


def test_auto_takes_it_where_it_can():
    X = sparse.random(50, 6000, 0.05, "csr", rng=np.random.default_rng(0))
    y = np.arange(50) % 2
    assert df.solve(df.Problem(X, df.losses.Logistic(y), 0.1), method="auto").step == "rescaled"
    assert df.solve(df.Problem(X, df.losses.Softmax(np.arange(50) % 3), 0.1), method="auto").step == "nearly-implicit"


def test_what_cannot_be_rescaled_is_refused_in_a_sentence(tmp_path):
    X = shared()
    problem = df.Problem(X, df.losses.Logistic(np.arange(N) % 2), 0.1)
    for sampling in ("shuffled", "uniform"):
        with pytest.raises(ValueError, match=r"step='rescaled' takes method='dfsdca' or .*, sampling='restless'"):
            df.solve(problem, method="dfsdca", sampling=sampling, step="rescaled")
    several = df.Problem(X, df.losses.Softmax(np.arange(N) % 3), 0.1)
    with pytest.raises(ValueError, match=r"a built-in loss of one output .* not DfSDCA with .* Softmax"):
        df.solve(several, method="dfsdca", sampling="restless", step="rescaled")
    sparse_w = df.Problem(X, df.losses.Squared(np.ones(N)), 0.1, regulariser=df.regularisers.L2L1(0.1))
    with pytest.raises(ValueError, match=r"no L1 part"):
        df.solve(sparse_w, method="dfsdca", sampling="restless", step="rescaled")
    with pytest.raises(ValueError, match=r"checkpoint is given, but a run with step='rescaled'.*'nearly-implicit'"):
        df.solve(problem, method="dfsdca", sampling="restless", step="rescaled", checkpoint=tmp_path / "run")


@pytest.mark.parametrize("method", sorted({*METHODS} - {"dfsdca", "dfsdca-copies"}))
def test_other_methods_refuse_it(method):
    problem = df.Problem(shared(), df.losses.Logistic(np.arange(N) % 2), 0.1)
    with pytest.raises((ValueError, TypeError)):
        df.solve(problem, method=method, sampling="restless", step="rescaled", max_epochs=1)
    with pytest.raises((ValueError, TypeError)):
        df.solve(problem, method=method, step="rescaled", max_epochs=1)
