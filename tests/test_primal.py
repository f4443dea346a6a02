"""SGD, SAG, SAGA, SVRG, S2GD and mS2GD against their literal versions, on the same drawn sets."""

from functools import cache

import numpy as np
import pytest

import dualfree as df
from dualfree import reference
from dualfree._native import kernels
from dualfree.methods import METHODS
from dualfree.methods.anchored import _unit
from dualfree.methods.primal import smoothness
from dualfree.reference import primal as literal
from helpers.problems import LAYOUTS, LOSSES, matrix, positive_weights, targets, twins
from helpers.samplings import as_batches
from small_problems import problem as small_problem

PRIMAL = ("sgd", "sag", "saga", "svrg", "s2gd", "ms2gd", "s2cd")
ANCHORED = ("svrg", "s2gd", "ms2gd")
N, D, LAM, SEED, ITERATIONS = 12, 9, 0.03, 5, 120


@cache
def arrays(name, dtype, weighted):
    rng = np.random.default_rng(7)
    X, y = matrix(rng, N, D, density=0.7, dtype=dtype), targets(rng, name, N)
    start = np.abs(rng.uniform(0.1, 0.8, size=N)) * y / np.abs(y)
    return X, y, positive_weights(rng, N) if weighted else None, start


def bound_sampling(name, problem):
    return (df.samplings.Nice(3) if name == "ms2gd" else METHODS[name].default_sampling(problem)).bind(problem)


def method_on(name, problem, step=None):
    bound = bound_sampling(name, problem)
    return METHODS[name](problem, bound, METHODS[name].step_rule(bound, step))


def loops_of(method, batches):
    """The iterations that are left when full passes have taken the place of theirs, loop by loop."""
    loops, at, count = [], 0, 0
    while at < len(batches):
        length = method.steps(_unit(SEED, count))
        loops.append(range(len(batches))[at + method.pass_length : at + method.pass_length + length])
        at, count = at + method.pass_length + length, count + 1
    return loops


def feature_of(slow, i, iteration):
    """The feature that S2CD draws for example i: the first whose weights add up to more than u of the row's."""
    weights = literal.pair_weights(slow)[i]
    u = int(kernels.random_words(SEED, 2001, iteration, 1)[0] >> np.uint64(11)) * 2.0**-53
    return int(np.flatnonzero(np.cumsum(weights) > u * weights.sum())[0])


def advanced(method, start, pieces):
    """The state after all iterations, taken in pieces of the given sizes."""
    state = method.start(start.copy())
    state.seed = SEED
    while state.iteration < ITERATIONS:
        count = min(pieces[state.iteration % len(pieces)], ITERATIONS - state.iteration)
        method.advance(state, method.sampling.draw(state.iteration, count, SEED))
    return state


@cache
def expected(name, loss, dtype, weighted, step):
    X, y, weight, start = arrays(loss, dtype, weighted)
    fast, slow = twins(loss, X, y, LAM, weight)
    method = method_on(name, fast, step)
    batches = as_batches(method.sampling.draw(0, ITERATIONS, SEED))
    w, h = slow.primal(start), method.step
    if name in ANCHORED:
        return literal.semi_stochastic(slow, [[batches[t] for t in loop] for loop in loops_of(method, batches)], h, w)
    if name == "s2cd":
        loops = [[(int(batches[t][0]), t) for t in loop] for loop in loops_of(method, batches)]
        loops = [[(i, feature_of(slow, i, t)) for i, t in loop if slow.X[i].any()] for loop in loops]
        return literal.s2cd(slow, loops, h, w)
    indices = [int(batch[0]) for batch in batches]
    if name == "sgd":
        return literal.sgd(slow, indices, h, w)
    return getattr(literal, name)(slow, indices, h, w, -start)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("step", [None, 0.11], ids=["theory", "number"])
@pytest.mark.parametrize("name", PRIMAL)
def test_native_equals_literal(name, step, loss, layout, dtype, weighted):
    X, y, weight, start = arrays(loss, dtype, weighted)
    fast, _ = twins(loss, X, y, LAM, weight, layout)
    state = advanced(method_on(name, fast, step), start, pieces=[7, 1, 33])
    np.testing.assert_allclose(state.w, expected(name, loss, dtype, weighted, step), rtol=1e-9, atol=1e-9)
    assert state.iteration == ITERATIONS


