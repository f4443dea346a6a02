"""Fits on a real local cluster of two processes: the same optimum as here, whatever holds the data."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import dualfree as df
from dualfree.distributed import crew
from dualfree.linear_model import LinearSVC, LogisticRegression, PUClassifier, Ridge, RidgeClassifier
from helpers.inline_client import InlineClient
from small_problems import data, labels, targets

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

N, D = 600, 30


@pytest.fixture(scope="module")
def X() -> Any:  # noqa: N802  (the paper's name)
    return data(n=N, d=D, density=0.3)


@pytest.mark.parametrize("method", ["dfsdca", "newton", "lbfgs", "auto"])
def test_one_certified_optimum(cluster_client: Any, X: Any, method: str) -> None:
    problem = df.Problem(sparse.csr_matrix(X), df.losses.Logistic(labels(X)), lam=20 / N)
    best = df.solve(problem, tol=1e-10, max_epochs=2000).certificate.value
    rows = []
    result = df.distributed.solve(
        problem, client=cluster_client, partitions=3, method=method, tol=1e-7, max_epochs=1000, callback=rows.append
    )
    assert result.status == "converged"
    assert 0 <= problem.value(result.w) - best + 1e-12 <= result.certificate.gap + 1e-11
    assert result.certificate.value == pytest.approx(problem.value(result.w), rel=1e-12)
    apart = problem.primal(result.alpha) - result.w
    assert 0.5 * problem.lam * float(apart @ apart) <= result.certificate.gap * (1 + 1e-6)
    assert result.method.endswith("on 3 partitions")
    assert len(rows) == len(result.history)
    assert method != "auto" or "estimated cost" in result.message


def test_the_answer_depends_on_the_partitions_and_not_on_who_works(cluster_client: Any, X: Any) -> None:
    """Two processes here, one thread there: the same bits."""
    problem = df.Problem(X, df.losses.Logistic(labels(X)), lam=2 / N)
    there = df.distributed.solve(problem, client=cluster_client, partitions=3, method="dfsdca", tol=1e-4, seed=7)
    here = df.distributed.solve(problem, client=_inline(1), partitions=3, method="dfsdca", tol=1e-4, seed=7)
    np.testing.assert_array_equal(there.w, here.w)
    np.testing.assert_array_equal(there.alpha, here.alpha)


def test_what_is_too_large_for_the_scheduler_goes_to_a_worker(
    cluster_client: Any, X: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = df.Problem(X, df.losses.Logistic(labels(X)), lam=20 / N)
    settings = {"client": cluster_client, "partitions": 2, "method": "dfsdca", "tol": 1e-5}
    small = df.distributed.solve(problem, **settings)
    monkeypatch.setattr(crew, "_KEPT", 0)
    monkeypatch.setattr(crew, "_EMBEDDED", 0)
    assert (df.distributed.solve(problem, **settings).w == small.w).all()


def _inline(threads: int) -> Any:
    """An inline client that passes for one of Dask's."""
    distributed = pytest.importorskip("distributed")

    class Inline(InlineClient, distributed.Client):
        def __new__(cls, *arguments: Any) -> Any:
            return object.__new__(cls)

        status = "running"

        def __del__(self) -> None:
            pass

    return Inline(threads)


def _collections(X: Any, y: Any) -> dict[str, tuple[Any, Any]]:
    import dask
    import dask.dataframe as dd
    import pandas as pd

    array = da.from_array(X, chunks=(250, 7))
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    blocks = [dask.delayed(sparse.csr_matrix)(X[a : a + 250]) for a in (0, 250, 500)]
    return {
        "array": (array, da.from_array(y, chunks=300)),
        "sparse chunks": (array.rechunk({1: -1}).map_blocks(sparse.csr_matrix), y),
        "frame": (dd.from_pandas(frame, npartitions=3), dd.from_pandas(pd.Series(y), npartitions=3)),
        "delayed": (blocks, [dask.delayed(np.asarray)(y[a : a + 250]) for a in (0, 250, 500)]),
    }


@pytest.mark.parametrize("kind", ["array", "sparse chunks", "frame", "delayed"])
def test_data_that_dask_holds(cluster_client: Any, X: Any, kind: str) -> None:
    text = np.where(labels(X) > 0, "yes", "no")
    there = df.distributed.Partitioned(*_collections(X, text)[kind], df.losses.Logistic, lam=2 / N)
    result = df.distributed.solve(there, client=cluster_client, tol=1e-8)
    problem = df.Problem(X, df.losses.Logistic(text), lam=2 / N)
    best = df.solve(problem, tol=1e-10, max_epochs=2000).certificate.value
    assert result.status == "converged"
    assert abs(problem.value(result.w) - best) <= result.certificate.gap + 1e-11
    assert len(result.alpha) == N


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(C=0.5, tol=1e-9),
        LinearSVC(class_weight="balanced", tol=1e-9),
        Ridge(tol=1e-10),
    ],
)
def test_estimators_take_dask_and_agree(cluster_client: Any, X: Any, model: Any) -> None:
    y = targets(X) if isinstance(model, Ridge) else np.digitize(targets(X), [-1.0, 1.0])
    y = y if not isinstance(model, LogisticRegression) else np.where(y > 0, "b", "a")
    frames = _collections(X, y)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, N)
    here = clone(model).fit(X, y, sample_weight=weight)
    with cluster_client.as_current():
        there = clone(model).fit(*frames["array"], sample_weight=da.from_array(weight, chunks=200))
        predicted = there.predict(frames["array"][0])
        np.testing.assert_allclose(there.coef_, here.coef_, atol=2e-3 * np.abs(here.coef_).max())
        np.testing.assert_allclose(there.intercept_, here.intercept_, atol=2e-3 * np.abs(here.coef_).max())
        answers = predicted.compute(scheduler="synchronous")
    assert isinstance(predicted, da.Array)
    if isinstance(model, Ridge):
        np.testing.assert_allclose(answers, here.predict(X), atol=1e-2)
    else:
        assert np.mean(answers == here.predict(X)) > 0.99
    proofs = there.certificate_ if isinstance(there.certificate_, list) else [there.certificate_]
    assert max(proof.relative_gap for proof in proofs) <= model.tol


