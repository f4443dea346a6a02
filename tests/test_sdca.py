"""SDCA, Prox-SDCA and Iprox-SDCA against their literal versions, their rates, and the relations between them."""

import numpy as np
import pytest

import dualfree as df
from dualfree.methods import METHODS
from dualfree.reference import sdca
from helpers.l1 import NoConjugate, advanced, feasible, l1_twins, method_on, random_l1_twins, small
from helpers.problems import LAYOUTS, LOSSES
from helpers.samplings import as_batches
from small_problems import LOSSES as SMALL
from small_problems import SAMPLINGS

NAMES = ("sdca", "prox-sdca", "iprox-sdca")


def mu_of(name):
    return 0.0 if name == "sdca" else 0.02


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("step", ["exact", "fixed", 0.3])
@pytest.mark.parametrize("layout", LAYOUTS[::4])
@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("name", NAMES)
def test_native_equals_literal(name, loss, layout, step, weighted):
    fast, slow = random_l1_twins(loss, mu=mu_of(name), weighted=weighted, layout=layout)
    method, start = method_on(name, fast, step=step), feasible(np.random.default_rng(2), fast)
    draws = method.sampling.draw(0, 40, 3)
    state = advanced(method, start, draws)
    w, alpha = sdca(slow, as_batches(draws), method.sampling.v, step, start)
    np.testing.assert_allclose(state.alpha, alpha, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fast.point(state.w), w, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("name", ["sdca", "prox-sdca"])
def test_sets_equal_literal(name, loss):
    fast, slow = random_l1_twins(loss, mu=mu_of(name))
    method, start = method_on(name, fast, df.samplings.Nice(4)), feasible(np.random.default_rng(2), fast)
    draws = method.sampling.draw(0, 12, 3)
    w, alpha = sdca(slow, as_batches(draws), method.sampling.v, "exact", start)
    state = advanced(method, start, draws)
    np.testing.assert_allclose(state.alpha, alpha, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fast.point(state.w), w, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_exact_step_maximises_the_dual_along_its_coordinate(loss):
    fast, slow = random_l1_twins(loss, mu=0.0)
    start = feasible(np.random.default_rng(5), fast)
    method = method_on("sdca", fast)
    for i in range(fast.n):
        moved = fast.loss.project(advanced(method, start, df.samplings.Draws(np.array([i]))).alpha)
        best = slow.dual_value(moved)
        assert best >= slow.dual_value(start) - 1e-14
        for change in (-1e-3, -1e-5, 1e-5, 1e-3):
            other = moved.copy()
            other[i] += change
            assert slow.dual_value(other) <= best + 1e-14


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize("loss", sorted(SMALL))
@pytest.mark.parametrize("name", NAMES)
def test_each_reaches_1e_8(name, loss, kind):
    problem = small(loss, mu=mu_of(name) / 2, kind=kind)
    result = df.solve(problem, method=name, tol=1e-8, max_epochs=5000, evaluate_every=20)
    assert result.status == "converged", result.message
    best = df.solve(problem, tol=1e-12, max_epochs=5000, evaluate_every=20).certificate.value
    assert -1e-11 * abs(best) <= result.certificate.value - best <= 1e-8 * abs(best)


@pytest.mark.parametrize("name", ["sdca", "prox-sdca"])
@pytest.mark.parametrize("sampling", sorted(SAMPLINGS))
def test_any_sampling(name, sampling):
    problem = small(mu=mu_of(name) / 4)
    result = df.solve(
        problem, method=name, sampling=SAMPLINGS[sampling](problem.n), tol=1e-7, max_epochs=3000, evaluate_every=20
    )
    assert result.status == "converged", result.message


def test_prox_sdca_without_mu_is_sdca():
    runs = [df.solve(small(mu=0.0), method=name, max_epochs=5, tol=0) for name in ("sdca", "prox-sdca")]
    np.testing.assert_array_equal(runs[0].w, runs[1].w)


@pytest.mark.parametrize("mu", [0.0, 0.01])
def test_the_exact_step_is_implicit_dfsdca(mu):
    """The maximum of the dual, literally, against the kernel's implicit equation, which never names the dual."""
    fast, slow = random_l1_twins("logistic", mu=mu)
    bound = df.samplings.Uniform().bind(fast)
    dual_free = METHODS["dfsdca"](fast, bound, METHODS["dfsdca"].step_rule(bound, "implicit"))
    draws = bound.draw(0, 100)
    _, alpha = sdca(slow, as_batches(draws), bound.v, "exact", np.zeros(fast.n))
    np.testing.assert_allclose(advanced(dual_free, np.zeros(fast.n), draws).alpha, alpha, rtol=1e-9, atol=1e-10)


def test_equal_norms_make_iprox_sdca_prox_sdca():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    problem, _ = l1_twins("squared", X, rng.normal(size=30), 0.1, 0.02)
    p = method_on("iprox-sdca", problem).sampling.p
    np.testing.assert_allclose(p, 1 / 30, rtol=1e-12)
    equal = df.samplings.Serial(np.full(30, 1 / 30))
    runs = [df.solve(problem, method=name, sampling=equal, max_epochs=4, tol=0) for name in ("prox-sdca", "iprox-sdca")]
    np.testing.assert_array_equal(runs[0].w, runs[1].w)


@pytest.mark.parametrize("step", ["exact", "fixed"])
@pytest.mark.parametrize("name", [*NAMES, "sets"])
def test_the_proven_rate_holds_in_the_mean(name, step):
    """E[D* − D(α)] ≤ (1 − θ)ᵏ (D* − D(α⁰)), θ = min p_i nλ/(l_i v_i + nλ)."""
    sets = name == "sets"
    name = "prox-sdca" if sets else name
    problem = small("logistic" if sets else "squared", mu=mu_of(name) / 2)
    method = method_on(name, problem, df.samplings.Nice(6) if sets else None, step)
    best = df.solve(problem, tol=1e-13, max_epochs=5000, evaluate_every=20).alpha
    top = problem.dual_value(best)
    if name == "iprox-sdca":
        assert 1 / method.rule.theta == pytest.approx(problem.n + (problem.l * problem.norms**2).mean() / problem.lam)
    times, seeds = (20, 60, 150), 60
    left = np.empty((seeds, len(times)))
    for seed in range(seeds):
        state = method.start(np.zeros(problem.n))
        for k, time in enumerate(times):
            method.advance(state, method.sampling.draw(state.iteration, time - state.iteration, seed))
            left[seed, k] = top - problem.dual_value(state.alpha)
    promised = (1 - method.rule.theta) ** np.array(times) * (top - problem.dual_value(np.zeros(problem.n)))
    error = left.std(axis=0) / np.sqrt(seeds)
    assert (left.mean(axis=0) <= promised + 3 * error).all()
    assert (left.mean(axis=0) > 1e-6 * promised).all()


def test_tuned_steps():
    result = df.solve(small(mu=0.01), method="prox-sdca", step="tuned", max_epochs=50)
    assert result.tuning is not None
    assert result.theta == result.tuning.theta


def test_intercept():
    problem = small(mu=0.01, intercept=True)
    found = [
        df.solve(problem, method=name, tol=1e-9, max_epochs=2000).certificate.value for name in ("prox-sdca", "dfsdca")
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-8)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "sdca", "step": "implicit"}, "method='sdca' takes 'exact', 'fixed', 'tuned' or a number s"),
        ({"method": "prox-sdca", "step": 1.5}, "step is s = 1.5; it must be above 0 and at most 1"),
        ({"method": "iprox-sdca", "sampling": "nice:3"}, "method='prox-sdca' takes any sampling"),
        ({"method": "iprox-sdca", "sampling": "shuffled"}, "independently, such as 'importance'"),
    ],
)
def test_refusals(options, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence) as error:
        df.solve(small(mu=0.0), **options)
    assert "\n" not in str(error.value)


def test_losses_without_a_dual_are_refused():
    X = np.eye(3)
    with pytest.raises(ValueError, match="NoConjugate does not define it, and method='dfsdca' does without it"):
        df.solve(df.Problem(X, NoConjugate(np.ones(3)), 0.1), method="sdca")
    with pytest.raises(ValueError, match="convex"):
        df.solve(df.Problem(X, df.losses.Squared(np.ones(3), weight=[1, -0.1, 1]), 0.1), method="prox-sdca")
