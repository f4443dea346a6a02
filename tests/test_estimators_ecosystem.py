"""Fitted estimators travel: pickles, copies, and `to_sklearn`, which gives back scikit-learn's."""

import io
import pickle

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_multilabel_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dualfree.linear_model import (
    ElasticNet,
    HuberRegressor,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)

CLASSIFIERS = [LogisticRegression(), LinearSVC(), RidgeClassifier(), LogisticRegressionCV(Cs=[0.1, 1.0], cv=3)]
REGRESSORS = [Ridge(), ElasticNet(0.1), HuberRegressor(), RidgeCV(cv=3)]


def data(estimator, classes=2):
    if estimator in REGRESSORS:
        return load_diabetes(return_X_y=True)
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    kept = y < classes if classes == 3 else y > 0
    return X[kept], names[y[kept]]


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *REGRESSORS], ids=lambda e: type(e).__name__)
def test_pickle_joblib_clone(estimator):
    X, y = data(estimator, classes=3)
    fitted = clone(estimator).fit(X, y)
    file = io.BytesIO()
    joblib.dump(fitted, file)
    file.seek(0)
    for copy in (pickle.loads(pickle.dumps(fitted)), joblib.load(file)):
        np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
        assert str(copy.certificate_) == str(fitted.certificate_)
    assert not hasattr(clone(fitted), "coef_")


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *REGRESSORS], ids=lambda e: type(e).__name__)
def test_to_sklearn_predicts_the_same(estimator, fit_intercept, classes):
    X, y = data(estimator, classes)
    ours = clone(estimator).set_params(fit_intercept=fit_intercept).fit(X, y)
    theirs = ours.to_sklearn()
    assert type(theirs).__module__.startswith("sklearn.")
    np.testing.assert_array_equal(theirs.predict(X), ours.predict(X))
    for method in ("decision_function", "predict_proba"):
        if hasattr(ours, method):
            np.testing.assert_allclose(getattr(theirs, method)(X), getattr(ours, method)(X), rtol=1e-12)
    pickle.loads(pickle.dumps(theirs))
    assert getattr(theirs, "feature_names_in_", None) is getattr(ours, "feature_names_in_", None)


def test_to_sklearn_gives_the_class_of_the_same_name():
    X, y = data(None)
    assert isinstance(LogisticRegression().fit(X, y).to_sklearn(), linear_model.LogisticRegression)
    assert isinstance(LinearSVC().fit(X, y).to_sklearn(), svm.LinearSVC)
    assert isinstance(LogisticRegression().fit(*data(None, 3)).to_sklearn(), linear_model.LogisticRegression)


def test_weights_reach_the_estimator_in_a_pipeline():
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 3, size=len(y))
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-12))
    fitted = pipeline.fit(X, y, logisticregression__sample_weight=weight)
    direct = LogisticRegression(tol=1e-12).fit(StandardScaler().fit_transform(X), y, weight)
    np.testing.assert_array_equal(fitted[-1].coef_, direct.coef_)


def test_sparse_coefficients():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    before = model.predict(X)
    np.testing.assert_array_equal(model.sparsify().predict(X), before)
    np.testing.assert_array_equal(model.densify().predict(X), before)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_ridge_classifier_with_several_labels(container, class_weight):
    X, Y = make_multilabel_classification(n_samples=200, n_classes=4, random_state=0)
    settings = {"alpha": np.array([1.0, 2.0, 3.0, 4.0]), "class_weight": class_weight}
    ours = RidgeClassifier(tol=1e-14, **settings).fit(X, container(Y))
    theirs = linear_model.RidgeClassifier(solver="svd", **settings).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6)
    for model in (ours, ours.to_sklearn(), pickle.loads(pickle.dumps(ours))):
        np.testing.assert_array_equal(model.predict(X), theirs.predict(X))
    assert ours.score(X, Y) == theirs.score(X, Y)
    assert ours.predict(X).dtype == theirs.predict(X).dtype
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert len(ours.certificate_) == 4


def test_targets_that_are_neither_classes_nor_labels():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="1d array"):
        RidgeClassifier().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="alpha has 3 entries and y has 2 labels"):
        RidgeClassifier([1.0, 2.0, 3.0]).fit(X, np.column_stack([y > 0, y > 1]).astype(int))
