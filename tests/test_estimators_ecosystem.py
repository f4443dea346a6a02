"""scikit-learn's tools take these estimators as their own, and `to_sklearn` gives back scikit-learn's."""

import io
import pickle

import joblib
import numpy as np
import pytest
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dualfree.linear_model import (
    HuberRegressor,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
)

CLASSIFIERS = [LogisticRegression(), LinearSVC(), RidgeClassifier(), LogisticRegressionCV(Cs=[0.1, 1.0], cv=3)]
REGRESSORS = [Ridge(), HuberRegressor()]


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
    assert isinstance(LogisticRegression().fit(*data(None, 3)).to_sklearn(), OneVsRestClassifier)


def test_pipelines_and_searches():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).set_output(transform="pandas")
    search = GridSearchCV(pipeline, {"logisticregression__C": [0.01, 0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    assert search.best_estimator_[-1].feature_names_in_.tolist() == X.columns.tolist()
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.9
    assert cross_val_predict(pipeline, X, y, cv=3, method="predict_proba").shape == (len(y), 2)
    found = permutation_importance(pipeline.fit(X, y), X, y, n_repeats=2, random_state=0)
    assert found.importances.shape == (X.shape[1], 2)


def test_calibration_voting_and_selection():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for method in ("sigmoid", "isotonic"):
        assert CalibratedClassifierCV(LinearSVC(C=0.1), method=method, cv=3).fit(X, y).score(X, y) > 0.95
    members = [("a", LogisticRegression()), ("b", LogisticRegression(C=0.01))]
    assert VotingClassifier(members, voting="soft").fit(X, y).score(X, y) > 0.95
    chosen = SelectFromModel(LinearSVC(C=0.1), max_features=5, threshold=-np.inf).fit_transform(X, y)
    assert chosen.shape == (len(y), 5)
    assert RFE(RidgeClassifier(), n_features_to_select=4).fit(X, y).support_.sum() == 4


def test_regressors_together():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    voting = VotingRegressor([("ridge", Ridge(0.1)), ("huber", HuberRegressor(alpha=0.01))])
    columns = make_column_transformer((StandardScaler(), ["age", "bmi", "bp"]))
    assert make_pipeline(columns, voting).fit(X, y).score(X, y) > 0.3


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
