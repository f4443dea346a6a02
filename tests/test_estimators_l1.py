"""Elastic nets agree with scikit-learn's coordinate descent and saga, and keep their certificate and their zeros."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import scale

from dualfree.linear_model import ElasticNet, LogisticRegression
from dualfree.linear_model.mixing import elastic_settings

TIGHT = {"tol": 1e-13, "max_iter": 20_000}


def cancer(n=200):
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X)[:n], y[:n]


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return scale(X), y / 100


def together(model):
    return np.concatenate([np.ravel(model.coef_), np.ravel(model.intercept_)])


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("alpha", "l1_ratio"), [(0.01, 0.5), (0.1, 0.9), (0.1, 0.0), (1.0, 0.3)])
def test_elastic_net_against_coordinate_descent(alpha, l1_ratio, fit_intercept, weighted):
    X, y = diabetes()
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=len(y)) if weighted else None
    settings = {"alpha": alpha, "l1_ratio": l1_ratio, "fit_intercept": fit_intercept}
    ours = ElasticNet(**settings, **TIGHT).fit(X, y, weight)
    theirs = linear_model.ElasticNet(**settings, tol=1e-14, max_iter=100_000).fit(X, y, weight)
    np.testing.assert_allclose(together(ours), together(theirs), atol=1e-6)
    np.testing.assert_array_equal(ours.coef_ == 0, theirs.coef_ == 0)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)


def test_elastic_net_with_several_targets_and_sparse_data():
    X, y = diabetes()
    X = X * (np.abs(X) > 0.8)
    Y = np.column_stack([y, np.log(y)])
    ours = ElasticNet(0.05, **TIGHT).fit(sparse.csr_array(X), Y)
    theirs = linear_model.ElasticNet(0.05, tol=1e-14, max_iter=100_000).fit(X, Y)
    np.testing.assert_allclose(together(ours), together(theirs), atol=1e-6)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_array_equal(ours.sparse_coef_.toarray(), ours.coef_)
    assert len(ours.certificate_) == 2


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("C", "l1_ratio"), [(0.1, 0.5), (0.02, 0.2), (0.05, 0.9)])
def test_logistic_against_saga(C, l1_ratio, fit_intercept, weighted):
    X, y = cancer()
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=len(y)) if weighted else None
    settings = {"C": C, "fit_intercept": fit_intercept}
    ours = LogisticRegression(l1_ratio=l1_ratio, **settings, **TIGHT).fit(X, y, weight)
    saga = linear_model.LogisticRegression(**settings, **elastic_settings(l1_ratio), tol=1e-9, max_iter=50_000)
    theirs = saga.fit(X, y, weight)
    np.testing.assert_allclose(together(ours), together(theirs), atol=1e-5)
    assert 0 < np.count_nonzero(ours.coef_) < X.shape[1]
    assert ours.certificate_.relative_gap <= 1e-13


def test_logistic_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    with pytest.raises(ValueError, match="y has 3 classes and l1_ratio is above 0"):
        LogisticRegression(C=0.2, l1_ratio=0.7, **TIGHT).fit(X, y)
    ours = OneVsRestClassifier(LogisticRegression(C=0.2, l1_ratio=0.7, **TIGHT)).fit(X, y)
    saga = linear_model.LogisticRegression(C=0.2, **elastic_settings(0.7), tol=1e-9, max_iter=50_000)
    theirs = OneVsRestClassifier(saga).fit(X, y)
    for mine, other in zip(ours.estimators_, theirs.estimators_, strict=True):
        np.testing.assert_allclose(mine.coef_, other.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_both_spellings_are_one_model():
    X, y = cancer()
    fitted = [LogisticRegression(penalty, l1_ratio=0.4).fit(X, y).coef_ for penalty in ("elasticnet", "deprecated")]
    np.testing.assert_array_equal(*fitted)


@pytest.mark.parametrize("model", [ElasticNet(0.1), LogisticRegression(C=0.1, l1_ratio=0.5)], ids=["net", "logistic"])
def test_back_to_scikit_learn_and_warm_starts(model):
    X, y = cancer()
    model = clone(model).set_params(warm_start=True, tol=1e-9).fit(X, y)
    theirs = model.to_sklearn()
    np.testing.assert_array_equal(theirs.predict(X), model.predict(X))
    assert theirs.get_params()["l1_ratio"] == 0.5
    first = model.coef_
    assert model.fit(X, y).n_iter_[0] == 1
    np.testing.assert_allclose(model.coef_, first, atol=1e-8)


def test_a_strong_penalty_leaves_the_intercept_alone():
    X, y = diabetes()
    model = ElasticNet(100.0).fit(X, y)
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(y.mean())


def test_negative_weights_are_refused():
    X, y = diabetes()
    with pytest.raises(ValueError, match="sample_weight has negative entries"):
        ElasticNet().fit(X, y, -np.ones(len(y)))
