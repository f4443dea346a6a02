"""scikit-learn's tools with these estimators in place of its own: the results are the same.

Two classes, or a Ridge, so that scikit-learn's own minimises the same objective; both are solved tightly.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn import linear_model, svm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, make_multilabel_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    permutation_test_score,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

import dualfree.linear_model as ours

TIGHT = {"tol": 1e-13, "max_iter": 20_000}
LOGISTIC = (ours.LogisticRegression(**TIGHT), TheirLogisticRegression(solver="newton-cholesky", tol=1e-12))
SVC = (
    ours.LinearSVC(C=0.1, fit_intercept=False, **TIGHT),
    svm.LinearSVC(C=0.1, fit_intercept=False, dual=False, tol=1e-12, max_iter=100_000),
)
RIDGE = (ours.Ridge(**TIGHT), linear_model.Ridge(solver="svd"))
RIDGE_CLASSIFIER = (ours.RidgeClassifier(**TIGHT), linear_model.RidgeClassifier(solver="svd"))


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return StandardScaler().set_output(transform="pandas").fit_transform(X), y


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


def assert_same(use, pair, **tolerance):
    """`use` gives the same arrays for our estimator as for theirs."""
    found, expected = (use(model) for model in pair)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, **{"rtol": 1e-5, "atol": 1e-6, **tolerance})


@pytest.mark.parametrize("pair", [LOGISTIC, SVC, RIDGE_CLASSIFIER], ids=["logistic", "svc", "ridge"])
def test_cross_validation(pair, cancer):
    def use(model):
        done = cross_validate(model, *cancer, cv=4, scoring=["accuracy", "roc_auc"], return_train_score=True)
        yield from (done[f"{part}_{name}"] for part in ("train", "test") for name in ("accuracy", "roc_auc"))
        yield cross_val_score(model, *cancer, cv=3, scoring="f1")
        yield cross_val_predict(model, *cancer, cv=3, method="decision_function")
        yield permutation_test_score(model, *cancer, cv=2, n_permutations=5, random_state=0)[1]

    assert_same(use, pair)


def test_searches_over_a_pipeline(cancer):
    def use(model):
        pipeline = make_pipeline(StandardScaler(), PCA(5), model)
        name = f"{type(model).__name__.lower()}__C"
        grid = GridSearchCV(pipeline, {name: [0.01, 0.1, 1.0], "pca__n_components": [3, 5]}, cv=3).fit(*cancer)
        drawn = RandomizedSearchCV(pipeline, {name: np.logspace(-3, 1, 20)}, n_iter=4, cv=2, random_state=0)
        yield grid.cv_results_["mean_test_score"]
        yield grid.predict_proba(cancer[0])
        yield drawn.fit(*cancer).cv_results_["mean_test_score"]

    assert_same(use, LOGISTIC)


def test_search_in_processes(cancer):
    search = GridSearchCV(LOGISTIC[0], {"C": [0.1, 1.0]}, cv=2, n_jobs=2).fit(*cancer)
    alone = GridSearchCV(LOGISTIC[0], {"C": [0.1, 1.0]}, cv=2).fit(*cancer)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("pair", [LOGISTIC, SVC], ids=["logistic", "svc"])
def test_calibration(pair, method, cancer):
    def use(model):
        yield CalibratedClassifierCV(model, method=method, cv=3).fit(*cancer).predict_proba(cancer[0])

    assert_same(use, pair, atol=1e-4)


def test_thresholds(cancer):
    def use(model):
        yield FixedThresholdClassifier(model, threshold=0.8).fit(*cancer).predict(cancer[0])
        yield TunedThresholdClassifierCV(model, cv=3).fit(*cancer).predict(cancer[0])

    assert_same(use, LOGISTIC)


def test_ensembles_of_classifiers(cancer):
    def use(model):
        weak = type(model)(**(model.get_params() | {"C": 0.01}))
        yield VotingClassifier([("a", model), ("b", weak)], voting="soft").fit(*cancer).predict_proba(cancer[0])
        stack = StackingClassifier([("a", model), ("b", weak)], final_estimator=model, cv=3)
        yield stack.fit(*cancer).predict_proba(cancer[0])
        yield BaggingClassifier(model, n_estimators=3, random_state=0).fit(*cancer).predict_proba(cancer[0])

    assert_same(use, LOGISTIC, atol=1e-5)


def test_ensembles_of_regressors(diabetes):
    def use(model):
        weak = type(model)(**(model.get_params() | {"alpha": 0.01}))
        yield VotingRegressor([("a", model), ("b", weak)]).fit(*diabetes).predict(diabetes[0])
        yield StackingRegressor([("a", model), ("b", weak)], model, cv=3).fit(*diabetes).predict(diabetes[0])
        logarithm = TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp)
        yield logarithm.fit(*diabetes).predict(diabetes[0])

    assert_same(use, RIDGE)


def test_inspection(cancer):
    def use(model):
        fitted = model.fit(*cancer)
        yield permutation_importance(fitted, *cancer, n_repeats=2, random_state=0).importances
        yield partial_dependence(fitted, cancer[0], [0, 3], grid_resolution=5, method="brute")["average"]

    assert_same(use, LOGISTIC)


@pytest.mark.parametrize("pair", [LOGISTIC, SVC, RIDGE_CLASSIFIER], ids=["logistic", "svc", "ridge"])
def test_selection_of_features(pair, cancer):
    def use(model):
        yield SelectFromModel(model, max_features=5).fit(*cancer).get_support()
        yield RFE(model, n_features_to_select=6, step=4).fit(*cancer).ranking_
        yield RFECV(model, step=8, cv=2).fit(*cancer).cv_results_["mean_test_score"]

    assert_same(use, pair)


def test_selection_one_by_one(diabetes):
    def use(model):
        yield SequentialFeatureSelector(model, n_features_to_select=3, cv=3).fit(*diabetes).get_support()

    assert_same(use, RIDGE)


def test_curves(diabetes, cancer):
    def use(model):
        yield from learning_curve(model, *diabetes, cv=3, train_sizes=[0.3, 1.0])[1:]
        yield from validation_curve(model, *diabetes, cv=3, param_name="alpha", param_range=[0.01, 1.0, 100.0])

    assert_same(use, RIDGE)


def test_columns_of_a_frame_and_unions(diabetes):
    X, y = diabetes
    X = X.assign(group=pd.cut(X["age"], 3, labels=["young", "middle", "old"]).astype(str))

    def use(model):
        columns = make_column_transformer((StandardScaler(), ["bmi", "bp"]), (OneHotEncoder(), ["group"]))
        yield make_pipeline(columns, model).fit(X, y).predict(X)
        union = make_union(PolynomialFeatures(2), MaxAbsScaler())
        yield make_pipeline(union, StandardScaler(), model).fit(X[["bmi", "bp"]], y).predict(X[["bmi", "bp"]])

    assert_same(use, RIDGE)


def test_output_of_frames(cancer):
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), SelectFromModel(LOGISTIC[0])).set_output(transform="pandas")
    chosen = pipeline.fit_transform(X, y)
    assert set(chosen.columns) < set(X.columns)
    assert pipeline[-1].estimator_.feature_names_in_.tolist() == X.columns.tolist()


def test_several_classes_by_pairs_and_against_the_rest(cancer):
    X, y = cancer
    y = y + (X["mean radius"] > 1)

    def use(model):
        yield OneVsRestClassifier(model).fit(X, y).predict_proba(X)
        yield OneVsOneClassifier(model).fit(X, y).decision_function(X)

    assert_same(use, LOGISTIC)


def test_several_labels():
    X, Y = make_multilabel_classification(n_samples=150, n_classes=3, random_state=0)

    def use(model):
        yield MultiOutputClassifier(model).fit(X, Y).predict(X)
        yield ClassifierChain(model, order=[0, 1, 2]).fit(X, Y).predict_proba(X)

    assert_same(use, LOGISTIC)


def test_several_targets(diabetes):
    X, y = diabetes
    Y = np.column_stack([y, np.sqrt(y)])

    def use(model):
        yield MultiOutputRegressor(model).fit(X, Y).predict(X)
        yield RegressorChain(model, order=[0, 1]).fit(X, Y).predict(X)
        yield model.fit(X, Y).predict(X)

    assert_same(use, RIDGE)


def test_labels_that_are_missing(cancer):
    X, y = cancer
    some = np.where(np.arange(len(y)) % 3 == 0, y, -1)

    def use(model):
        yield SelfTrainingClassifier(model).fit(X, some).predict_proba(X)

    assert_same(use, LOGISTIC, atol=1e-5)


def test_huber_in_a_pipeline(diabetes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    y = X @ np.arange(1.0, 6.0) + rng.standard_t(1.5, size=150)

    def use(model):
        pipeline = make_pipeline(PolynomialFeatures(2, include_bias=False), StandardScaler(), model)
        yield cross_val_score(pipeline, X, y, cv=3)

    huber = {"alpha": 1.0, "max_iter": 10_000}
    assert_same(
        use, (ours.HuberRegressor(tol=1e-13, **huber), linear_model.HuberRegressor(tol=1e-10, **huber)), rtol=1e-4
    )


def test_cross_validated_in_a_cross_validation(cancer):
    Cs = [0.01, 0.1, 1.0]
    mine = ours.LogisticRegressionCV(Cs=Cs, cv=3, scoring="neg_log_loss", **TIGHT)
    plain = GridSearchCV(LOGISTIC[1], {"C": Cs}, cv=3, scoring="neg_log_loss")
    found = cross_val_score(mine, *cancer, cv=3)
    np.testing.assert_allclose(found, cross_val_score(plain, *cancer, cv=3), rtol=1e-5)
