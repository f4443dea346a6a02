"""QUARTZ, SDNA, NSync, UCDC, ALPHA and Hydra against their literal versions, on the same drawn sets."""

from functools import cache

import numpy as np
import pytest

import dualfree as df
from dualfree import reference
from dualfree.methods import METHODS
from dualfree.methods.coordinates import Coordinates, curvatures
from helpers.problems import LAYOUTS, LOSSES, matrix, positive_weights, targets, twins
from helpers.samplings import CASE_NAMES, as_batches, sampling_case
from small_problems import SAMPLINGS
from small_problems import problem as small_problem

S = df.samplings
DUAL, ALONG_FEATURES = ("quartz", "sdna"), ("nsync", "ucdc", "alpha", "hydra")
N, D, LAM, SEED = 12, 9, 0.03, 5
DRAWN = {  # what each is compared on: serial probabilities, and sets that overlap
    "quartz": (S.RandomSerial(4.0), S.Nice(3)),
    "sdna": (S.Uniform(), S.Nice(3)),
    "nsync": (S.RandomSerial(4.0), S.Nice(3)),
    "ucdc": (S.Uniform(), S.Importance()),
    "alpha": (S.RandomSerial(4.0), S.Nice(3)),
    "hydra": (S.Distributed(3, 1), S.Distributed(2, 3)),
}
ITERATIONS = {"sdna": 30, "alpha": 150}


@cache
def arrays(name, dtype, weighted):
    rng = np.random.default_rng(7)
    X, y = matrix(rng, N, D, density=0.7, dtype=dtype), targets(rng, name, N)
    start = np.abs(rng.uniform(0.1, 0.8, size=N)) * y / np.abs(y)
    weight = positive_weights(rng, N) if weighted else None
    return X, y, weight, start if weight is None else start * weight


def method_on(name, problem, sampling, step=None):
    kind = METHODS[name]
    bound = kind.bind(sampling, problem)
    return kind(problem, bound, kind.step_rule(bound, step))


def advanced(method, start, pieces):
    """The state after all iterations, taken in pieces of the given sizes."""
    state, iterations = method.start(start.copy()), ITERATIONS.get(method.name, 60)
    while state.iteration < iterations:
        count = min(pieces[state.iteration % len(pieces)], iterations - state.iteration)
        method.advance(state, method.sampling.draw(state.iteration, count, SEED))
    return state


@cache
def expected(name, loss, dtype, weighted, which, step):
    X, y, weight, start = arrays(loss, dtype, weighted)
    fast, slow = twins(loss, X, y, LAM, weight)
    method = method_on(name, fast, DRAWN[name][which], step)
    bound = method.sampling
    batches = as_batches(bound.draw(0, ITERATIONS.get(name, 60), SEED))
    if name == "quartz":
        return reference.quartz(slow, batches, bound.p, method.rule.theta, start)
    if name == "sdna":
        return reference.sdna(slow, batches, start)
    w = slow.primal(start)
    v = curvatures(bound) / (step or 1.0)
    if name == "ucdc" and step is None:
        return reference.ucdc(slow, [int(batch[0]) for batch in batches], w), None
    if name == "alpha":
        return reference.alpha(slow, batches, bound.p, v, w, method.period), None
    return reference.nsync(slow, batches, v, w), None


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", DUAL + ALONG_FEATURES)
def test_native_equals_literal(name, which, loss, layout, dtype, weighted):
    X, y, weight, start = arrays(loss, dtype, weighted)
    fast, _ = twins(loss, X, y, LAM, weight, layout)
    state = advanced(method_on(name, fast, DRAWN[name][which]), start, pieces=[7, 1, 33])
    w, alpha = expected(name, loss, dtype, weighted, which, None)
    np.testing.assert_allclose(state.w, w, rtol=1e-9, atol=1e-9)
    if alpha is not None:
        np.testing.assert_allclose(state.alpha, alpha, rtol=1e-9, atol=1e-9)
    if name in ALONG_FEATURES and name != "alpha":
        used = fast.l > 0  # nobody asks for the others
        np.testing.assert_allclose(state.memory["margins"][used], fast.margins(w)[used], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["quartz", "nsync", "ucdc", "alpha", "hydra"])
