"""The losses: native formulas against the reference, and the properties that make them usable."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dualfree as df
from dualfree import reference
from dualfree._native import kernels
from dualfree.losses.check import check_loss
from helpers.problems import CLASSIFICATION, LOSSES, make_loss, random_twins, targets

NAMES = sorted(LOSSES)
margins = st.floats(-50, 50)


def label(name, real, sign):
    return np.array([np.sign(sign) if name in CLASSIFICATION else real])


def loss_of(name):
    return make_loss(name, [-1.0, 1.0])


@pytest.mark.parametrize("name", NAMES)
@given(z=margins, real=st.floats(-5, 5), sign=st.sampled_from([-1, 1]), x=margins)
def test_native_equals_reference_and_fenchel_young_holds(name, z, real, sign, x):
    fast, slow = loss_of(name), LOSSES[name][2]
    z, x, y = np.array([z]), np.array([x]), label(name, real, sign)
    for function in ("value", "derivative"):
        np.testing.assert_allclose(getattr(fast, function)(z, y), getattr(slow, function)(z, y), rtol=1e-12, atol=1e-14)
    a = -slow.derivative(z, y)
    np.testing.assert_allclose(fast.conjugate(a, y), slow.conjugate(a, y), rtol=1e-12, atol=1e-13)
    scale = 1 + abs(fast.value(x, y)[0]) + abs(a[0] * x[0]) + abs(fast.conjugate(a, y)[0])
    assert fast.value(x, y) + fast.conjugate(a, y) + a * x >= -1e-13 * scale
    assert abs(fast.value(z, y) + fast.conjugate(a, y) + a * z)[0] <= 1e-12 * (1 + abs(fast.value(z, y)[0]) + z[0] ** 2)


@pytest.mark.parametrize("name", NAMES)
@given(a=st.floats(-3, 3), real=st.floats(-5, 5), sign=st.sampled_from([-1, 1]))
def test_conjugate_has_the_reference_s_domain(name, a, real, sign):
    a, y = np.array([a]), label(name, real, sign)
    np.testing.assert_allclose(loss_of(name).conjugate(a, y), LOSSES[name][2].conjugate(a, y), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [*NAMES, "positive-unlabelled"])
def test_what_is_said_of_zero_is_what_the_formulas_say(name, weighted):
    weight = [0.5, 2.0, 0.0] if weighted else None
    if name == "positive-unlabelled":
        loss = df.losses.PositiveUnlabelled([-1.0, 1.0, 1.0], weight=weight)
    else:
        loss = make_loss(name, [-1.0, 1.0, 1.0])
        loss.weight = None if weight is None else np.array(weight)
    values, conjugates = loss.values(np.zeros(3)), loss.weighted_conjugate(np.zeros(3))
    np.testing.assert_allclose(loss.at_zero(3), (values.mean(), conjugates.mean()), rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_conjugate_is_the_supremum(name):
    z = np.linspace(-200, 200, 400_001)
    loss = loss_of(name)
    for a in (0.0, 0.2, 0.55, 0.85):
        supremum = (-a * z - loss.value(z, 1.0)).max()
        assert loss.conjugate(a, 1.0) == pytest.approx(supremum, abs=1e-5)


@pytest.mark.parametrize("apart", [1e-7, 1e-4, 1e-2, 0.3, 10.0])
def test_the_gap_of_the_logistic_loss_keeps_its_digits(apart):
    """Σ φ_i + φ_i* + α_i z_i, whose parts cancel where α_i is near the optimum, beside it with 64 bits of fraction."""
    rng = np.random.default_rng(0)
    z, y = 3 * rng.normal(size=1003), np.sign(rng.normal(size=1003))
    p = 1 / (1 + np.exp(np.longdouble(y * z)))
    s = np.clip(np.float64(p) * (1 + apart * rng.normal(size=1003)), 1e-12, 1 - 1e-12)
    problem = df.Problem(z[:, None], df.losses.Logistic(y), lam=0.1)
    total, fenchel, _ = problem.examples.fenchel(problem.loss.native, np.ones(1), y * s, np.empty(1003))
    off = p - np.longdouble(s)
    entropies = -s * np.log1p(off / s) - (1 - np.longdouble(s)) * np.log1p(-off / (1 - np.longdouble(s)))
    assert fenchel == pytest.approx(float(entropies.sum()), rel=1e-8 if apart < 1e-6 else 1e-11)
    assert total == pytest.approx(float(np.logaddexp(0, -np.longdouble(y * z)).sum()), rel=1e-14)


@pytest.mark.parametrize("name", NAMES)
@given(z=st.floats(-20, 20), sign=st.sampled_from([-1.0, 1.0]))
def test_derivative_by_finite_differences(name, z, sign):
    loss, width = loss_of(name), 1e-6
    difference = (loss.value(z + width, sign) - loss.value(z - width, sign)) / (2 * width)
    # Beyond rounding, the difference may be off by the change of the derivative across a kink of it.
    assert difference == pytest.approx(loss.derivative(z, sign), abs=1e-7 + 2 * width * LOSSES[name][2].smoothness)


@pytest.mark.parametrize("name", NAMES)
@given(z=margins, x=margins, sign=st.sampled_from([-1.0, 1.0]))
def test_smoothness_bounds_every_slope_and_derivative_increases(name, z, x, sign):
    loss = loss_of(name)
    rise = (loss.derivative(z, sign) - loss.derivative(x, sign)) * np.sign(z - x)
    assert rise >= -1e-15
    assert rise <= loss.l[0] * abs(z - x) + 1e-14
    assert loss.l[0] == LOSSES[name][2].smoothness


@pytest.mark.parametrize("name", NAMES)
def test_smoothness_is_attained(name):
    loss = loss_of(name)
    kink = 0.0 if name != "smoothed-hinge" else 0.7
    slope = (
        loss.derivative(kink + 1e-5, 1.0 if name in CLASSIFICATION else 0.0)
        - loss.derivative(kink - 1e-5, 1.0 if name in CLASSIFICATION else 0.0)
    ) / 2e-5
    assert slope == pytest.approx(loss.l[0], rel=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("z", [-1e4, -745.0, 745.0, 1e4])
def test_safe_far_out(name, z):
    loss = loss_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in (-1.0, 1.0):
            value, derivative = loss.value(z, y), loss.derivative(z, y)
            assert np.isfinite(value)
            assert np.isfinite(derivative)
            np.testing.assert_allclose(value, LOSSES[name][2].value(np.array(z), y), rtol=1e-12, atol=1e-300)
            assert np.isfinite(loss.conjugate(-derivative, y))


@pytest.mark.parametrize("name", NAMES)
def test_built_in_losses_pass_the_check_for_custom_ones(name):
    check_loss(loss_of(name))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_, ">f8", "U3", object])
@pytest.mark.parametrize("step", [1, 3])
def test_labels_of_any_type_are_those_that_sorting_finds(dtype, step):
    labels = np.tile([1, 1, 0, 1, 0], 30).astype(dtype)[::step]
    loss = df.losses.Logistic(labels)
    np.testing.assert_array_equal(loss.classes, np.unique(labels))
    assert loss.classes.dtype == labels.dtype
    np.testing.assert_array_equal(loss.y, np.where(labels == loss.classes[1], 1.0, -1.0))


def test_zero_and_minus_zero_are_one_label():
    assert df.losses.Logistic([0.0, -0.0, 1.0]).classes.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [0.0, 0.3, 1.0, 7.0])
def test_a_weight_multiplies_value_derivative_and_smoothness(name, k):
    rng = np.random.default_rng(0)
    y, z = targets(rng, name, 9), rng.normal(size=9)
    plain, weighted = make_loss(name, y), make_loss(name, y, np.full(9, k))
    out = np.empty(9)
    for kernel, function in ((kernels.loss_value, plain.value), (kernels.loss_derivative, plain.derivative)):
        kernel(weighted.native, z, out)
        np.testing.assert_allclose(out, k * function(z, y), rtol=1e-14)
    np.testing.assert_array_equal(weighted.l, k * plain.l)
    assert weighted.all_convex


@pytest.mark.parametrize("name", NAMES)
def test_weighted_conjugate_is_k_f_star_of_a_over_k(name):
    fast, slow = random_twins(name, weighted=True)
    out = np.empty(fast.n)
    alpha = -fast.derivatives(np.linspace(-1, 1, fast.d))
    kernels.loss_conjugate(fast.loss.native, alpha, out)
    np.testing.assert_allclose(out, [slow.conjugate(i, alpha[i]) for i in range(fast.n)], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(fast.loss.weighted_conjugate(alpha), out, rtol=1e-12, atol=1e-14)


def test_an_example_of_weight_zero_must_have_alpha_zero():
    problem = df.Problem(np.eye(2), df.losses.Squared([1.0, 1.0], weight=[0.0, 1.0]), lam=1.0)
    assert problem.dual_value([0.5, 0.0]) == -np.inf
    assert np.isfinite(problem.dual_value([0.0, 0.5]))


def test_weighted_huber_keeps_its_gap_where_alpha_is_at_the_end_of_the_domain():
    # (weight * delta) / weight may round above delta; that must not make the dual value infinite.
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.1, 3.0, size=400)
    assert (weight * 0.9 / weight > 0.9).any()
    problem = df.Problem(rng.normal(size=(400, 3)), df.losses.Huber(100 * rng.normal(size=400), 0.9, weight), lam=0.1)
    result = df.solve(problem, max_epochs=500, tol=1e-9)
    assert (np.abs(result.alpha) == 0.9 * weight).any()
    assert np.isfinite(result.certificate.duality_gap)
    assert np.isfinite(problem.gap(result.w, result.alpha))


class TestNegativeWeights:
    @pytest.fixture
    def problem(self):
        X = np.random.default_rng(0).normal(size=(6, 2))
        return df.Problem(X, df.losses.Squared(np.ones(6), weight=[1, 1, -0.1, 1, 1, 1]), lam=1.0)

    def test_not_all_convex(self, problem):
        assert not problem.loss.all_convex
        assert not problem.loss.has_conjugate
        np.testing.assert_array_equal(problem.l, np.abs(problem.loss.weight))

    @pytest.mark.parametrize("step", ["theorem-2", "implicit", "per-example"])
    def test_steps_for_convex_losses_say_why_not(self, problem, step):
        with pytest.raises(ValueError, match=r"weight\[2\] is -0.1, and a negative weight .* non-convex"):
            df.solve(problem, step=step)

    def test_dual_says_why_not(self, problem):
        with pytest.raises(ValueError, match=r"dual_value needs every φ_i to be convex, but weight\[2\]"):
            problem.dual_value(np.zeros(6))
        with pytest.raises(ValueError, match="negative weight"):
            problem.gap(np.zeros(2), np.zeros(6))

    def test_theorem_1_works(self, problem):
        result = df.solve(problem, step="theorem-1", sampling="uniform", tol=1e-10, max_epochs=5000)
        assert result.status == "converged"
        X, k = problem.examples.X, problem.loss.weight
        exact = np.linalg.solve((X * k[:, None]).T @ X / 6 + np.eye(2), X.T @ k / 6)
        np.testing.assert_allclose(result.w, exact, atol=1e-5)


WITHOUT_SUPREMUM = {
    "sigmoid": (df.losses.Sigmoid, {}, reference.sigmoid()),
    "savage": (df.losses.Savage, {}, reference.savage()),
    "tukey": (df.losses.Tukey, {"c": 1.7}, reference.tukey(1.7)),
    "positive-unlabelled": (df.losses.PositiveUnlabelled, {}, reference.positive_unlabelled()),
}


@pytest.mark.parametrize("name", WITHOUT_SUPREMUM)
class TestIndirectLosses:
    """Those that reach the kernels by pointers: three bounded ones, and that of positive and unlabelled examples."""

    def pair(self, name):
        kind, parameters, slow = WITHOUT_SUPREMUM[name]
        return kind([-1.0, 1.0], **parameters), slow

    @given(z=margins, sign=st.sampled_from([-1.0, 1.0]), a=st.floats(-2, 2))
    def test_native_equals_reference(self, name, z, sign, a):
        fast, slow = self.pair(name)
        z, y = np.array([z]), np.array([sign])
        for function in ("value", "derivative"):
            found, expected = getattr(fast, function)(z, y), getattr(slow, function)(z, y)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
        for at in (np.array([a]), np.ones(1)):
            np.testing.assert_allclose(fast.conjugate(at, y), slow.conjugate(at, y), rtol=1e-12, atol=1e-14)

    @given(z=st.floats(-20, 20), sign=st.sampled_from([-1.0, 1.0]))
    def test_derivative_and_curvature_by_finite_differences(self, name, z, sign):
        (loss, _), width, out = self.pair(name), 1e-6, np.empty(1)
        difference = (loss.value(z + width, sign) - loss.value(z - width, sign)) / (2 * width)
        assert difference == pytest.approx(loss.derivative(z, sign), abs=1e-7)
        bend = (loss.derivative(z + width, sign) - loss.derivative(z - width, sign)) / (2 * width)
        native = (loss.kind, np.array([sign]), None, *loss.parameters)
        kernels.loss_curvature(native, np.array([z]), out)
        assert bend == pytest.approx(out[0], abs=1e-5)

    @given(z=margins, x=margins, sign=st.sampled_from([-1.0, 1.0]))
    def test_smoothness_bounds_every_slope(self, name, z, x, sign):
        loss, _ = self.pair(name)
        assert abs(loss.derivative(z, sign) - loss.derivative(x, sign)) <= loss.l[0] * abs(z - x) + 1e-14

    def test_smoothness_is_attained(self, name):
        loss, slow = self.pair(name)
        z = np.linspace(-4, 4, 800_001)
        steepest = max(np.abs(np.diff(loss.derivative(z, sign))).max() / 1e-5 for sign in (-1.0, 1.0))
        assert loss.l[0] == pytest.approx(slow.smoothness, rel=1e-9)
        assert steepest == pytest.approx(loss.l[0], rel=1e-4)

    @pytest.mark.parametrize("z", [-1e4, -745.0, 745.0, 1e4])
    def test_safe_far_out(self, name, z):
        loss, slow = self.pair(name)
        for y in (-1.0, 1.0):
            assert np.isfinite(loss.derivative(z, y))
            expected = slow.value(np.array(z), np.array(y))
            np.testing.assert_allclose(loss.value(z, y), expected, rtol=1e-12, atol=1e-300)

    def test_passes_the_check_for_custom_losses(self, name):
        loss, _ = self.pair(name)
        if loss.bounded:
            assert not loss.has_conjugate
            loss.conjugate = None  # there is none to check
        else:
            assert loss.all_convex
        check_loss(loss)

    def test_bounded_means_bounded(self, name):
        loss, _ = self.pair(name)
        far = loss.value(np.linspace(-1e6, 1e6, 1001), 1.0)
        assert loss.bounded == (np.ptp(far) < 10)
        assert loss.bounded != loss.convex
