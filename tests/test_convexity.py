"""Whether P is convex: decided by eigenvalues where it can be, and said where it cannot."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree.eigenvalues import smallest_eigenvalue
from dualfree.examples import Rows
from dualfree.linear_model import LogisticRegression, Ridge
from dualfree.losses import ConditionalLogit, Huber, Logistic, Loss, Softmax, Squared


def signed(n=300, d=8, share=0.2, seed=0):
    """Rows, targets, and weights of which a share is negative."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    return X, X @ rng.normal(size=d) + rng.normal(size=n), np.where(rng.random(n) < share, -1.0, 1.0)


def hessian(X, weight):
    return (X * weight[:, None]).T @ X / len(X)


@pytest.mark.parametrize("d", [3, 128, 129, 200])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_the_smallest_eigenvalue_is_enclosed(d, container):
    X, _, weight = signed(n=150, d=d)
    exact = np.linalg.eigvalsh(hessian(X, weight))[0]
    low, high = smallest_eigenvalue(Rows(container(X)), weight, accuracy=1e-3)
    assert low <= exact <= high
    assert high - low < 2e-5


@pytest.mark.parametrize("d", [6, 150])
def test_squared_losses_are_decided_on_both_sides_of_the_edge(d):
    X, y, weight = signed(d=d, share=0.6)
    least = np.linalg.eigvalsh(hessian(X, weight))[0]
    assert least < 0
    above = df.Problem(X, Squared(y, weight), lam=-1.01 * least).convexity
    below = df.Problem(X, Squared(y, weight), lam=-0.99 * least).convexity
    assert above.known is True
    assert above.sigma == pytest.approx(-0.01 * least, rel=0.1)
    assert above.sigma <= -0.01 * least
    assert below.known is False
    assert "curvature -" in below.reason


def test_a_convex_average_has_the_paper_s_sigma():
    X, y, _ = signed()
    weight = np.where(np.arange(300) % 10 == 0, -0.1, 1.0)
    assert np.linalg.eigvalsh(hessian(X, weight))[0] > 0
    assert df.Problem(X, Squared(y, weight), lam=0.3).convexity == df.Convexity(
        True, 0.3, "the least curvatures allow no other"
    )
    assert df.Problem(X, Squared(y), lam=0.3).convexity.sigma == 0.3


def test_no_minimum_is_refused_before_any_work():
    X, y, weight = signed()
    with pytest.raises(ValueError, match="weight is so negative that P has no minimum: P has a direction of curvature"):
        df.solve(df.Problem(X, Squared(y, -np.abs(weight)), lam=0.01))


def test_logistic_is_proven_disproven_or_left_open():
    X, y, weight = signed()
    y = np.sign(y)
    concave = np.linalg.eigvalsh(0.25 * hessian(X, (weight < 0).astype(float)))[-1]
    proven = df.Problem(X, Logistic(y, weight), lam=1.1 * concave)
    assert proven.convexity.known is True
    assert proven.convexity.sigma == pytest.approx(0.1 * concave, rel=1e-6)
    assert df.solve(proven).certificate.average_convex
    opened = df.Problem(X, Logistic(y, weight), lam=0.5 * concave)
    assert opened.convexity.known is None
    with pytest.warns(
        df.ConvexityWarning, match="whether P is convex was not decided .*assumes that the average loss is convex"
    ):
        result = df.solve(opened, max_epochs=1)
    assert not result.certificate.average_convex
    assert "if the average loss is convex between the two (assumed, not decided)" in result.message
    upside_down = df.Problem(X, Logistic(y, -weight), lam=1e-4)
    assert upside_down.convexity.known is False
    with pytest.warns(df.ConvexityWarning, match="P is not convex .at w = 0 .*nothing but the gradient is certified"):
        result = df.solve(upside_down, max_epochs=1)
    assert result.step == "safeguarded"
    assert not result.certificate.guaranteed


def test_several_targets_are_decided_as_one():
    X, y, weight = signed(share=0.6)
    least = np.linalg.eigvalsh(hessian(X, weight))[0]
    Y = np.column_stack([y, -y, 0 * y])
    for lam in (-1.01 * least, -0.99 * least):
        several, one = (df.Problem(X, Squared(t, weight), lam=lam).convexity for t in (Y, y))
        assert several.known is one.known
        assert several.sigma == pytest.approx(one.sigma, rel=1e-9)


@pytest.mark.parametrize("shape", ["multi-output", "blocks"])
def test_losses_of_several_numbers_are_proven_disproven_or_left_open(shape):
    X, y, _ = signed(n=90, d=4)
    weight = np.where(np.arange(30 if shape == "blocks" else 90) % 5 == 0, -1.0, 1.0)

    def problem(lam, sign=1.0):
        if shape == "blocks":
            return df.Problem(df.Blocks(X, np.arange(0, 91, 3)), ConditionalLogit(np.zeros(30), sign * weight), lam)
        return df.Problem(X, Softmax(np.digitize(y, [-0.5, 0.5]), sign * weight), lam)

    owners = problem(1.0).examples.owners
    concave = np.linalg.eigvalsh(0.5 * hessian(X, (weight < 0)[owners].astype(float)) * len(owners) / len(weight))[-1]
    assert problem(1.01 * concave).convexity.known is True
    assert problem(1.01 * concave).convexity.sigma == pytest.approx(0.01 * concave, rel=1e-6)
    assert problem(0.5 * concave).convexity.known is None
    upside_down = problem(1e-4, sign=-1.0)
    assert upside_down.convexity.known is False
    # By the second difference of P at zero, along its direction of least curvature.
    upper = upside_down.hessian(np.zeros(upside_down.examples.total))
    value, vectors = np.linalg.eigh(upper, UPLO="U")
    step = 1e-3 * vectors[:, 0]
    bend = upside_down.value(step) + upside_down.value(-step) - 2 * upside_down.value(0 * step)
    assert bend / 1e-6 == pytest.approx(value[0], rel=1e-3)
    assert value[0] < 0


