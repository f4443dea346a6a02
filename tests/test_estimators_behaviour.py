"""What a program may rely on: weights, types, memory, Ctrl-C, callbacks, warm starts, refusals, warnings."""

import os
import pickle
import signal
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

import dualfree as df
from dualfree.linear_model import (
    EarlyStopping,
    HuberRegressor,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
)

TIGHT = {"tol": 1e-15, "max_iter": 20_000}
CLASSIFIERS = [LogisticRegression, LinearSVC, RidgeClassifier]
ALL = [*CLASSIFIERS, Ridge, HuberRegressor]


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ALL)
def test_weights_are_copies(kind, fit_intercept, container):
    """Weight 0, 1, 2, 3 against rows left out, once, twice and three times."""
    rng = np.random.default_rng(0)
    X, times = rng.normal(size=(60, 4)), rng.integers(0, 4, size=60)
    y = np.sign(X[:, 0] + 0.5 + rng.normal(size=60)) + (0 if kind in CLASSIFIERS else X[:, 1])
    model = kind(fit_intercept=fit_intercept, **TIGHT)
    weighted = clone(model).fit(container(X), y, sample_weight=times)
    repeated = clone(model).fit(container(X.repeat(times, axis=0)), y.repeat(times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, rtol=1e-6, atol=1e-8)


def test_negative_weights_where_the_average_stays_convex():
    """Each row twice, with weights 3 and −1, is each row with weight 2."""
    X, y = cancer()
    doubled, weight = np.vstack([X, X]), np.repeat([3.0, -1.0], len(y))
    model = LogisticRegression(C=1e-3, fit_intercept=False, tol=1e-8, max_iter=100_000)
    with pytest.warns(df.ConvexityWarning, match="whether P is convex was not decided"):
        signed = clone(model).fit(doubled, np.tile(y, 2), weight)
    plain = clone(model).fit(X, y, np.full(len(y), 2.0))
    np.testing.assert_allclose(signed.coef_, plain.coef_, atol=1e-4)
    assert not signed.certificate_.average_convex


def test_weights_that_are_refused():
    X, y = cancer()
    weight = np.ones(len(y))
    weight[3] = -1
    with pytest.raises(
        ValueError, match=r"sample_weight\[3\] is negative and fit_intercept is True: SquaredHinge takes"
    ):
        LinearSVC().fit(X, y, weight)
    with pytest.raises(ValueError, match=r"average loss is not convex \(P has a direction of curvature -"):
        Ridge(fit_intercept=False).fit(X, y, -np.ones(len(y)))
    with pytest.raises(ValueError, match="at least 0"):
        HuberRegressor().fit(X, y, weight)
    with pytest.raises(ValueError, match=r"zero for every example|at least one non-zero"):
        Ridge().fit(X, y, np.zeros(len(y)))
    with pytest.raises(ValueError, match="every example of class 1 has weight zero"):
        LogisticRegression().fit(X, y, 1 - y)


def test_parameters_that_are_refused():
    X, y = cancer()
    with pytest.raises(ValueError, match="'C' parameter"):
        LogisticRegression(C=0).fit(X, y)
    with pytest.raises(ValueError, match="alpha has 3 entries and y has 1"):
        Ridge([1.0, 2.0, 3.0]).fit(X, y)
    with pytest.raises(ValueError, match="every alpha"):
        Ridge([1.0, -2.0]).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="Cs is"):
        LogisticRegressionCV(Cs=[1.0, -1.0]).fit(X, y)


@pytest.mark.parametrize("kind", ALL)
def test_float32_in_float32_out(kind):
    X, y = cancer()
    narrow = kind(alpha=1.0).fit(X.astype(np.float32), y) if kind is HuberRegressor else kind().fit(np.float32(X), y)
    assert narrow.coef_.dtype == np.float32
    assert narrow.certificate_.relative_gap <= 1e-6