def test_a_number_for_a_step(name):
    X, y, weight, start = arrays("logistic", np.float64, True)
    fast, _ = twins("logistic", X, y, LAM, weight, "csr-int32")
    step = 0.02 if name == "quartz" else 0.7
    state = advanced(method_on(name, fast, DRAWN[name][1], step), start, pieces=[11])
    np.testing.assert_allclose(state.w, expected(name, "logistic", np.float64, True, 1, step)[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case_name", [name for name in CASE_NAMES if name != "set-list"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_curvatures_are_the_eso_of_the_columns(case_name, weighted):
    X, y, weight, _ = arrays("squared-hinge", np.float64, weighted)
    fast, slow = twins("squared-hinge", X, y, LAM, weight, "csr-int32")
    case = sampling_case(case_name, D)
    bound = case.sampling.bind(Coordinates(fast))
    v = curvatures(bound)
    np.testing.assert_allclose(v, reference.feature_curvatures(slow, case.reference), rtol=1e-12)
    bend = (X * slow.l[:, None]).T @ X / N + LAM * np.eye(D)
    scale = 1 / np.sqrt(case.reference.p * v)
    assert np.linalg.eigvalsh(case.reference.pairs * bend * np.outer(scale, scale)).max() <= 1 + 1e-9


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("name", [*DUAL, *ALONG_FEATURES, "adasdca"])
def test_each_reaches_1e_8(name, loss, kind):
    problem = small_problem(loss, kind=kind)
    result = df.solve(problem, method=name, tol=1e-8, max_epochs=3000, evaluate_every=20)
    assert result.status == "converged", result.message
    assert result.method == name
    best = df.solve(problem, tol=1e-13, max_epochs=5000).certificate.value
    assert -1e-12 <= result.certificate.value - best <= 1e-8 * abs(best)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("name", [*DUAL, "nsync", "alpha", "hydra"])
def test_every_sampling_is_taken(name, sampling):
    """The features of the second problem are as many as the examples of the first, for samplings of so many."""
    problem = small_problem("logistic", X=None if name in DUAL else df_like(60))
    result = df.solve(
        problem, method=name, sampling=SAMPLINGS[sampling](60), tol=1e-5, max_epochs=4000, evaluate_every=50
    )
    assert result.status == "converged", result.message


def df_like(d):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, d)) * (rng.random((30, d)) < 0.2)
    return X / np.linalg.norm(X, axis=1).max()


@pytest.mark.parametrize("name", ["quartz", "nsync", "alpha"])
def test_tuned_steps_are_the_ones_that_run(name):
    problem = small_problem("logistic", lam=0.001)
    tuned = df.solve(problem, method=name, step="tuned", tol=0, max_epochs=5)
    same = df.solve(problem, method=name, step=tuned.theta, tol=0, max_epochs=5)
    assert tuned.tuning is not None
    assert tuned.theta > tuned.tuning.trials[0][0]
    assert tuned.history[-1].value == same.history[-1].value


@pytest.mark.parametrize("name", [*DUAL, *ALONG_FEATURES, "adasdca"])
def test_warm_start_continues_and_one_seed_is_one_answer(name):
    problem = small_problem("squared-hinge")
    rough = df.solve(problem, tol=1e-4)
    options = {"method": name, "tol": 0.0, "max_epochs": 4}
    one, other = (df.solve(problem, warm_start=rough, seed=3, **options) for _ in range(2))
    assert one.history[0].value == pytest.approx(rough.certificate.value, rel=1e-9)
    assert (one.history.value == other.history.value).all()
    assert one.history[-1].value != df.solve(problem, warm_start=rough, seed=4, **options).history[-1].value


