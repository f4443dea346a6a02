"""Known relations between methods: where two are the same, they do the same."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import dualfree as df
from dualfree import reference
from dualfree.methods import METHODS
from dualfree.methods.coordinates import Coordinates, curvatures
from dualfree.steps import theorem_theta
from helpers.problems import LOSSES, random_twins
from helpers.samplings import CASE_NAMES, as_batches, sampling_case
from helpers.vectors import EVERY_LOSS, every_twins
from small_problems import problem as small_problem

S = df.samplings
N = 12


def after(name, problem, sampling, step, start, iterations, seed=3):
    kind = METHODS[name]
    bound = kind.bind(sampling, problem)
    method = kind(problem, bound, kind.step_rule(bound, step))
    state = method.start(start.copy())
    method.advance(state, bound.draw(0, iterations, seed))
    return state


@pytest.mark.parametrize("case_name", CASE_NAMES)
def test_quartz_and_dfsdca_share_theta(case_name):
    problem, _ = random_twins("logistic", n=N, weighted=True)
    bound = sampling_case(case_name, N).sampling.bind(problem)
    quartz, dfsdca = METHODS["quartz"].step_rule(bound), METHODS["dfsdca"].step_rule(bound, "theorem-2")
    assert quartz.theta == dfsdca.theta == theorem_theta(bound, 2)
    assert (quartz.scale == dfsdca.scale).all()


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_serial_uniform_dfsdca_is_sdca_without_duality(loss):
    problem, slow = random_twins(loss, n=N)
    theta = 0.6 * theorem_theta(S.Uniform().bind(problem), 2)
    state = after("dfsdca", problem, S.Uniform(), theta, np.zeros(N), 100)
    indices = S.Uniform().bind(problem).draw(0, 100, 3).indices
    eta = theta / (problem.lam * N * (1 / N))  # their step size: ηλn is θ/p_i
    w, alpha = reference.sdca_without_duality(slow, indices.tolist(), eta, np.zeros(N))
    np.testing.assert_allclose(state.w, w, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(state.alpha, alpha, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_implicit_dfsdca_is_the_exact_step_of_sdca(loss):
    """SDCA maximises D over α_i: a search over the dual itself finds nothing better, and ends at the same α_i."""
    problem, slow = random_twins(loss, n=N)
    rng = np.random.default_rng(0)
    start = problem.loss.project(0.4 * problem.loss.y * rng.random(N))
    bound = S.Uniform().bind(problem)
    dfsdca = METHODS["dfsdca"](problem, bound, METHODS["dfsdca"].step_rule(bound, "implicit"))
    for i in range(N):
        state = dfsdca.start(start.copy())
        dfsdca.advance(state, S.Draws(np.array([i])))

        def minus_dual(a, i=i):
            moved = start.copy()
            moved[i] = a
            return min(1e6, -slow.dual_value(moved))

        low, high = sorted((start[i], -float(problem.derivatives(problem.primal(start))[i])))
        best = minimize_scalar(minus_dual, bounds=(low, high), method="bounded", options={"xatol": 1e-12})
        assert -minus_dual(state.alpha[i]) >= -best.fun - 1e-12
        assert state.alpha[i] == pytest.approx(best.x, abs=2e-6)  # a maximum shows its place to half the digits


@pytest.mark.parametrize("loss", EVERY_LOSS)
@pytest.mark.parametrize("step", ["implicit", "nearly-implicit", "per-example"])
def test_single_visits_never_lower_the_dual(loss, step):
    """They maximise a lower bound of it over α_i, which for rows and their outputs, at the root, is the dual itself."""
    problem, _ = every_twins(loss, n=N, weighted=True)
    rng = np.random.default_rng(0)
    bound = S.Uniform().bind(problem)
    dfsdca = METHODS["dfsdca"](problem, bound, METHODS["dfsdca"].step_rule(bound, step))
    state = dfsdca.start(0.9 * problem.loss.project(rng.normal(size=problem.examples.total)))
    for i in rng.integers(N, size=60):
        before = problem.dual_value(state.alpha)
        dfsdca.advance(state, S.Draws(np.array([i])))
        assert problem.dual_value(problem.loss.project(state.alpha)) >= before - 1e-12 * (1 + abs(before))
        if step == "implicit" and loss not in ("conditional-logit", "listnet"):
            at = problem.examples.positions(np.array([i]))
            np.testing.assert_allclose(state.alpha[at], -problem.derivatives(state.w)[at], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("sampling", [S.Uniform(), S.Nice(1), S.RandomSerial(5.0)], ids=repr)
def test_sdna_with_sets_of_one_is_sdca(loss, sampling):
    problem = small_problem(loss)
    sdna = after("sdna", problem, sampling, None, np.zeros(problem.n), 300)
    sdca = after("dfsdca", problem, sampling, "implicit", np.zeros(problem.n), 300)
    np.testing.assert_allclose(sdna.w, sdca.w, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(sdna.alpha, sdca.alpha, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("tau", [2, 8, 40])
@pytest.mark.parametrize("lam", [1.0, 1e-2, 1e-5])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_sdna_maximises_the_dual_over_its_set(loss, lam, tau):
    """So no separable step on the same set does better, and the derivative along each of its α_i is zero."""
    problem = small_problem(loss, lam=lam)
    start, draws = np.zeros(problem.n), S.Nice(tau).bind(problem).draw(0, 1, 1)
    block = after("sdna", problem, S.Nice(tau), None, start, 1, seed=1)
    separable = after("dfsdca", problem, S.Nice(tau), "implicit", start, 1, seed=1)
    assert problem.dual_value(block.alpha) >= problem.dual_value(separable.alpha) - 1e-12
    residual = (block.alpha + problem.derivatives(block.w))[draws.indices]
    size = 1 + np.abs(block.w).max() * np.abs(problem.examples.X).max()  # what rounding of the products amounts to
    assert np.abs(residual).max() <= 1e-11 * size


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("sampling", [S.Uniform(), S.Importance(), S.RandomSerial(5.0)], ids=repr)
def test_nsync_with_serial_sampling_is_ucdc(loss, sampling):
    problem, slow = random_twins(loss, n=N, d=7, weighted=True)
    nsync, ucdc = (after(name, problem, sampling, None, np.zeros(N), 100) for name in ("nsync", "ucdc"))
    assert (nsync.w == ucdc.w).all()
    indices = [int(batch[0]) for batch in as_batches(sampling.bind(Coordinates(problem)).draw(0, 100, 3))]
    np.testing.assert_allclose(nsync.w, reference.ucdc(slow, indices, np.zeros(7)), rtol=1e-9, atol=1e-11)


def test_hydra_on_one_machine_is_nsync_with_mini_batches():
    problem = small_problem("logistic")
    one, other = Coordinates(problem), Coordinates(problem)
    np.testing.assert_allclose(curvatures(S.Distributed(1, 3).bind(one)), curvatures(S.Nice(3).bind(other)), rtol=1e-13)
    draws = S.Distributed(2, 3).bind(one).draw(0, 50, 3)
    hydra, nsync = (
        after(name, problem, S.Distributed(2, 3), None, np.zeros(problem.n), 50) for name in ("hydra", "nsync")
    )
    assert (hydra.w == nsync.w).all()
    assert draws.part_start is not None  # what each machine does is known


def test_alpha_begins_as_nsync():
    """With θ = 1 the first step is NSync's; then momentum sets in."""
    problem = small_problem("squared")
    alpha, nsync = (after(name, problem, S.Nice(3), None, np.zeros(problem.n), 1) for name in ("alpha", "nsync"))
    np.testing.assert_allclose(alpha.w, nsync.w, rtol=1e-12)


def test_importance_probabilities_are_uniform_for_equal_norms():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    problem = df.Problem(X, df.losses.Squared(rng.normal(size=20)), 0.01)
    for theorem in (1, 2):
        np.testing.assert_allclose(S.Importance(theorem).bind(problem).p, 1 / 20, rtol=1e-13)
    columns = df.Problem(np.ascontiguousarray(X.T), df.losses.Squared(rng.normal(size=6)), 0.01)
    np.testing.assert_allclose(S.Importance().bind(Coordinates(columns)).p, 1 / 20, rtol=1e-13)
    np.testing.assert_allclose(S.Buckets(5).bind(problem).p, 1 / 4, rtol=1e-13)