def test_int64_indices_memory_maps_and_duplicates(tmp_path):
    X, y = cancer()
    expected = LogisticRegression(**TIGHT).fit(X, y).coef_
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    n, d = X.shape
    halves = sparse.csr_array(
        (np.repeat(X.ravel() / 2, 2), np.repeat(np.tile(np.arange(d), n), 2), np.arange(0, 2 * n * d + 1, 2 * d)),
        (n, d),
    )
    for data in (wide, mapped, halves, sparse.csc_array(X), np.asfortranarray(X)):
        np.testing.assert_allclose(LogisticRegression(**TIGHT).fit(data, y).coef_, expected, rtol=1e-5, atol=1e-7)
    assert halves.nnz == 2 * n * d  # the caller's matrix is as it was


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_and_their_names(frame):
    data = load_iris()
    X = frame(dict(zip(data.feature_names, data.data.T, strict=True)))
    model = LogisticRegression().fit(X, data.target_names[data.target])
    assert model.feature_names_in_.tolist() == data.feature_names
    assert set(model.predict(X)) <= set(data.target_names)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame(dict(zip("abcd", data.data.T, strict=True))))


@pytest.mark.filterwarnings("ignore:.*gap:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("layout", ["dense", "fortran", "csr", "float32"])
@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, Ridge, RidgeClassifier])
def test_no_copy_of_the_examples(kind, layout):
    n, d = 20_000, 200
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32 if layout == "float32" else np.float64)
    y = (X[:, 0] > 0).astype(int)
    data = {"fortran": np.asfortranarray, "csr": sparse.csr_array}.get(layout, np.asarray)(X)
    model = kind(solver="dfsdca", max_iter=2, tol=1e-1)
    model.fit(data[:100], y[:100])  # what is imported and made on first use is not what is measured
    tracemalloc.start()
    try:
        model.fit(data, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 25 * 8 * (n + d) + 2_000_000
    assert peak < X.nbytes / 2


@pytest.mark.parametrize("kind", ALL)
def test_ctrl_c_leaves_a_fitted_model_and_raises(kind):
    X, y = cancer()

    def interrupt(row):
        if row.epoch >= 2:
            os.kill(os.getpid(), signal.SIGINT)

    model = kind(tol=1e-300, solver="dfsdca", callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.score(X, y) > 0.5
    assert len(model.history_) >= 3


def test_ctrl_c_among_several_classes():
    X, y = load_iris(return_X_y=True)
    begun = []

    class InterruptTheSecond:
        def begin(self, fit):
            begun.append(fit)

        def __call__(self, row):
            if len(begun) == 2:
                raise KeyboardInterrupt

    model = LinearSVC(callbacks=[InterruptTheSecond()])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert len(model.certificate_) == 3
    assert model.certificate_[0].relative_gap <= 1e-6
    assert np.isfinite(model.coef_).all()
    model.predict(X)


@pytest.mark.parametrize("kind", [*ALL, LogisticRegressionCV])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, pd.DataFrame])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_found_where_they_are(kind, layout, bad):
    X, y = cancer()
    X[123, 4] = bad
    with pytest.raises(ValueError, match="X has NaN or infinity in row 123, column 4"):
        kind().fit(layout(X), y)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_two_labels_may_be_any_two_whole_numbers(kind):
    X, y = cancer()
    expected = kind(tol=1e-9).fit(X, y).coef_
    for kinds in (np.int64, np.int32, np.float64, np.float32, np.int8, bool):
        model = kind(tol=1e-9).fit(X, y.astype(kinds))
        np.testing.assert_array_equal(model.coef_, expected)
        assert model.classes_.dtype == kinds
    np.testing.assert_array_equal(kind(tol=1e-9).fit(X, 7.0 * y - 3.0).coef_, expected)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        kind().fit(X, y + 0.5)
    with pytest.raises(ValueError, match="one class only"):
        kind().fit(X, np.ones(len(y)))


def test_a_callback_sees_the_point_of_each_row_also_where_all_steps_could_be_one_call():
    points = []

    class Collect:
        def begin(self, fit):
            self.fit = fit

        def __call__(self, row):
            points.append(self.fit.point.copy())

    X, y = cancer()
    model = LogisticRegression(fit_intercept=False, callbacks=[Collect()], tol=1e-9).fit(X, y)
    assert len(points) == len(model.history_) > 3
    losses = [np.logaddexp(0, -(2 * y - 1) * (X @ w)).sum() + w @ w / 2 for w in points]
    np.testing.assert_allclose(losses, len(y) * model.history_.value, rtol=1e-9)
    np.testing.assert_array_equal(points[-1], model.coef_[0])


def test_callbacks_see_every_row_and_stop():
    X, y = cancer()
    rows = []
    model = LogisticRegression(C=100, tol=1e-15, callbacks=[rows.append, lambda row: row.epoch >= 3]).fit(X, y)
    assert rows == model.history_.rows
    assert rows[-1].epoch == 3
    assert model.n_iter_.tolist() == [3]


