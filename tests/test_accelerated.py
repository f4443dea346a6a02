"""ASDCA and Acc-Prox-SDCA against their literal versions, and the rates that are proven of them."""

import numpy as np
import pytest

import dualfree as df
from dualfree.reference import acc_prox_sdca, asdca
from helpers.l1 import NoConjugate, advanced, feasible, method_on, random_l1_twins, small
from helpers.problems import LAYOUTS, LOSSES
from helpers.samplings import as_batches
from small_problems import LOSSES as SMALL
from small_problems import data

NICE = df.samplings.Nice(3)


@pytest.mark.parametrize("step", [None, 0.3], ids=["theory", "number"])
@pytest.mark.parametrize("layout", LAYOUTS[::4])
@pytest.mark.parametrize("sampling", [NICE, df.samplings.Uniform()], ids=["nice", "uniform"])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_native_asdca_equals_literal(loss, sampling, layout, step):
    fast, slow = random_l1_twins(loss, mu=0.0, weighted=True, layout=layout)
    method, start = method_on("asdca", fast, sampling, step), feasible(np.random.default_rng(2), fast)
    draws = method.sampling.draw(0, 50, 3)
    state = method.start(start.copy())
    for first, last in ((0, 7), (7, 8), (8, 50)):
        method.advance(state, draws.between(first, last))
    w, alpha = asdca(slow, as_batches(draws), method.step, start)
    np.testing.assert_allclose(state.w, w, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(state.alpha, alpha, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(state.memory["combination"], fast.combination(state.alpha), atol=1e-12)


def test_asdca_puts_its_factor_back_before_it_underflows():
    fast, slow = random_l1_twins("logistic", mu=0.0, lam=3.0)
    method = method_on("asdca", fast, NICE, 0.9)
    draws = method.sampling.draw(0, 300, 1)  # 0.1 to the power of 300 is nothing
    w, _ = asdca(slow, as_batches(draws), 0.9, np.zeros(fast.n))
    np.testing.assert_allclose(advanced(method, np.zeros(fast.n), draws).w, w, rtol=1e-9, atol=1e-12)


def literal_epochs(method, draws):
    """Epochs of steps, and between them the iterations that a look at the gap takes the place of."""
    length = method.epoch_length
    return [as_batches(draws.between(at, at + length)) for at in range(0, draws.count, 2 * length)]


@pytest.mark.parametrize("mu", [0.0, 0.01])
@pytest.mark.parametrize("layout", LAYOUTS[::4])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_native_acc_prox_sdca_equals_literal(loss, layout, mu):
    fast, slow = random_l1_twins(loss, mu=mu, lam=0.01, layout=layout)
    method = method_on("acc-prox-sdca", fast, step=0.2)
    start = feasible(np.random.default_rng(2), fast)
    draws = method.sampling.draw(0, 15 * method.epoch_length, 3)
    state = method.start(start.copy())
    for first, last in ((0, 5), (5, 31), (31, draws.count)):
        method.advance(state, draws.between(first, last))
    points, excesses, alpha = acc_prox_sdca(slow, literal_epochs(method, draws), method.sampling.v, 0.2, start)
    assert state.memory["counters"][2] == len(excesses) > 1
    assert state.memory["excess"][0] == pytest.approx(excesses[-1], rel=1e-9)
    np.testing.assert_allclose(state.alpha, alpha, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(method.evaluate(state)[0], points[-1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize("loss", sorted(SMALL))
@pytest.mark.parametrize(("name", "mu"), [("asdca", 0.0), ("acc-prox-sdca", 0.0), ("acc-prox-sdca", 0.01)])
def test_each_reaches_1e_8(name, mu, loss, kind):
    problem = small(loss, mu=mu, kind=kind)
    result = df.solve(problem, method=name, tol=1e-8, max_epochs=20_000, evaluate_every=20)
    assert result.status == "converged", result.message
    best = df.solve(problem, tol=1e-12, max_epochs=5000, evaluate_every=20).certificate.value
    assert -1e-11 * abs(best) <= result.certificate.value - best <= 1e-8 * abs(best)


def ill_conditioned(mu=0.0):
    X = data(n=40)
    penalty = df.regularisers.L2L1(mu)
    return df.Problem(X, SMALL["squared"](X), lam=1e-4, regulariser=penalty)


def test_momentum_pays_where_lambda_is_small():
    problem = ill_conditioned(mu=1e-4)
    assert method_on("acc-prox-sdca", problem).kappa > 0
    options = {"tol": 1e-9, "max_epochs": 100_000, "evaluate_every": 10}
    plain, fast = (df.solve(problem, method=name, **options).epochs for name in ("prox-sdca", "acc-prox-sdca"))
    assert fast < plain


@pytest.mark.parametrize("mu", [0.0, 1e-3])
def test_each_centre_keeps_its_promise(mu):
    """P(w) − P* ≤ ξ_t = (1 − η/2)^{t−1} ξ_1 after each P_t, whatever was drawn."""
    problem = ill_conditioned(mu)
    method = method_on("acc-prox-sdca", problem)
    best = df.solve(problem, tol=1e-12, max_epochs=20_000, evaluate_every=50).certificate.value
    state, centres, held = method.start(np.zeros(problem.n)), 1, 0
    while state.iteration < 2000 * problem.n:
        method.advance(state, method.sampling.draw(state.iteration, problem.n, 0))
        if state.memory["counters"][2] > centres:
            assert state.memory["counters"][2] == centres + 1
            centres, held = centres + 1, held + 1
            assert problem.value(state.memory["before"]) - best <= state.memory["excess"][0] + 1e-12 * best
    first = (1 + method.eta**-2) * problem.gap(np.zeros(problem.d), np.zeros(problem.n))
    assert state.memory["excess"][0] == pytest.approx((1 - method.eta / 2) ** (centres - 1) * first)
    assert held > 20


def test_a_good_condition_needs_no_momentum():
    problem = small(mu=0.01)
    assert method_on("acc-prox-sdca", problem).kappa == 0
    runs = [df.solve(problem, method=name, max_epochs=5, tol=0) for name in ("prox-sdca", "acc-prox-sdca")]
    np.testing.assert_allclose(runs[0].w, runs[1].w, rtol=1e-12)


@pytest.mark.parametrize("tau", [1, 8])
@pytest.mark.parametrize("lam", [1 / 60, 1e-3])
def test_asdca_keeps_its_rate_in_the_mean(tau, lam):
    """E[τ (P(w) − P*) + n (D* − D(α))] ≤ (1 − θτ/n)ᵏ times the same at the start."""
    X = data()
    problem = df.Problem(X, SMALL["squared"](X), lam=lam)
    method = method_on("asdca", problem, df.samplings.Nice(tau))
    best = df.solve(problem, method="newton", tol=1e-14).certificate.value

    def potential(state):
        return tau * (problem.value(state.w) - best) + problem.n * (best - problem.dual_value(state.alpha))

    times, seeds = (50, 200, 600), 40
    left = np.empty((seeds, len(times)))
    for seed in range(seeds):
        state = method.start(np.zeros(problem.n))
        for k, time in enumerate(times):
            method.advance(state, method.sampling.draw(state.iteration, time - state.iteration, seed))
            left[seed, k] = potential(state)
    promised = (1 - method.step * tau / problem.n) ** np.array(times) * potential(method.start(np.zeros(problem.n)))
    assert (left.mean(axis=0) <= promised + 3 * left.std(axis=0) / np.sqrt(seeds)).all()


@pytest.mark.parametrize("name", ["asdca", "acc-prox-sdca"])
def test_tuned_steps_and_warm_starts(name):
    problem = ill_conditioned()
    result = df.solve(problem, method=name, step="tuned", max_epochs=60)
    assert result.tuning is not None
    assert result.theta == result.tuning.theta
    again = df.solve(problem, method=name, warm_start=result, max_epochs=1)
    assert again.history[0].value == pytest.approx(problem.value(problem.primal(result.alpha)))


@pytest.mark.parametrize(
    ("method", "options", "sentence"),
    [
        ("asdca", {"step": 1.0}, "step is θ = 1.0; it must be above 0 and below 1"),
        ("asdca", {"step": "exact"}, "method='asdca' takes 'theory', 'tuned' or a number θ"),
        ("asdca", {"sampling": "importance"}, "sampling='nice:TAU' or 'uniform'"),
        ("acc-prox-sdca", {"step": -1.0}, "step is κ = -1.0; it must be a finite number, at least 0"),
        ("acc-prox-sdca", {"step": "exact"}, "takes 'theory', 'tuned' or a number κ"),
    ],
)
def test_refusals(method, options, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        df.solve(small(mu=0.0), method=method, **options)


def test_what_acc_prox_sdca_does_not_take():
    with pytest.raises(ValueError, match="method='prox-sdca' and 'dfsdca' have one"):
        df.solve(small(intercept=True), method="acc-prox-sdca")

    class Mine(NoConjugate):
        def conjugate(self, a, y):
            return a * (a / 2 - y)

    problem = df.Problem(np.eye(3), Mine(np.ones(3)), 0.1)
    with pytest.raises(ValueError, match="Mine is written in Python; method='prox-sdca' takes it"):
        df.solve(problem, method="acc-prox-sdca")
    assert df.solve(problem, method="prox-sdca", sampling="nice:3").status == "converged"
