"""LogisticRegression with more than two classes is scikit-learn's multinomial model, to 1e-6."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn import linear_model
from sklearn.datasets import load_digits, load_iris
from sklearn.multiclass import OneVsRestClassifier

import dualfree as df
from dualfree.linear_model import EarlyStopping, LogisticRegression, LogisticRegressionCV

TIGHT = {"tol": 1e-14, "max_iter": 50_000}
THEIRS = {"solver": "lbfgs", "tol": 1e-11, "max_iter": 100_000}


def iris():
    X, y = load_iris(return_X_y=True)
    return X - X.mean(axis=0), np.array(["setosa", "versicolor", "virginica"])[y]


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600]


def assert_same_model(ours, theirs, X, atol=1e-6):
    scale = 1 + np.abs(theirs.coef_).max()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=atol * scale)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=atol)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("data", [iris, digits])
def test_equals_scikit_learn_s_lbfgs(data, C, fit_intercept):
    X, y = data()
    settings = {"C": C, "fit_intercept": fit_intercept}
    ours = LogisticRegression(**settings, **TIGHT).fit(X, y)
    theirs = linear_model.LogisticRegression(**settings, **THEIRS).fit(X, y)
    assert_same_model(ours, theirs, X)
    assert ours.intercept_.shape == theirs.intercept_.shape
    assert ours.certificate_.relative_gap <= 1e-14
    assert len(ours.n_iter_) == 1


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights(class_weight):
    X, y = iris()
    weight = np.random.default_rng(0).uniform(0.2, 3.0, size=len(y))
    settings = {"C": 0.1, "class_weight": class_weight}
    # scikit-learn counts rows, not weights, when it balances classes.
    weight = weight if class_weight is None else None
    ours = LogisticRegression(**settings, **TIGHT).fit(X, y, weight)
    assert_same_model(ours, linear_model.LogisticRegression(**settings, **THEIRS).fit(X, y, weight), X)
    counted = LogisticRegression(C=0.1, tol=1e-12).fit(X, y, np.where(np.arange(150) % 2, 2.0, 0.0))
    repeated = LogisticRegression(C=0.1, tol=1e-12).fit(np.repeat(X[1::2], 2, axis=0), np.repeat(y[1::2], 2))
    np.testing.assert_allclose(counted.coef_, repeated.coef_, atol=1e-5)


@pytest.mark.parametrize("solver", ["dfsdca", "auto"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_sparse_and_dense_single_and_double(kind, dtype, solver):
    X, y = digits()
    X = X.astype(dtype)
    ours = LogisticRegression(C=0.05, tol=1e-11, solver=solver, max_iter=5000).fit(kind(X), y)
    theirs = linear_model.LogisticRegression(C=0.05, **THEIRS).fit(X.astype(np.float64), y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-5)
    assert ours.coef_.dtype == dtype
    np.testing.assert_allclose(ours.predict_proba(X).sum(axis=1), 1, atol=1e-6)


def test_certificate_bounds_the_distance_from_the_optimum():
    X, y = iris()
    best = LogisticRegression(tol=1e-13, max_iter=50_000).fit(X, y)
    for solver in ("dfsdca", "auto"):
        rough = LogisticRegression(tol=1e-2, solver=solver).fit(X, y)
        apart = rough.certificate_.value - best.certificate_.value
        assert -1e-12 <= apart <= rough.certificate_.gap + 1e-15  # by which the values may be rounded
    # The certificate's value is the objective itself.
    scores = best.decision_function(X)
    losses = -np.log(softmax(scores, axis=1)[np.arange(150), np.searchsorted(best.classes_, y)])
    value = losses.mean() + (best.coef_**2).sum() / (2 * 150)
    assert best.certificate_.value == pytest.approx(value, rel=1e-10)


def test_cross_validation_warm_start_callbacks_and_hand_over():
    X, y = iris()
    chosen = LogisticRegressionCV(Cs=[0.01, 1.0], cv=3).fit(X, y)
    assert chosen.coef_.shape == (3, 4)
    assert chosen.coefs_paths_.shape == (3, 2, 3, 5)
    stop = EarlyStopping(X[::2], y[::2], patience=2)
    model = LogisticRegression(C=100, tol=1e-12, callbacks=[stop]).fit(X[1::2], y[1::2])
    assert 0.3 <= max(stop.scores_[0]) <= 1
    assert model.predict_log_proba(X).shape == (150, 3)
    np.testing.assert_allclose(model.to_sklearn().predict_proba(X), model.predict_proba(X), rtol=1e-10)
    warm = LogisticRegression(warm_start=True, solver="dfsdca").fit(X, y)
    assert warm.fit(X, y).n_iter_[0] == 1
    against_rest = OneVsRestClassifier(LogisticRegression(C=0.1)).fit(X, y)
    assert against_rest.predict_proba(X).shape == (150, 3)


def test_what_cannot_be_had_is_refused():
    X, y = iris()
    with pytest.raises(ValueError, match=r"multi_class is 'ovr', .*OneVsRestClassifier"):
        LogisticRegression(multi_class="ovr").fit(X, y)
    with pytest.raises(ValueError, match="there are two classes"):
        LogisticRegression(multi_class="multinomial").fit(X, y == "setosa")
    with pytest.raises(ValueError, match="class 'setosa' has weight zero"):
        LogisticRegression().fit(X, y, np.where(y == "setosa", 0.0, 1.0))


@pytest.mark.parametrize("make", [df.losses.Squared, lambda y: df.losses.Huber(y, 0.5)])
def test_several_targets_with_intercept_are_one_target_each(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + 2
    Y = X @ rng.normal(size=(4, 3)) + [5.0, -3.0, 0.0] + rng.normal(size=(60, 3))
    options = {"tol": 1e-12, "max_epochs": 20_000}
    joint = [df.solve(df.Problem(X, make(Y), 0.1, intercept=True), method=m, **options) for m in ("dfsdca", "lbfgs")]
    single = [df.solve(df.Problem(X, make(y), 0.1, intercept=True), **options).w for y in Y.T]
    for result in joint:
        assert result.status == "converged"
        np.testing.assert_allclose(result.w, np.column_stack(single), atol=1e-4)


@pytest.mark.skipif(df.datasets.describe("protein").path is None, reason="protein is not on this machine")
def test_protein_equals_scikit_learn():
    data = df.datasets.load("protein", original_labels=True)
    settings = {"C": 0.01, "fit_intercept": True}
    ours = LogisticRegression(**settings, tol=1e-12, max_iter=10_000).fit(data.X, data.y)
    theirs = linear_model.LogisticRegression(**settings, solver="newton-cg", tol=1e-10, max_iter=1000).fit(
        data.X, data.y
    )
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(data.X), theirs.predict_proba(data.X), atol=1e-6)