@pytest.mark.parametrize("kind", [LogisticRegression, Ridge])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_early_stopping(kind, fit_intercept):
    X, y = cancer()
    stop = EarlyStopping(sparse.csr_array(X[400:]), y[400:], patience=4)
    model = kind(fit_intercept=fit_intercept, tol=1e-15, solver="dfsdca", callbacks=[stop]).fit(X[:400], y[:400])
    scores = stop.scores_[0]
    assert len(scores) == len(model.history_) < 100
    assert max(scores[-4:]) <= max(scores[:-4]) + 1e-4
    best_gap = int(np.argmin(model.history_.gap))
    assert scores[best_gap] == pytest.approx(model.score(X[400:], y[400:]))
    assert len(pickle.dumps(clone(model))) < 2 * X[400:].nbytes  # the validation set, and not the training set


def test_early_stopping_by_another_score_for_each_class():
    X, y = load_iris(return_X_y=True)
    stop = EarlyStopping(X, y, patience=2, score=lambda target, margins: -np.mean(np.log1p(np.exp(-target * margins))))
    LinearSVC(callbacks=[stop], tol=1e-15).fit(X, y)
    assert len(stop.scores_) == 3


@pytest.mark.parametrize("kind", ALL)
def test_warm_start(kind):
    X, y = cancer()
    model = kind(warm_start=True, tol=1e-8).fit(X, y)
    first = np.sum(model.n_iter_)
    assert np.sum(model.fit(X, y).n_iter_) < first or first == 1
    slack = 1e4 if kind is HuberRegressor else 1.0  # the last search for the scale ended a little beside it
    assert model.history_[0].gap <= slack * 1e-8 * model.history_[0].value
    model.fit(X[:300], y[:300])  # other data: from the start again
    assert model.certificate_.relative_gap <= 1e-8


@pytest.mark.parametrize("kind", ALL)
def test_warning_says_what_to_change(kind):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"gap of .* in 1 epochs, but tol=1e-06 was asked: raise max_iter"):
        kind(max_iter=1, solver="dfsdca").fit(X, y)


def test_divergence_is_said():
    X, y = cancer()
    with pytest.warns(ConvergenceWarning, match="diverged after"):
        Ridge(1e-3, step=1 / len(y), sampling="uniform", fit_intercept=False, solver="dfsdca").fit(X, y)


def test_seeds():
    X, y = cancer()
    loose = {"tol": 1e-3, "solver": "dfsdca"}
    fits = [LogisticRegression(random_state=seed, **loose).fit(X, y).coef_ for seed in (None, None, 1, 1, 2)]
    assert (fits[0] == fits[1]).all()
    assert (fits[2] == fits[3]).all()
    assert (fits[2] != fits[4]).any()
    LogisticRegression(random_state=np.random.RandomState(0), **loose).fit(X, y)


def test_samplings_and_steps():
    X, y = cancer()
    expected = LogisticRegression(C=0.1, **TIGHT).fit(X, y).coef_
    for sampling in ("importance", df.samplings.Nice(4)):
        model = LogisticRegression(C=0.1, sampling=sampling, step="theorem-2", solver="dfsdca", **TIGHT)
        np.testing.assert_allclose(model.fit(X, y).coef_, expected, rtol=1e-5, atol=1e-7)


def test_verbose_shows_bars(capsys):
    X, y = cancer()
    LogisticRegression(verbose=1).fit(X, y)
    assert "epoch" in capsys.readouterr().err
    LogisticRegressionCV(Cs=[0.1, 1.0], cv=2, verbose=1, n_jobs=2).fit(X, y)
    assert "folds" in capsys.readouterr().err


def test_labels_that_are_objects():
    X, y = cancer()
    names = np.array(["benign", "malign"], dtype=object)[y]
    assert LogisticRegression().fit(X, names).predict(X[:3]).tolist() == names[:3].tolist()
    with pytest.raises(ValueError, match="one class only, 'malign'"):
        LogisticRegression().fit(X, np.full(len(y), "malign", dtype=object))
    with pytest.raises(ValueError, match="class 'malign' has weight zero"):
        LogisticRegression(class_weight={"malign": 0, "benign": 1}).fit(X, names)