@pytest.mark.parametrize("name", [name for name in PRIMAL if name != "s2cd"])
def test_a_step_that_shrinks_w_to_nothing_again_and_again(name):
    """λh near 1: the factored-out scale would underflow within the run if it were not put back."""
    X, y, _, start = arrays("logistic", np.float64, False)
    fast, slow = twins("logistic", X, y, 50.0)
    method = method_on(name, fast, 0.019)
    state = method.start(start.copy())
    state.seed = SEED
    method.advance(state, method.sampling.draw(0, 3000, SEED))
    assert np.isfinite(state.w).all()
    assert np.linalg.norm(slow.gradient(state.w)) < (1.0 if name == "sgd" else 1e-9)


def test_average_belongs_to_the_table():
    problem = small_problem("logistic")
    for name in ("sag", "saga"):
        method = method_on(name, problem)
        state = method.start(np.zeros(problem.n))
        method.advance(state, method.sampling.draw(0, 5 * problem.n, 1))
        derived = problem.examples.combine(state.memory["table"]) / problem.n
        np.testing.assert_allclose(state.memory["average"], derived, atol=1e-13)


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("name", [name for name in PRIMAL if name != "sgd"])
def test_each_reaches_1e_8(name, loss, kind):
    problem = small_problem(loss, kind=kind)
    result = df.solve(problem, method=name, tol=1e-8, max_epochs=10_000, evaluate_every=20)
    assert result.status == "converged", result.message
    assert result.method == name
    best = df.solve(problem, tol=1e-13, max_epochs=5000).certificate.value
    assert -1e-12 <= result.certificate.value - best <= 1e-8 * abs(best)


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("name", PRIMAL)
def test_tuned_steps_come_from_their_own_grid(name, loss):
    problem = small_problem(loss)
    result = df.solve(problem, method=name, step="tuned", max_epochs=30)
    assert result.tuning is not None
    first = METHODS[name].theoretical_step(bound_sampling(name, problem)) if name != "ms2gd" else None
    assert first is None or result.tuning.trials[0][0] == pytest.approx(first)
    assert result.theta == result.tuning.theta
    assert result.certificate.gap < 0.1 * result.history[0].gap


@pytest.mark.parametrize("name", PRIMAL)
def test_warm_start_continues_and_one_seed_is_one_answer(name):
    problem = small_problem("squared-hinge")
    rough = df.solve(problem, tol=1e-4)
    options = {"method": name, "tol": 0.0, "max_epochs": 4}
    one, other = (df.solve(problem, warm_start=rough, seed=3, **options) for _ in range(2))
    assert one.history[0].value == pytest.approx(rough.certificate.value, rel=1e-9)
    assert (one.history.value == other.history.value).all()
    assert one.history[-1].value != df.solve(problem, warm_start=rough, seed=4, **options).history[-1].value


def test_epochs_count_the_full_passes():
    problem = small_problem("logistic")
    method = method_on("svrg", problem, 0.5)
    state = method.start(np.zeros(problem.n))
    method.advance(state, method.sampling.draw(0, problem.n, 0))
    assert not state.w.any()  # the first n iterations are the full gradient at zero
    assert state.memory["average"].any()
    method.advance(state, method.sampling.draw(problem.n, 1, 0))
    assert state.w.any()
    assert df.solve(problem, method="svrg", max_epochs=3.5, tol=0).epochs == 3.5


def test_lengths_follow_their_law():
    problem = small_problem("logistic", lam=0.5)
    s2gd = method_on("s2gd", problem, 0.4)
    s2gd.most_steps = m = 9
    ends = np.cumsum(reference.length_law(m, 0.4 * 0.5)[::-1])  # t = m is drawn for the least u
    for u in np.linspace(0, 0.9999, 321):
        assert s2gd.steps(u) == m - np.searchsorted(ends, u, side="right")
    svrg, ms2gd = method_on("svrg", problem), method_on("ms2gd", problem)
    assert [method.steps(u) for method in (svrg, ms2gd) for u in (0.0, 1 - 1e-12)] == [
        0,
        svrg.most_steps - 1,
        1,
        ms2gd.most_steps,
    ]
    drawn = [_unit(0, k) for k in range(1000)]
    assert abs(np.mean(drawn) - 0.5) < 0.03
    assert len(set(drawn)) == 1000


