"""Positive and unlabelled examples: the risk, its minimiser, and what it is good for."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import dualfree as df
from dualfree.linear_model import LogisticRegression, PUClassifier

CONVERGED = {"tol": 1e-10, "max_iter": 5000}


def two_clouds(n=600, d=4, labelled=0.3, seed=0):
    """Examples, their true classes, and which positives are known; the share of positives among the others."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    X = rng.normal(size=(n, d)) + 1.2 * truth[:, None]
    known = truth & (rng.random(n) < labelled)
    return X, truth.astype(int), known.astype(int), float(truth[~known].mean())


def risk(w, X, known, prior, lam, s=None):
    """The definition, with w ending in the intercept."""
    z, s = X @ w[:-1] + w[-1], np.ones(len(X)) if s is None else s
    positive, unlabelled = known == 1, known == 0
    linear = -prior * np.average(z[positive], weights=s[positive])
    return linear + np.average(np.logaddexp(0, z[unlabelled]), weights=s[unlabelled]) + lam / 2 * w[:-1] @ w[:-1]


@pytest.mark.parametrize("solver", ["auto", "dfsdca", "newton"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_minimiser_is_that_of_the_risk(solver, fit_intercept, weighted):
    X, _, known, prior = two_clouds()
    s = np.random.default_rng(1).uniform(0.2, 3.0, size=len(X)) if weighted else None
    model = PUClassifier(prior, C=0.1, solver=solver, fit_intercept=fit_intercept, **CONVERGED).fit(X, known, s)
    lam = 1 / (0.1 * (len(X) if s is None else s.sum()))
    mask = np.append(np.ones(4), float(fit_intercept))
    best = minimize(lambda w: risk(w * mask, X, known, prior, lam, s), np.zeros(5), tol=1e-12)
    found = np.append(model.coef_[0], model.intercept_)
    np.testing.assert_allclose(found, best.x * mask, atol=1e-4)
    assert model.certificate_.value == pytest.approx(best.fun, rel=1e-8)
    assert model.certificate_.average_convex


def test_it_is_the_risk_with_negative_weights():
    """Positive examples with label +1 and weight π, and with label −1 and weight −π: the same P, of concave parts."""
    X, _, known, prior = two_clouds(n=200)
    n, positive = len(X), np.flatnonzero(known)
    rows = np.vstack([X, X[positive]])
    y = np.concatenate([np.where(known == 1, 1.0, -1.0), -np.ones(len(positive))])
    share = prior * len(rows) / len(positive)
    weight = np.where(y > 0, share, len(rows) / (n - len(positive)))
    weight[n:] = -share
    signed = df.Problem(rows, df.losses.Logistic(y, weight), lam=0.05)
    ours = np.where(known == 1, prior * n / len(positive), n / (n - len(positive)))
    convex = df.Problem(X, df.losses.PositiveUnlabelled(known, ours), lam=0.05)
    for w in np.random.default_rng(0).normal(size=(5, 4)):
        assert signed.value(w) == pytest.approx(convex.value(w), rel=1e-12)
        np.testing.assert_allclose(signed.gradient(w), convex.gradient(w), atol=1e-13)
    assert convex.loss.all_convex
    assert not signed.loss.all_convex


@pytest.mark.parametrize("step", ["implicit", "theorem-2", "per-example"])
def test_the_duality_gap_certifies(step):
    X, _, known, _ = two_clouds()
    problem = df.Problem(X, df.losses.PositiveUnlabelled(known), lam=0.1)
    result = df.solve(problem, step=step, tol=1e-9, max_epochs=3000, sampling="uniform")
    assert result.status == "converged"
    assert np.isfinite(result.certificate.duality_gap)
    assert result.certificate.value == pytest.approx(df.solve(problem, method="newton", tol=1e-12).certificate.value)


def test_better_than_taking_the_unlabelled_for_negative():
    X, truth, known, prior = two_clouds(n=4000)
    fresh, classes, _, _ = two_clouds(n=4000, seed=1)
    ours = PUClassifier(prior).fit(X, known)
    naive = LogisticRegression().fit(X, known)
    supervised = LogisticRegression().fit(X, truth)
    assert ours.score(fresh, classes) > naive.score(fresh, classes) + 0.1
    assert ours.score(fresh, classes) > supervised.score(fresh, classes) - 0.02
    assert ours.predict_proba(fresh)[:, 1].mean() == pytest.approx(classes.mean(), abs=0.1)


def test_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    known = np.where(np.random.default_rng(0).random(len(y)) < 0.3, y, 0)
    model = PUClassifier(y[known == 0].mean(), C=0.01).fit(X, known)
    assert model.score(X, y) > 0.9
    np.testing.assert_array_equal(model.to_sklearn().predict(X), model.predict(X))
    np.testing.assert_allclose(model.to_sklearn().predict_proba(X), model.predict_proba(X))


def test_what_is_refused():
    X, _, known, _ = two_clouds(n=60)
    with pytest.raises(ValueError, match="class_prior is None; it must be the share of positives"):
        PUClassifier().fit(X, known)
    with pytest.raises(ValueError, match="'class_prior' parameter"):
        PUClassifier(1.0).fit(X, known)
    with pytest.raises(ValueError, match="y has 3 labels"):
        PUClassifier(0.5).fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match=r"sample_weight\[3\] is -1; PUClassifier needs"):
        PUClassifier(0.5).fit(X, known, np.where(np.arange(60) == 3, -1.0, 1.0))