def test_quartz_keeps_its_combination():
    problem = small_problem("logistic")
    method = method_on("quartz", problem, S.Nice(4))
    state = method.start(np.zeros(problem.n))
    method.advance(state, method.sampling.draw(0, 4000, 1))
    np.testing.assert_allclose(state.memory["combination"], problem.primal(state.alpha), rtol=1e-11, atol=1e-13)
    state.memory["combination"] += 1e-3
    method.evaluate(state)
    np.testing.assert_allclose(state.memory["combination"], problem.primal(state.alpha), rtol=1e-14)


@pytest.mark.parametrize("name", [*DUAL, *ALONG_FEATURES, "adasdca"])
@pytest.mark.parametrize(("scale", "lam"), [(0.0, 1.0), (1e-160, 1e-300), (1.0, 1e-300), (1e100, 1e300), (1.0, 1e12)])
def test_extreme_scales_end_with_an_honest_status(name, scale, lam):
    problem = small_problem("logistic", X=scale * np.eye(5) + 0.0, lam=lam)
    result = df.solve(problem, method=name, max_epochs=5)
    assert result.status in ("diverged", "max_epochs") or result.certificate.relative_gap <= 1e-6


class InPython(df.losses.Loss):
    def value(self, z, y):
        return 0.5 * (z - y) ** 2

    def derivative(self, z, y):
        return z - y

    def smoothness(self, y):
        return np.ones_like(y)


@pytest.mark.parametrize("name", DUAL + ALONG_FEATURES)
def test_what_is_refused(name):
    problem, X = small_problem("logistic"), np.eye(3)
    with pytest.raises(ValueError, match=rf"method='{name}' has no intercept; method='dfsdca' and method='newton'"):
        df.solve(df.Problem(X, df.losses.Squared(np.ones(3)), 1.0, intercept=True), method=name)
    with pytest.raises(ValueError, match=rf"method='{name}' needs a loss that runs in the kernels, but InPython"):
        df.solve(df.Problem(X, InPython(np.ones(3)), 1.0), method=name)
    mixed = df.losses.Squared(np.ones(3), weight=np.array([1.0, 1.0, -1.0]))
    with pytest.raises(ValueError, match=rf"method='{name}' needs every φ_i to be convex"):
        df.solve(df.Problem(X, mixed, 3.0), method=name)
    with pytest.raises(TypeError, match=rf"step is 'implicit'; method='{name}'"):
        df.solve(problem, method=name, step="implicit")
    if name != "sdna":
        with pytest.raises(ValueError, match=rf"method='{name}' rests on fixed probabilities, .*method='adasdca' take"):
            df.solve(problem, method=name, sampling="adaptive")
        with pytest.raises(ValueError, match="step is"):
            df.solve(problem, method=name, step=-1.0)
        with pytest.raises(TypeError, match="step is True"):
            df.solve(problem, method=name, step=True)


def test_what_single_methods_refuse():
    problem = small_problem("logistic")
    with pytest.raises(TypeError, match=r"method='sdna' solves for its steps exactly"):
        df.solve(problem, method="sdna", step="tuned")
    large = df.Problem(np.ones((5000, 1)), df.losses.Squared(np.ones(5000)), 1.0)
    with pytest.raises(ValueError, match=r"those of Nice\(tau=3000\) have 3000 examples on average"):
        df.solve(large, method="sdna", sampling=S.Nice(3000))
    with pytest.raises(ValueError, match=r"method='ucdc' draws one feature at a time, .*method='nsync' takes any"):
        df.solve(problem, method="ucdc", sampling="nice:2")
    with pytest.raises(ValueError, match=r"bound to other things than the features of this problem"):
        df.solve(problem, method="nsync", sampling=S.Uniform().bind(problem))
    bound = S.Uniform().bind(Coordinates(problem))
    assert df.solve(problem, method="nsync", sampling=bound).status == "converged"
    with pytest.raises(ValueError, match=r"bound to another problem"):
        df.solve(problem, sampling=bound)