def test_frames_leave_their_names(cluster_client: Any, X: Any) -> None:
    frame, y = _collections(X, labels(X))["frame"]
    with cluster_client.as_current():
        model = LogisticRegression(tol=1e-4).fit(frame, y)
        assert model.feature_names_in_.tolist() == [f"f{j}" for j in range(D)]
        shares = model.predict_proba(frame).compute(scheduler="synchronous")
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"loss": df.losses.Logistic, "y": np.arange(N)}, "y has 600 classes; Logistic needs exactly two"),
        ({"y": np.ones(5)}, "y has 5 entries and X has 600 rows"),
        ({"lam": -1.0}, "lam is -1.0"),
        ({"X": [1.0, 2.0], "y": [1.0]}, "y is in this process"),
        ({"X": 5}, "X is a int; it must be a Dask array"),
    ],
)
def test_mistakes_are_one_sentence(cluster_client: Any, X: Any, change: dict[str, Any], sentence: str) -> None:
    good = {"X": da.from_array(X, chunks=(200, D)), "y": labels(X), "loss": df.losses.Logistic, "lam": 0.1}
    with pytest.raises((ValueError, TypeError), match=sentence):
        df.distributed.solve(df.distributed.Partitioned(**(good | change)), client=cluster_client)


def test_bad_numbers_are_found_where_they_are(cluster_client: Any, X: Any) -> None:
    broken = X.copy()
    broken[450, 3] = np.nan
    problem = df.distributed.Partitioned(da.from_array(broken, chunks=(200, D)), labels(X), df.losses.Logistic, 0.1)
    with pytest.raises(ValueError, match="NaN or infinity in row 50, column 3"):
        df.distributed.solve(problem, client=cluster_client)


def test_what_a_cluster_does_not_take_is_one_sentence(cluster_client: Any, X: Any) -> None:
    y, classes = labels(X), np.digitize(targets(X), [-1.0, 1.0])
    for problem, sentence in {
        df.Problem(X, df.losses.Softmax(classes), 0.1): "loss is Softmax, which takes several numbers",
        df.Problem(X, df.losses.Logistic(y), 0.1, regulariser=df.regularisers.L2L1(0.1)): "takes no L1 part",
    }.items():
        with pytest.raises(ValueError, match=sentence):
            df.distributed.solve(problem, client=cluster_client)
    there = da.from_array(X, chunks=(200, D))
    with cluster_client.as_current():
        for model, target, sentence in (
            (LogisticRegression(l1_ratio=0.5), y, "l1_ratio is 0.5; for Dask's data it must be 0"),
            (LogisticRegression(), classes, "y has 3 classes, and for Dask's data LogisticRegression takes two"),
            (PUClassifier(class_prior=0.3), y, "which PUClassifier does not take"),
        ):
            with pytest.raises(ValueError, match=sentence):
                model.fit(there, target)


def test_ridge_classifier_takes_dask(cluster_client: Any, X: Any) -> None:
    there, y = da.from_array(X, chunks=(300, D)), labels(X)
    with cluster_client.as_current():
        model = RidgeClassifier(fit_intercept=False, tol=1e-6).fit(there, y)
        answers = model.predict(there).compute(scheduler="synchronous")
    assert np.mean(answers == RidgeClassifier(fit_intercept=False).fit(X, y).predict(X)) > 0.99


def test_without_dask_one_sentence(monkeypatch: pytest.MonkeyPatch, X: Any) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    problem = df.Problem(X, df.losses.Logistic(labels(X)), lam=0.1)
    with pytest.raises(ImportError, match=r'distributed is needed.*pip install "dualfree\[cluster\]"'):
        df.distributed.solve(problem)


def test_the_command_line(X: Any, tmp_path: Path) -> None:
    """It starts a cluster of its own, and keeps a checkpoint."""
    df.write_libsvm(tmp_path / "data.svm", sparse.csr_matrix(X), labels(X))
    command = [sys.executable, "-m", "dualfree", "train", str(tmp_path / "data.svm"), "-o", str(tmp_path / "m.model")]
    options = ["--cluster", "local", "--checkpoint", str(tmp_path / "run"), "--resume"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    assert re.search(r"on \d+ partition", done.stdout)
    assert "Converged" in done.stdout
    assert (tmp_path / "m.model").exists()
    assert (tmp_path / "run").exists()
