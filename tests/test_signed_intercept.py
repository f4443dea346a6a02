"""Negative weights with an intercept: the right optimum, a certificate that holds, and refusals in words."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

import dualfree as df
from dualfree.intercept import best_intercept, no_best_intercept
from dualfree.linear_model import LinearSVC, LogisticRegression, Ridge
from dualfree.losses import Huber, Logistic, Softmax, Squared

METHOD = pytest.mark.parametrize("method", ["newton", "lbfgs", "auto"])
LAYOUT = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


def signed(n=400, d=5, share=0.15, seed=0):
    """Rows around a centre that is not the origin, a score, and weights of which a share is negative."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7) + 2.0 * (rng.random(d) < 0.5)
    return X, X @ rng.normal(size=d) + 1.5 + rng.normal(size=n), np.where(rng.random(n) < share, -1.0, 1.0)


def normal_equations(X, Y, weight, lam):
    """The stationary point over w and b; b has no λ."""
    Z = np.column_stack([X, np.ones(len(X))])
    penalty = lam * np.diag(np.r_[np.ones(X.shape[1]), 0.0])
    return np.linalg.solve((Z * weight[:, None]).T @ Z / len(X) + penalty, Z.T @ (Y.T * weight).T / len(X))


def centred(X, weight):
    """``(1/n) Σ weight_i (x_i − x̄)(x_i − x̄)ᵀ``: the curvature of the least squares at the best b."""
    apart = X - weight @ X / weight.sum()
    return (apart * weight[:, None]).T @ apart / len(X)


@METHOD
@LAYOUT
@pytest.mark.parametrize("d", [5, 150])
def test_least_squares_are_the_normal_equations(d, layout, method):
    X, y, weight = signed(d=d, share=0.05)
    problem = df.Problem(layout(X), Squared(y, weight), lam=0.5, intercept=True)
    exact = normal_equations(X, y, weight, 0.5)
    result = df.solve(problem, method=method, tol=1e-11, max_epochs=2000)
    assert result.status == "converged", result.message
    assert result.certificate.average_convex
    np.testing.assert_allclose(result.w, exact, atol=1e-4)
    for row in result.history:
        assert -1e-12 <= row.value - problem.value(exact) <= row.gap + 1e-14


@METHOD
def test_several_targets_have_an_intercept_each(method):
    X, y, weight = signed()
    Y = np.column_stack([y, 3 - y, y**2])
    result = df.solve(df.Problem(X, Squared(Y, weight), 0.1, intercept=True), method=method, tol=1e-12, max_epochs=500)
    assert result.status == "converged"
    np.testing.assert_allclose(result.w, normal_equations(X, Y, weight, 0.1), atol=1e-4)


@pytest.mark.parametrize("d", [6, 150])
def test_squared_losses_are_decided_on_both_sides_of_the_edge(d):
    X, y, weight = signed(n=300, d=d, share=0.4)
    least = np.linalg.eigvalsh(centred(X, weight))[0]
    assert least < 0
    above, below = (df.Problem(X, Squared(y, weight), -s * least, intercept=True) for s in (1.01, 0.99))
    assert above.convexity.known is True
    assert above.convexity.sigma == pytest.approx(-0.01 * least, rel=0.1)
    assert above.convexity.sigma <= -0.01 * least
    assert below.convexity.known is False
    with pytest.raises(ValueError, match="weight is so negative that P has no minimum"):
        df.solve(below, method="newton")
    exact = normal_equations(X, y, weight, above.lam)
    for w in np.random.default_rng(1).normal(size=(10, d + 1)):  # the bound holds at any w, at its best intercept
        look = above.look(w)
        slope = look.evaluation.gradient
        apart = look.evaluation.value - above.value(exact)
        assert 0 <= apart <= slope @ slope / (2 * above.convexity.sigma)


def scipy_optimum(problem):
    found = minimize(
        lambda w: problem.value(w), np.zeros(problem.d), jac=lambda w: problem.gradient(w).ravel(), method="BFGS",
        options={"gtol": 1e-9, "maxiter": 5000},
    )  # fmt: skip
    return found.x.reshape(problem.examples.w_shape)


@METHOD
@LAYOUT
def test_logistic_regression_equals_a_general_minimiser(layout, method):
    X, score, weight = signed(n=600)
    problem = df.Problem(layout(X), Logistic(score > 2, weight), lam=0.02, intercept=True)
    with pytest.warns(df.ConvexityWarning, match="far away an intercept lets .*unless equal rows outweigh them"):
        result = df.solve(problem, method=method, tol=1e-11, max_epochs=500)
    assert result.status == "converged"
    assert not result.certificate.average_convex
    assert "assumed, not decided" in result.message
    np.testing.assert_allclose(result.w, scipy_optimum(problem), atol=1e-4)


def test_softmax_equals_a_general_minimiser_up_to_a_number_for_all_classes():
    X, score, weight = signed(n=600, d=3)
    problem = df.Problem(X, Softmax(np.digitize(score, [0.0, 3.0]), weight), lam=0.02, intercept=True)
    with pytest.warns(df.ConvexityWarning):
        result = df.solve(problem, method="newton", tol=1e-11)
    assert result.status == "converged"
    exact = scipy_optimum(problem)
    np.testing.assert_allclose(result.w[:-1], exact[:-1], atol=1e-4)
    np.testing.assert_allclose(result.w[-1] - result.w[-1, 0], exact[-1] - exact[-1, 0], atol=1e-4)


