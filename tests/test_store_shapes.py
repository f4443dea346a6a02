"""Stores larger than memory: several outputs, an L1 part, and predictions of fitted estimators."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree import losses
from dualfree.linear_model import ElasticNet, LinearSVC, LogisticRegression, Ridge, RidgeClassifier
from dualfree.store import write_store
from helpers.stores import larger_than_memory, text_like

CLASSES = 3


@pytest.fixture(params=["csr", "dense"])
def kept(request, tmp_path):
    """A store of some sixty chunks, what is in it, and labels of three classes."""
    X, y = text_like(n=1500, d=60, per_row=8, dense=request.param == "dense")
    write_store(tmp_path / "a.dfs", X, y, chunk_bytes=X.size * 12 // 60)
    score = np.asarray(X @ np.random.default_rng(1).normal(size=60))
    return tmp_path / "a.dfs", X, np.digitize(score, np.quantile(score, [0.3, 0.7]))


def assert_same_optimum(stored, inner, tol=1e-6, **options):
    """The certified optimum of a problem on the disk is that in memory."""
    result = df.solve(stored, tol=tol, **options)
    other = df.solve(inner, tol=1e-9, max_epochs=3000, **options)
    assert result.status is df.Status.CONVERGED
    assert result.w.shape == other.w.shape
    assert result.alpha.shape == other.alpha.shape
    assert inner.value(result.w) == pytest.approx(result.certificate.value, rel=1e-11)
    assert inner.value(result.w) <= (1 + 1.1 * tol) * other.certificate.value
    assert result.certificate.gap >= inner.value(result.w) - other.certificate.value - 1e-12
    return result


@pytest.mark.parametrize(("intercept", "weighted"), [(False, False), (True, True)])
def test_softmax_from_the_disk(kept, intercept, weighted):
    path, X, labels = kept
    store = larger_than_memory(path, outputs=CLASSES)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(labels)) if weighted else None
    loss, lam = losses.Softmax(labels, weight), 5 / len(labels)
    stored, inner = (df.Problem(data, loss, lam, intercept=intercept) for data in (store, X))
    assert_same_optimum(stored, inner, tol=1e-5)
    w, alpha = np.random.default_rng(3).normal(size=(2, stored.d)), np.zeros(stored.examples.total)
    np.testing.assert_allclose(stored.margins(w[0]), inner.margins(w[0]), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(stored.gradient(w[1]), inner.gradient(w[1]), rtol=1e-11, atol=1e-12)
    assert stored.evaluate(w[0], alpha).duality_gap == pytest.approx(inner.evaluate(w[0], alpha).duality_gap, rel=1e-11)


def test_several_targets_at_once(kept):
    path, X, labels = kept
    loss = losses.Squared(np.eye(CLASSES)[labels])
    store = larger_than_memory(path, outputs=CLASSES)
    assert_same_optimum(df.Problem(store, loss, 0.01), df.Problem(X, loss, 0.01))


def test_chunks_of_several_outputs_are_those_of_memory(kept):
    path, X, labels = kept
    store = larger_than_memory(path, outputs=CLASSES)
    options = {"step": "theorem-2", "max_epochs": 1.4, "tol": 1e-12, "evaluate_every": 1}
    sizes, loss = np.diff(store.page.starts), losses.Softmax(labels)
    stored = df.solve(df.Problem(store, loss, 0.01), sampling=df.samplings.Chunks(2), **options)
    inside = df.solve(df.Problem(X, loss, 0.01), sampling=df.samplings.Chunks(2, chunks=sizes), **options)
    np.testing.assert_allclose(stored.w, inside.w, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("intercept", [False, True])
def test_an_l1_part_from_the_disk(kept, intercept):
    path, X, labels = kept
    store, y = larger_than_memory(path), np.where(labels > 0, 1.0, -1.0)
    for loss in (losses.Logistic(y), losses.Squared(y)):
        penalty = df.regularisers.L2L1(2e-3)
        stored, inner = (df.Problem(data, loss, 5e-3, intercept=intercept, regulariser=penalty) for data in (store, X))
        result = assert_same_optimum(stored, inner)
        assert 0 < np.count_nonzero(result.w[:60]) < 60


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(C=0.1),
        LogisticRegression(C=0.1, l1_ratio=0.5),
        LinearSVC(C=0.1),
        RidgeClassifier(alpha=10.0),
        Ridge(alpha=10.0),
        ElasticNet(alpha=0.01),
    ],
)
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("kept", ["csr"], indirect=True)
def test_estimators_fit_predict_and_score(kept, model, several):
    path, X, labels = kept
    y = labels if several and not getattr(model, "l1_ratio", 0) else np.where(labels > 0, 1, 0)
    if several and isinstance(model, (Ridge, ElasticNet)):
        y = np.column_stack([labels, labels**2])
    store = larger_than_memory(path, outputs=model._outputs(y))
    model.fit(store, y)
    coefficients = model.coef_.copy()
    np.testing.assert_allclose(model.predict(store), model.predict(X), rtol=1e-10)
    assert model.score(store, y) == pytest.approx(model.score(X, y), rel=1e-10)
    for name in ("decision_function", "predict_proba"):
        if hasattr(model, name):
            np.testing.assert_allclose(getattr(model, name)(store), getattr(model, name)(X), rtol=1e-10, atol=1e-12)
    model.fit(X, y)
    np.testing.assert_allclose(coefficients, model.coef_, atol=1e-2)  # by strong convexity, as both are within tol


def test_losses_that_are_not_convex_need_memory(kept):
    """Theorem 1's steps would take thousands of passes over the disk; in memory other methods help."""
    path, _, labels = kept
    y, weight = np.where(labels > 0, 1, 0), np.ones(len(labels))
    weight[:3] = -0.1
    with pytest.raises(ValueError, match="needs all rows in memory"):
        LogisticRegression(C=0.1, fit_intercept=False).fit(larger_than_memory(path), y, sample_weight=weight)
    with pytest.raises(ValueError, match="needs all rows in memory"):
        df.solve(df.Problem(larger_than_memory(path), losses.Sigmoid(y), 0.1))


