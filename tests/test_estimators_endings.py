"""How fits end: the warning is at the user's line, and Ctrl-C leaves a usable model and raises."""

import os
import signal
import threading

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import dualfree.linear_model.base as base
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

SLOW = {"max_iter": 1, "solver": "dfsdca"}
MODELS = [
    LogisticRegression(**SLOW),
    LinearSVC(**SLOW),
    Ridge(**SLOW),
    ElasticNet(0.1, **SLOW),
    RidgeClassifier(**SLOW),
    HuberRegressor(**SLOW),
    LogisticRegressionCV(Cs=[0.1, 1.0], cv=2, **SLOW),
    LogisticRegressionCV(Cs=[0.1, 1.0], cv=2, n_jobs=2, **SLOW),
    RidgeCV(cv=2, **SLOW),
    make_pipeline(StandardScaler(), LinearSVC(C=100, **SLOW)),
    GridSearchCV(LogisticRegression(**SLOW), {"C": [0.1, 1.0]}, cv=2),
]


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_warning_is_at_the_users_line(model):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="raise max_iter") as caught:
        model.fit(X, y)
    assert {warning.filename for warning in caught} == {__file__}


CROSS_VALIDATED = [LogisticRegressionCV(Cs=[0.1, 1.0, 10.0], cv=4), RidgeCV([0.1, 1.0, 10.0], cv=4)]


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("model", CROSS_VALIDATED, ids=lambda model: type(model).__name__)
def test_ctrl_c_in_the_third_fit_of_a_cross_validation(model, n_jobs, monkeypatch):
    X, y = cancer()
    solve, calls = base.solve, []

    def interrupted(problem, **settings):
        calls.append(None)
        if len(calls) < 3:
            return solve(problem, **settings)

        def callback(row):
            raise KeyboardInterrupt

        return solve(problem, **(settings | {"callback": callback, "tol": 0.0}))

    monkeypatch.setattr(base, "solve", interrupted)
    model.set_params(n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert 3 <= len(calls) <= 4  # another thread may have been on its way into a fit of its own
    assert np.isnan(model.scores_).sum() >= 8
    assert np.isfinite(model.coef_).all()
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("model", CROSS_VALIDATED, ids=lambda model: type(model).__name__)
def test_a_signal_ends_the_folds_in_their_threads(model, monkeypatch):
    """The signal reaches the main thread, which waits; the folds would run for ever if it did not stop them."""
    X, y = cancer()
    solve, sent = base.solve, threading.Event()

    def endless(problem, **settings):
        watch = settings["callback"]

        def callback(row):
            if row.epoch >= 2 and threading.current_thread() is not threading.main_thread() and not sent.is_set():
                sent.set()
                os.kill(os.getpid(), signal.SIGINT)
            return watch(row)

        return solve(problem, **(settings | {"callback": callback, "tol": 0.0, "max_epochs": 1e9, "method": "dfsdca"}))

    monkeypatch.setattr(base, "solve", endless)
    model.set_params(n_jobs=2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert np.isfinite(model.predict(X)).all()  # how good it is by then depends on when the signal is heard
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join(timeout=60)
            assert not thread.is_alive()


def test_an_error_in_one_fold_ends_the_others():
    X, y = cancer()
    with pytest.raises(ValueError, match="no such score"):
        RidgeCV(cv=3, n_jobs=2, scoring=_fails).fit(X, y)


def _fails(estimator, X, y):
    raise ValueError("no such score")