def test_pairs_are_drawn_in_proportion_to_their_weights():
    """The example by its sampling, the feature by the kernel: a step from the anchor moves the drawn feature."""
    X, y, weight, start = arrays("squared", np.float64, True)
    fast, slow = twins("squared", X, y, LAM, weight, "csr-int32")
    method = method_on("s2cd", fast)
    state = method.start(start.copy())
    method.anchor(state)
    state.memory["counters"][:2] = 0, 2**40
    drawn, seen, count = method.sampling.draw(0, 20_000, SEED), np.zeros(X.shape), 20_000
    for t in range(count):
        method.inner(state, drawn.between(t, t + 1), t)
        seen[drawn.indices[t], np.flatnonzero(state.w != state.memory["anchor"])] += 1
        state.w[:] = state.memory["anchor"]
    wanted = literal.pair_weights(slow)
    wanted *= count / wanted.sum()
    used = wanted > 0
    assert seen[~used].sum() == 0
    chi_square = ((seen - wanted)[used] ** 2 / wanted[used]).sum()
    assert chi_square < used.sum() + 5 * np.sqrt(2 * used.sum())


def test_smoothness_equals_the_reference():
    for loss in LOSSES:
        X, y, weight, _ = arrays(loss, np.float64, True)
        fast, slow = twins(loss, X, y, LAM, weight)
        assert smoothness(fast) == pytest.approx(literal.smoothness(slow), rel=1e-12)


class InPython(df.losses.Loss):
    def value(self, z, y):
        return 0.5 * (z - y) ** 2

    def derivative(self, z, y):
        return z - y

    def smoothness(self, y):
        return np.ones_like(y)


@pytest.mark.parametrize("name", PRIMAL)
def test_what_is_refused(name):
    problem, X = small_problem("logistic"), np.eye(3)
    for options, error, sentence in [
        ({"sampling": "importance"}, ValueError, rf"method='{name}' is defined for sampling=.*, not for Importance"),
        ({"sampling": df.samplings.Serial(np.full(60, 1 / 60))}, ValueError, r"not for Serial\("),
        ({"sampling": "chunks:2"}, ValueError, r"method='dfsdca' takes any sampling"),
        ({"step": "implicit"}, TypeError, rf"method='{name}' takes 'theory', 'tuned' or a number, its step size h"),
        ({"step": 0.0}, ValueError, r"step is h = 0.0; it must be above 0 and below 1/λ = 60"),
        ({"step": 60.1}, ValueError, r"step is h = 60.1; it must be above 0 and below 1/λ = 60"),
        ({"step": True}, TypeError, r"step is True"),
    ]:
        with pytest.raises(error, match=sentence):
            df.solve(problem, method=name, **options)
    with pytest.raises(ValueError, match=rf"method='{name}' has no intercept; method='dfsdca' and method='newton'"):
        df.solve(df.Problem(X, df.losses.Squared(np.ones(3)), 1.0, intercept=True), method=name)
    with pytest.raises(ValueError, match=rf"method='{name}' needs a loss that runs in the kernels, but InPython"):
        df.solve(df.Problem(X, InPython(np.ones(3)), 1.0), method=name)
    mixed = df.losses.Squared(np.ones(3), weight=np.array([1.0, 1.0, -1.0]))
    with pytest.raises(ValueError, match=rf"method='{name}' needs every φ_i to be convex"):
        df.solve(df.Problem(X, mixed, 3.0), method=name)


@pytest.mark.parametrize("name", PRIMAL)
@pytest.mark.parametrize(("scale", "lam"), [(0.0, 1.0), (1e-160, 1e-300), (1.0, 1e-300), (1e100, 1e300), (1.0, 1e12)])
def test_extreme_scales_end_with_an_honest_status(name, scale, lam):
    problem = small_problem("logistic", X=scale * np.eye(5) + 0.0, lam=lam)
    result = df.solve(problem, method=name, max_epochs=5)
    assert result.status in ("diverged", "max_epochs") or result.certificate.relative_gap <= 1e-6
