"""Paths of penalties: they agree with separate fits and with scikit-learn's, and warm starts save epochs."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.preprocessing import scale

from dualfree.linear_model import Ridge, RidgeCV, RidgePath, ridge_path

ALPHAS = np.logspace(-2, 3, 6)
TIGHT = {"tol": 1e-14, "max_iter": 20_000}


def diabetes(targets=1):
    X, y = load_diabetes(return_X_y=True)
    return X, y if targets == 1 else np.column_stack([y, np.log(y)])


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_path_agrees_with_scikit_learn_for_every_alpha(targets, fit_intercept, weighted):
    X, y = diabetes(targets)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=len(y)) if weighted else None
    path = ridge_path(X, y, alphas=ALPHAS, sample_weight=weight, fit_intercept=fit_intercept, **TIGHT)
    assert isinstance(path, RidgePath)
    np.testing.assert_array_equal(path.alphas, ALPHAS[::-1])
    assert path.coefs.shape == (10, 6) if targets == 1 else (2, 10, 6)
    for k, alpha in enumerate(path.alphas):
        theirs = linear_model.Ridge(alpha, fit_intercept=fit_intercept, solver="svd").fit(X, y, weight)
        np.testing.assert_allclose(path.coefs[..., k], theirs.coef_, rtol=1e-6, atol=1e-6 * np.abs(theirs.coef_).max())
        np.testing.assert_allclose(path.intercepts[..., k], theirs.intercept_, rtol=1e-6)


def test_certificates_and_epochs_of_a_path():
    X, y = diabetes(2)
    path = ridge_path(X, y, alphas=[0.1, 1.0, 10.0])
    assert [len(ofone) for ofone in path.certificates] == [2, 2, 2]
    assert all(one.relative_gap <= 1e-6 for ofone in path.certificates for one in ofone)
    assert path.n_iter.shape == (3, 2)
    assert ridge_path(sparse.csr_array(X), y[:, 0]).n_iter.shape == (3,)


def test_warm_starts_need_fewer_epochs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 100)) * np.logspace(0, -1.5, 100)
    y = X @ rng.normal(size=100) + rng.normal(size=2000)
    alphas = np.logspace(2, 0, 8)
    settings = {"solver": "dfsdca", "max_iter": 20_000, "fit_intercept": False}
    path = ridge_path(X, y, alphas=alphas, **settings)
    cold = [int(Ridge(alpha, **settings).fit(X, y).n_iter_[0]) for alpha in alphas]
    assert path.n_iter[0] == cold[0]
    assert path.n_iter.sum() < 0.7 * sum(cold)


def test_path_refuses_and_warns():
    X, y = diabetes()
    with pytest.raises(ValueError, match=r"alphas is .*; it must hold finite numbers above 0"):
        ridge_path(X, y, alphas=[1.0, 0.0])
    with pytest.warns(ConvergenceWarning, match="raise max_iter") as caught:
        ridge_path(X, y, alphas=[1e-3], max_iter=1, solver="dfsdca")
    assert caught[0].filename == __file__


def test_path_shows_progress(capsys):
    ridge_path(*diabetes(), verbose=1)
    assert "alphas" in capsys.readouterr().err


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_cross_validation_chooses_as_scikit_learn_does(targets, scoring, fit_intercept):
    X, y = diabetes(targets)
    folds = KFold(4, shuffle=True, random_state=0)
    settings = {"alphas": ALPHAS, "scoring": scoring, "cv": folds, "fit_intercept": fit_intercept}
    ours = RidgeCV(**settings, n_jobs=2, **TIGHT).fit(X, y)
    theirs = linear_model.RidgeCV(**settings).fit(X, y)
    assert ours.alpha_ == theirs.alpha_ == ours.alphas_[ours.best_index_]
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5)
    assert ours.scores_.shape == (4, 6)
    assert ours.coefs_paths_.shape == (4, 6, targets, 11)
    np.testing.assert_allclose(ours.scores_.mean(axis=0).max(), ours.best_score_)
    np.testing.assert_array_equal(ours.to_sklearn().predict(X), ours.predict(X))


def test_cross_validation_with_weights_is_cross_validation_of_copies():
    X, y = load_breast_cancer(return_X_y=True)
    X, times = scale(X), np.random.default_rng(0).integers(1, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), times)
    halves = [(np.arange(len(y)) % 2 == k).nonzero()[0] for k in (0, 1)]
    copied = [np.isin(rows, half).nonzero()[0] for half in halves]
    weighted = RidgeCV(ALPHAS, cv=[(halves[0], halves[1]), (halves[1], halves[0])], **TIGHT).fit(X, y, times)
    repeated = RidgeCV(ALPHAS, cv=[(copied[0], copied[1]), (copied[1], copied[0])], **TIGHT).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-6)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6, atol=1e-9)


def test_one_alpha_is_enough():
    X, y = diabetes()
    assert RidgeCV(2.0, cv=3).fit(X, y).alpha_ == 2.0


@pytest.mark.parametrize("solver", ["auto", "dfsdca"])
def test_a_penalty_that_falls_far_at_once(solver):
    X, y = load_breast_cancer(return_X_y=True)
    path = ridge_path(scale(X), y, alphas=[1e6, 1.0], solver=solver, max_iter=20_000)
    assert all(one.relative_gap <= 1e-6 for one in path.certificates)
