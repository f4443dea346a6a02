"""The answers of scikit-learn and SciPy on the same objective, on real data: coefficients to 1e-6."""

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import dualfree as df
from dualfree.losses import Huber, Logistic, SmoothedHinge, Squared, SquaredHinge


def scaled(X):
    X = StandardScaler().fit_transform(X)
    return X / np.linalg.norm(X, axis=1).max()


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scaled(X), np.where(y == 1, 1.0, -1.0)


def digits():
    X, y = load_digits(return_X_y=True)
    return X / np.linalg.norm(X, axis=1).max(), np.where(y % 2 == 0, 1.0, -1.0)


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return scaled(X), (y - y.mean()) / y.std()


CLASSES = {"breast cancer": cancer, "digits": digits}
KINDS = {"csr": sparse.csr_array, "dense": np.asarray}
WEIGHTS = {"equal": lambda n: None, "weighted": lambda n: np.random.default_rng(0).integers(0, 4, size=n).astype(float)}

each_kind = pytest.mark.parametrize("kind", KINDS)
each_weight = pytest.mark.parametrize("weight", WEIGHTS)
each_classes = pytest.mark.parametrize("classes", CLASSES)


def solved(X, loss, lam):
    result = df.solve(df.Problem(X, loss, lam=lam), tol=1e-15, max_epochs=4000, evaluate_every=20)
    assert result.status == "converged", result.message
    return result.w


def assert_agree(w, expected):
    assert np.linalg.norm(w - expected) <= 1e-6 * np.linalg.norm(expected)


@each_classes
@each_kind
@each_weight
def test_logistic(classes, kind, weight):
    X, y = CLASSES[classes]()
    n, weights = len(y), WEIGHTS[weight](len(y))
    model = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12, fit_intercept=False, max_iter=1000)
    expected = model.fit(X, y, sample_weight=weights).coef_[0]
    assert_agree(solved(KINDS[kind](X), Logistic(y, weight=weights), 1 / n), expected)


@each_kind
@each_weight
def test_ridge(kind, weight):
    X, y = diabetes()
    n, weights = len(y), WEIGHTS[weight](len(y))
    expected = Ridge(alpha=2.0, solver="cholesky", fit_intercept=False).fit(X, y, sample_weight=weights).coef_
    assert_agree(solved(KINDS[kind](X), Squared(y, weight=weights), 2 / n), expected)


@each_classes
@each_kind
@each_weight
def test_squared_hinge(classes, kind, weight):
    X, y = CLASSES[classes]()
    n, weights = len(y), WEIGHTS[weight](len(y))
    model = LinearSVC(C=0.5, loss="squared_hinge", dual=False, tol=1e-12, fit_intercept=False, max_iter=100_000)
    expected = model.fit(X, y, sample_weight=weights).coef_[0]
    assert_agree(solved(KINDS[kind](X), SquaredHinge(y, weight=weights), 2 / n), expected)


def newton(X, y, value, slope, curvature, lam, weights):
    """Minimise by SciPy the objective written out by hand; a generalised Hessian, for these losses have kinks in f'."""
    n, d = X.shape
    k = np.ones(n) if weights is None else weights

    def objective(w):
        return k @ value(X @ w) / n + lam / 2 * w @ w

    def gradient(w):
        return X.T @ (k * slope(X @ w)) / n + lam * w

    def hessian(w):
        return X.T @ ((k * curvature(X @ w))[:, None] * X) / n + lam * np.eye(d)

    found = optimize.minimize(objective, np.zeros(d), jac=gradient, hess=hessian, method="trust-exact", tol=1e-12)
    w = found.x
    for _ in range(20):  # full Newton steps from there: on the right piece they are exact
        w = w - np.linalg.solve(hessian(w), gradient(w))
    assert np.linalg.norm(gradient(w)) < 1e-12
    return w


@each_kind
@each_weight
def test_huber(kind, weight):
    X, y = diabetes()
    delta, lam, weights = 0.5, 1 / len(y), WEIGHTS[weight](len(y))

    def value(z):
        r = np.abs(z - y)
        return np.where(r <= delta, r**2 / 2, delta * r - delta**2 / 2)

    expected = newton(
        X, y, value, lambda z: np.clip(z - y, -delta, delta), lambda z: np.abs(z - y) <= delta, lam, weights
    )
    assert_agree(solved(KINDS[kind](X), Huber(y, delta=delta, weight=weights), lam), expected)


@each_classes
@each_kind
@each_weight
def test_smoothed_hinge(classes, kind, weight):
    X, y = CLASSES[classes]()
    gamma, lam, weights = 0.5, 1 / len(y), WEIGHTS[weight](len(y))

    def value(z):
        r = 1 - y * z
        return np.where(r <= 0, 0, np.where(r >= gamma, r - gamma / 2, r**2 / (2 * gamma)))

    def slope(z):
        return -y * np.clip((1 - y * z) / gamma, 0, 1)

    def curvature(z):
        r = 1 - y * z
        return ((r > 0) & (r < gamma)) / gamma

    expected = newton(X, y, value, slope, curvature, lam, weights)
    assert_agree(solved(KINDS[kind](X), SmoothedHinge(y, gamma=gamma, weight=weights), lam), expected)


def test_labels_of_any_kind():
    X, y = cancer()
    text = np.where(y > 0, "benign", "malignant")
    expected = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12, fit_intercept=False).fit(X, text)
    loss = Logistic(text)
    assert loss.classes.tolist() == expected.classes_.tolist()
    assert_agree(solved(X, loss, 1 / len(y)), expected.coef_[0])