def test_who_knows_better_may_say_so():
    X, y, _ = signed()
    twice = df.Problem(np.vstack([X, X]), Logistic(np.tile(np.sign(y), 2), np.repeat([2.0, -1.0], 300)), lam=0.02)
    assert twice.convexity.known is None
    twice.convexity = df.Convexity(True, 0.02, "the two losses of an example add up to a convex one")
    result = df.solve(twice, method="lbfgs")
    assert result.certificate.average_convex
    plain = df.solve(df.Problem(X, Logistic(np.sign(y)), lam=0.04), method="newton", tol=1e-12)
    assert 0 <= 2 * result.certificate.value - plain.certificate.value <= 2 * result.certificate.gap


def test_a_loss_of_one_s_own_is_left_open():
    class Wave(Loss):
        convex = False

        def value(self, z, y):
            return (z - y) ** 2 / 2 + np.cos(z)

        def derivative(self, z, y):
            return z - y - np.sin(z)

        def smoothness(self, y):
            return np.full(len(y), 2.0)

    X, y, _ = signed()
    with pytest.warns(df.ConvexityWarning, match="not decided"):
        df.solve(df.Problem(X, Wave(y), lam=0.1), sampling="nice:50", max_epochs=1)
    assert df.Problem(X, Wave(y), lam=10.0).convexity.known is True


@pytest.mark.parametrize(
    ("method", "step"),
    [
        ("dfsdca", "theorem-1"),
        ("dfsdca", None),
        ("lbfgs", None),
        ("newton", None),
        ("auto", "theorem-1"),
        ("auto", None),
    ],
)
def test_the_gradient_bound_uses_sigma_and_holds(method, step):
    X, y, weight = signed(share=0.6)
    H = hessian(X, weight)
    problem = df.Problem(X, Squared(y, weight), lam=-1.5 * np.linalg.eigvalsh(H)[0])
    w_star = np.linalg.solve(H + problem.lam * np.eye(8), X.T @ (weight * y) / 300)
    result = df.solve(problem, method=method, step=step, tol=1e-9, max_epochs=5000)
    proof, apart = result.certificate, problem.value(result.w) - problem.value(w_star)
    assert result.status == "converged"
    assert proof.gradient_bound == pytest.approx(
        np.linalg.norm(problem.gradient(result.w)) ** 2 / (2 * problem.convexity.sigma), rel=1e-9
    )
    assert -1e-12 <= apart <= proof.gap + 1e-15
    np.testing.assert_allclose(result.w, w_star, atol=1e-3)


def test_ridge_with_negative_weights_is_the_normal_equations():
    X, y, weight = signed(n=2000, d=12)
    model = Ridge(alpha=5.0, fit_intercept=False, tol=1e-12).fit(X, y, weight)
    exact = np.linalg.solve((X * weight[:, None]).T @ X + 5.0 * np.eye(12), X.T @ (weight * y))
    np.testing.assert_allclose(model.coef_, exact, rtol=1e-5)
    assert model.certificate_.average_convex
    with pytest.raises(ValueError, match="sample_weight is so negative that the penalised average loss is not convex"):
        Ridge(alpha=1e-3, fit_intercept=False).fit(X, y, -weight)


def test_logistic_regression_with_negative_weights_cancels_background():
    """Events and simulated background with weight −1 where they must cancel: what is left is the signal's own fit."""
    rng = np.random.default_rng(3)
    X, _, _ = signed(n=600, d=5, seed=3)
    y = np.where(X @ np.arange(5.0) + 0.2 * rng.normal(size=600) > 0, 1, 0)
    noise, label = rng.normal(size=(200, 5)), rng.integers(2, size=200)
    both, labels = np.vstack([X, noise, noise]), np.concatenate([y, label, label])
    weight = np.repeat([1.0, 1.0, -1.0], [600, 200, 200])
    model = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10)
    with pytest.warns(df.ConvexityWarning) as caught:
        found = model.fit(both, labels, weight).coef_
    assert caught[0].filename == __file__
    plain = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10).fit(X, y).coef_
    np.testing.assert_allclose(found, plain, rtol=1e-3, atol=1e-4)


def test_huber_with_negative_weights_is_left_open_or_refused():
    X, y, weight = signed()
    assert df.Problem(X, Huber(y, 1.0, weight), lam=0.01).convexity.known is None
    assert df.Problem(X, Huber(0 * y, 1.0, -weight), lam=0.01).convexity.known is False
