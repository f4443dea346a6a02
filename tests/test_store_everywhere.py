"""Stores in the estimators and on the command line."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from typer.testing import CliRunner

import dualfree as df
from dualfree.cli import app
from dualfree.io import write_libsvm
from dualfree.linear_model import (
    ElasticNet,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    PUClassifier,
    Ridge,
    RidgeClassifier,
)
from dualfree.model import Model
from dualfree.store import Store, write_store
from helpers.stores import larger_than_memory, text_like


@pytest.fixture
def kept(tmp_path):
    X, y = text_like()
    write_store(tmp_path / "a.dfs", X, y, chunk_bytes=12_000)
    return tmp_path / "a.dfs", X, y


@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(C=0.1), LinearSVC(C=0.1), Ridge(alpha=10.0), LogisticRegression(C=0.1, fit_intercept=False)],
)
@pytest.mark.parametrize("inside", [False, True])
def test_estimators(kept, estimator, inside):
    path, X, y = kept
    store = df.open_store(path) if inside else larger_than_memory(path)
    model = estimator.fit(store, store.y)
    assert model.certificate_.relative_gap <= 1e-6
    assert model.n_features_in_ == X.shape[1]
    w, b = model.coef_.copy(), model.intercept_
    estimator.fit(X, y)
    # Both are within 1e-6 of the optimum, relative to P, so that they may differ by twice √(2e-6 P/λ).
    np.testing.assert_allclose(w, model.coef_, atol=1e-2)
    np.testing.assert_allclose(b, model.intercept_, atol=1e-2)
    assert model.score(X, y) > 0.4


def test_three_classes_and_refusals(kept):
    path, X, _ = kept
    store = larger_than_memory(path)
    labels = np.arange(len(store.y)) % 3
    model = LinearSVC(C=0.01).fit(store, labels)
    assert model.coef_.shape == (3, X.shape[1])
    assert all(proof.relative_gap <= 1e-6 for proof in model.certificate_)
    with pytest.raises(ValueError, match="LogisticRegressionCV needs all rows in memory"):
        LogisticRegressionCV().fit(store, store.y)
    with pytest.raises(ValueError, match="method='newton' would read a store"):
        LogisticRegression(solver="newton").fit(store, store.y)
    with pytest.raises(ValueError, match="the store has 3000 rows but y has 2999 entries"):
        LogisticRegression().fit(store, store.y[:-1])


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def test_import_train_predict_evaluate(invoke, tmp_path, monkeypatch):
    X, y = text_like(n=800)
    write_libsvm("a.svm", X, y)
    made = invoke("import", "a.svm", "a.svm", "-o", "a.dfs")
    assert made.exit_code == 0, made.output
    assert "1,600 examples, 400 features" in made.stdout
    # So little data always fits into memory, unless each example is said to need very much of it.
    monkeypatch.setattr(Store, "fits_for", lambda self, outputs: False)
    seen = []
    monkeypatch.setattr(Store, "__matmul__", lambda self, w, inner=Store.__matmul__: seen.append(1) or inner(self, w))
    trained = invoke("train", "a.dfs", "--memory-limit", "1GB", "--tol", "1e-4")
    assert trained.exit_code == 0, trained.output
    assert "Converged" in trained.stdout
    assert len(seen) == 1
    model = Model.load(tmp_path / "a.model")
    assert model.certificate.relative_gap <= 1e-4
    measured = invoke("evaluate", "a.model", "a.dfs", "--json")
    assert json.loads(measured.stdout)["accuracy"] > 0.8
    lines = invoke("predict", "a.model", "a.dfs").stdout.splitlines()
    assert lines == 2 * invoke("predict", "a.model", "a.svm").stdout.splitlines()  # in the order of the files


def test_errors_on_the_command_line(invoke):
    X, y = text_like(n=100)
    write_libsvm("a.svm", X, y)
    for words, said in {
        ("import", "missing.svm", "-o", "a.dfs"): "No such file",
        ("import", "a.svm", "-o", "no/a.dfs"): "there is no folder",
        ("import", "a.svm", "-o", "a.dfs", "--dtype", "int8"): "dtype is 'int8'",
        ("train", "a.svm", "--memory-limit", "2GB"): "memory_limit is for stores",
        ("train", "a.svm", "--resume"): "give checkpoint=path too",
    }.items():
        result = invoke(*words)
        assert result.exit_code == 2
        assert said in result.stderr
        assert result.stderr.count("\n") == 1


def test_train_resumes(invoke, tmp_path):
    X, y = text_like(n=800)
    write_libsvm("a.svm", X, y)
    short = invoke("train", "a.svm", "--tol", "1e-9", "--max-epochs", "2", "--checkpoint", "a.ckpt")
    assert short.exit_code == 0, short.output
    assert "Not converged" in short.stdout
    long = invoke("train", "a.svm", "--tol", "1e-9", "--checkpoint", "a.ckpt", "--resume")
    assert "Converged" in long.stdout
    resumed = Model.load(tmp_path / "a.model").w
    invoke("train", "a.svm", "--tol", "1e-9", "--checkpoint", "b.ckpt")
    np.testing.assert_array_equal(resumed, Model.load(tmp_path / "a.model").w)


@pytest.mark.parametrize(
    ("kind", "classes", "files"),
    [(LogisticRegression, 2, ["fit"]), (LogisticRegression, 3, ["fit"]), (LinearSVC, 3, ["fit.0", "fit.1", "fit.2"])],
)
def test_estimators_resume(tmp_path, kind, classes, files):
    X, _ = text_like(n=600)
    score = X @ np.arange(X.shape[1])
    labels = np.digitize(score, np.quantile(score, [0.5] if classes == 2 else [0.3, 0.7]))
    settings = {"C": 5.0, "tol": 1e-8, "checkpoint": tmp_path / "fit"}
    with pytest.warns(ConvergenceWarning):
        kind(max_iter=3, **settings).fit(X, labels)
    assert sorted(file.name for file in tmp_path.iterdir()) == files
    resumed = kind(resume=True, **settings).fit(X, labels)
    whole = kind(C=5.0, tol=1e-8, checkpoint=tmp_path / "other").fit(X, labels)
    np.testing.assert_allclose(resumed.coef_, whole.coef_, atol=1e-3)


@pytest.mark.parametrize("model", [ElasticNet(alpha=0.001), RidgeClassifier(alpha=0.1), PUClassifier(class_prior=0.3)])
def test_other_estimators_resume(tmp_path, model):
    X, y = text_like(n=600)
    with pytest.warns(ConvergenceWarning):
        clone(model).set_params(tol=1e-8, checkpoint=tmp_path / "fit", max_iter=3).fit(X, y)
    resumed = clone(model).set_params(tol=1e-8, checkpoint=tmp_path / "fit", resume=True).fit(X, y)
    whole = clone(model).set_params(tol=1e-8, checkpoint=tmp_path / "other").fit(X, y)
    np.testing.assert_array_equal(resumed.coef_, whole.coef_)
    with pytest.raises(ValueError, match="give checkpoint=path too"):
        clone(model).set_params(resume=True).fit(X, y)