def test_a_logistic_fit_that_bends_down_at_zero_is_not_certified():
    X, score, weight = signed(n=200, d=60, share=0.4)
    y = score > np.median(score)
    weight[y] += 0.2 - weight[y].mean()  # both classes keep some weight
    weight[~y] += 0.2 - weight[~y].mean()
    lam = -0.5 * np.linalg.eigvalsh(centred(X, weight) / 4)[0]
    assert lam > 0
    problem = df.Problem(X, Logistic(y, weight), lam, intercept=True)
    assert problem.convexity.known is False
    with pytest.warns(df.ConvexityWarning, match="P is not convex .at w = 0 P has a direction of curvature"):
        result = df.solve(problem, method="lbfgs", max_epochs=5)
    assert not result.certificate.guaranteed
    with pytest.raises(ValueError, match="sample_weight is so negative that the penalised average loss is not convex"):
        LogisticRegression(C=1 / (lam * len(X))).fit(X, y, weight)


@pytest.mark.parametrize("start", [-1e6, 0.0, 1e6])
def test_the_best_intercept_is_a_local_minimum(start):
    rng = np.random.default_rng(3)
    z, y, weight = 3 * rng.normal(size=200), np.resize([-1.0, 1.0], 200), np.resize([1.0, 1.0, 1.0, -0.6], 200)
    loss = Logistic(y, weight)
    assert no_best_intercept(loss) is None
    b = best_intercept(loss, z, start)
    at_b = loss.values(z + b).sum()
    assert all(at_b <= loss.values(z + other).sum() + 1e-12 for other in (b - 1e-3, b + 1e-3))
    assert abs(loss.derivatives(z + b).sum()) < 1e-11


def test_ridge_and_logistic_regression_as_they_come():
    X, y, weight = signed(n=2000, d=8)
    model = Ridge(alpha=5.0, tol=1e-12).fit(X, y, weight)
    exact = normal_equations(X, y, weight, 5.0 / 2000)
    np.testing.assert_allclose(np.r_[model.coef_, model.intercept_], exact, rtol=1e-5)
    assert model.certificate_.average_convex
    # Background that is added and taken off again cancels: what is left is the fit without it.
    rng = np.random.default_rng(4)
    noise, label = rng.normal(size=(300, 8)), rng.integers(2, size=300)
    both, labels = np.vstack([X, noise, noise]), np.r_[y > 2, label, label]
    options = {"C": 0.1, "tol": 1e-11}
    with pytest.warns(df.ConvexityWarning) as caught:
        found = LogisticRegression(**options).fit(both, labels, np.repeat([1.0, 1.0, -1.0], [2000, 300, 300]))
    assert caught[0].filename == __file__
    plain = LogisticRegression(**options).fit(X, (y > 2).astype(int))
    np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found.intercept_, plain.intercept_, rtol=1e-3, atol=1e-4)


def test_three_classes_and_three_targets():
    X, y, weight = signed(n=900, d=4, share=0.1)
    with pytest.warns(df.ConvexityWarning):
        model = LogisticRegression(C=0.1).fit(X, np.digitize(y, [0.0, 3.0]), weight)
    assert model.intercept_.shape == (3,)
    Y = np.column_stack([y, -y])
    np.testing.assert_allclose(
        Ridge().fit(X, Y, weight).intercept_, normal_equations(X, Y, weight, 1 / 900)[-1], rtol=1e-4
    )


def test_what_is_refused():
    X, y, weight = signed()
    with pytest.raises(ValueError, match=r"method='dfsdca' has no theorem for negative weights with an intercept"):
        df.solve(df.Problem(X, Squared(y, weight), 1.0, intercept=True))
    sentence = r"intercept is True and weight\[\d+\] is -1, a negative weight: "
    with pytest.raises(
        ValueError, match=sentence + "Huber takes none with an intercept; Squared, Logistic and Softmax"
    ):
        df.Problem(X, Huber(y, 1.0, weight), 1.0, intercept=True)
    with pytest.raises(ValueError, match=sentence + r"the weights add up to -\d+, and below or at 0 there is no best"):
        df.Problem(X, Squared(y, -np.abs(weight)), 1.0, intercept=True)
    turned = np.where(y > 2, -1.0, 1.0)
    with pytest.raises(ValueError, match=sentence + r"the weights of class \+1 add up to -\d+, and below or at 0"):
        df.Problem(X, Logistic(y > 2, turned), 1.0, intercept=True)
    labels = np.where(y > 2, "high", np.where(y > 0, "middle", "low"))
    with pytest.raises(ValueError, match=sentence + r"the weights of class 'high' add up to -\d+"):
        df.Problem(X, Softmax(labels, turned), 1.0, intercept=True)
    with pytest.raises(
        ValueError, match=r"sample_weight\[\d+\] is negative and fit_intercept is True: SquaredHinge takes"
    ):
        LinearSVC().fit(X, y > 2, weight)
    with pytest.raises(
        ValueError, match=r"sample_weight\[\d+\] is negative and fit_intercept is True: the weights add"
    ):
        Ridge().fit(X, y, -np.abs(weight))
    with pytest.raises(ValueError, match=sentence + "no method takes both with an L1 part"):
        df.Problem(X, Squared(y, weight), 1.0, intercept=True, regulariser=df.regularisers.L2L1(0.1))
