"""Coefficients and intercepts agree with scikit-learn's, to 1e-5 relative, on its own data."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model, svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.preprocessing import StandardScaler

from dualfree.linear_model import (
    HuberRegressor,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
)

TIGHT = {"tol": 1e-13, "max_iter": 50_000}
REFERENCE = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 10_000}
STRENGTHS = [0.01, 1.0, 100.0]


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def weights(n, kind):
    return np.random.default_rng(0).uniform(0.2, 3.0, size=n) if kind == "weighted" else None


def assert_agree(ours, theirs):
    """Coefficients and intercepts as one vector, within 1e-5 of its length."""
    a = np.concatenate([np.ravel(ours.coef_), np.ravel(ours.intercept_)])
    b = np.concatenate([np.ravel(theirs.coef_), np.ravel(theirs.intercept_)])
    assert np.linalg.norm(a - b) <= 1e-5 * np.linalg.norm(b)


@pytest.mark.parametrize("solver", ["auto", "newton"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 0.5}])
@pytest.mark.parametrize("kind", ["plain", "weighted"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", STRENGTHS)
def test_logistic_two_classes(C, fit_intercept, kind, class_weight, solver):
    X, y = cancer()
    settings = {"C": C, "fit_intercept": fit_intercept, "class_weight": class_weight}
    ours = LogisticRegression(solver=solver, **settings, **TIGHT).fit(X, y, weights(len(y), kind))
    assert_agree(ours, linear_model.LogisticRegression(**settings, **REFERENCE).fit(X, y, weights(len(y), kind)))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_logistic_by_stochastic_steps_alone(fit_intercept):
    X, y = cancer()
    ours = LogisticRegression(fit_intercept=fit_intercept, solver="dfsdca", **TIGHT).fit(sparse.csr_array(X), y)
    assert_agree(ours, linear_model.LogisticRegression(fit_intercept=fit_intercept, **REFERENCE).fit(X, y))


@pytest.mark.parametrize("data", [iris, digits])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", STRENGTHS)
def test_logistic_several_classes(data, fit_intercept, C):
    X, y = data()
    ours = LogisticRegression(C=C, fit_intercept=fit_intercept, **TIGHT).fit(X, y)
    theirs = linear_model.LogisticRegression(C=C, fit_intercept=fit_intercept, **REFERENCE).fit(X, y)
    assert_agree(ours, theirs)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("kind", ["plain", "weighted"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", STRENGTHS)
def test_ridge_classifier(alpha, fit_intercept, class_weight, kind):
    X, y = cancer() if kind == "plain" else iris()
    settings = {"alpha": alpha, "fit_intercept": fit_intercept, "class_weight": class_weight}
    # scikit-learn counts rows, not weights, when it balances classes; both do without weights.
    weight = weights(len(y), kind) if class_weight is None else None
    ours = RidgeClassifier(**settings, **TIGHT).fit(X, y, weight)
    assert_agree(ours, linear_model.RidgeClassifier(**settings, solver="svd").fit(X, y, weight))


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("kind", ["plain", "weighted"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", STRENGTHS)
def test_ridge(alpha, fit_intercept, kind, scaled):
    X, y = load_diabetes(return_X_y=True, scaled=scaled)
    ours = Ridge(alpha, fit_intercept=fit_intercept, **TIGHT).fit(X, y, weights(len(y), kind))
    theirs = linear_model.Ridge(alpha, fit_intercept=fit_intercept, solver="svd").fit(X, y, weights(len(y), kind))
    assert_agree(ours, theirs)
    assert ours.coef_.shape == theirs.coef_.shape


def test_ridge_with_several_targets_and_penalties():
    X, y = load_diabetes(return_X_y=True)
    Y = np.column_stack([y, np.log(y)])
    ours = Ridge([0.1, 2.0], **TIGHT).fit(X, Y)
    theirs = linear_model.Ridge([0.1, 2.0], solver="svd").fit(X, Y)
    assert_agree(ours, theirs)
    assert ours.coef_.shape == (2, 10)
    assert ours.intercept_.shape == (2,)
    assert len(ours.certificate_) == len(ours.history_) == 2


@pytest.mark.parametrize("C", STRENGTHS)
@pytest.mark.parametrize("data", [cancer, iris])
def test_svc_without_intercept(data, C):
    X, y = data()
    ours = LinearSVC(C=C, fit_intercept=False, **TIGHT).fit(X, y)
    theirs = svm.LinearSVC(C=C, fit_intercept=False, dual=False, tol=1e-10, max_iter=100_000).fit(X, y)
    assert_agree(ours, theirs)


def test_svc_with_an_intercept_that_is_hardly_penalised():
    X, y = cancer()
    ours = LinearSVC(C=0.1, **TIGHT).fit(X, y)
    reference = svm.LinearSVC(C=0.1, intercept_scaling=1e4, dual=False, tol=1e-12, max_iter=1_000_000)
    assert_agree(ours, reference.fit(X, y))


def test_smoothed_hinge_is_close_to_the_hinge():
    X, y = cancer()
    ours = LinearSVC(loss="smoothed_hinge", gamma=1e-3, fit_intercept=False, C=0.01, **TIGHT).fit(X, y)
    theirs = svm.LinearSVC(loss="hinge", C=0.01, fit_intercept=False, tol=1e-8, max_iter=1_000_000).fit(X, y)
    assert np.linalg.norm(ours.coef_ - theirs.coef_) <= 1e-2 * np.linalg.norm(theirs.coef_)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["plain", "weighted"])
@pytest.mark.parametrize("alpha", [1e-4, 1.0])
def test_huber(alpha, kind, fit_intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    y = X @ np.arange(1.0, 6.0) + 3 + rng.standard_t(1.5, size=150)
    settings = {"alpha": alpha, "fit_intercept": fit_intercept}
    ours = HuberRegressor(**settings, **TIGHT).fit(X, y, weights(len(y), kind))
    theirs = linear_model.HuberRegressor(**settings, tol=1e-10, max_iter=10_000).fit(X, y, weights(len(y), kind))
    assert_agree(ours, theirs)
    assert ours.scale_ == pytest.approx(theirs.scale_, rel=1e-5)
    np.testing.assert_array_equal(ours.outliers_, theirs.outliers_)


def huber_objective(model, X, y):
    u = np.abs(y - model.predict(X)) / model.scale_
    inner = np.where(u < model.epsilon, u**2, 2 * model.epsilon * u - model.epsilon**2)
    return model.scale_ * (len(y) + inner.sum()) + model.alpha * model.coef_ @ model.coef_


def test_huber_on_diabetes_is_at_least_as_good():
    """scikit-learn's L-BFGS stops early here whatever its tolerance, so the objective decides."""
    X, y = load_diabetes(return_X_y=True)
    ours = HuberRegressor(alpha=0.1, **TIGHT).fit(X, y)
    theirs = linear_model.HuberRegressor(alpha=0.1, tol=1e-10, max_iter=10_000).fit(X, y)
    assert huber_objective(ours, X, y) <= huber_objective(theirs, X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-2)


@pytest.mark.parametrize("data", [cancer, iris])
def test_cross_validation_chooses_as_separate_fits_do(data):
    X, y = data()
    ours = LogisticRegressionCV(Cs=[0.01, 1.0, 100.0], cv=3, **TIGHT).fit(X, y)
    from sklearn.model_selection import cross_val_score

    separate = [cross_val_score(LogisticRegression(C=C, **TIGHT), X, y, cv=3) for C in ours.Cs_]
    np.testing.assert_allclose(ours.scores_, np.transpose(separate))
    assert ours.Cs_[np.mean(separate, axis=1).argmax()] == ours.C_
    assert_agree(ours, LogisticRegression(C=ours.C_, **TIGHT).fit(X, y))
    without = LogisticRegressionCV(Cs=[0.01, 1.0, 100.0], cv=3, refit=False, **TIGHT).fit(X, y)
    assert without.coef_ == pytest.approx(without.coefs_paths_[:, list(ours.Cs_).index(ours.C_), :, :-1].mean(axis=0))