def test_predictions_are_in_the_order_of_the_store(tmp_path, monkeypatch):
    """So they belong to ``store.y``; `file_rows` tells which rows of the files they are."""
    X, y = text_like(n=300, d=40)
    df.write_libsvm(tmp_path / "a.svm", X[:200], np.arange(200.0))
    df.write_libsvm(tmp_path / "b.svm", X[200:], np.arange(200.0, 300.0))
    monkeypatch.setattr("dualfree.store.buckets.BUCKET_BYTES", 10_000)  # several buckets
    store = df.import_files([tmp_path / "a.svm", tmp_path / "b.svm"], tmp_path / "a.dfs")
    assert store.page.shuffle[1] > 3
    assert (np.diff(store.y) != 1).any()
    np.testing.assert_array_equal(store.file_rows, store.y)
    model = Ridge(alpha=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict(store), model.predict(X)[store.file_rows], rtol=1e-10)
    write_store(tmp_path / "b.dfs", X, y)
    assert df.open_store(tmp_path / "b.dfs").file_rows is None


def test_predictions_of_other_features_are_refused(tmp_path):
    X, y = text_like(n=300, d=40)
    write_store(tmp_path / "a.dfs", X, y)
    model = LogisticRegression().fit(X[:, :39], y)
    with pytest.raises(ValueError, match="has 40 features, but LogisticRegression was fitted on 39"):
        model.predict(df.open_store(tmp_path / "a.dfs"))
    with pytest.raises(ValueError, match="w has 3 rows"):
        df.open_store(tmp_path / "a.dfs") @ np.zeros((3, 2))
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(X.toarray()[:, :2], columns=["a", "b"])
    (frame * 1.0).assign(label=y).to_csv(tmp_path / "a.csv", index=False)
    store = df.import_files([tmp_path / "a.csv"], tmp_path / "b.dfs")
    assert Ridge().fit(store, store.y).feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"column 0 of .* is 'a'; when the model was fitted it was 'b'"):
        Ridge().fit(frame[["b", "a"]], y).predict(store)


@pytest.mark.parametrize("kept", ["csr"], indirect=True)
def test_sparse_coefficients_predict_too(kept):
    path, X, labels = kept
    model = LogisticRegression(C=0.1).fit(X, labels)
    expected = model.predict(X)
    model.sparsify()
    assert sparse.issparse(model.coef_)
    np.testing.assert_array_equal(model.predict(larger_than_memory(path)), expected)
