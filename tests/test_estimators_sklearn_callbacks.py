"""scikit-learn's callbacks watch a fit as a tree of tasks, alone, in a pipeline and in a search."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from dualfree.linear_model import (
    HuberRegressor,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")


class Recorder:
    """Notes every hook with its place in the tree, and keeps the last fitted model."""

    def __init__(self, stop=lambda context: False):
        self.events, self.stop, self.models = [], stop, []

    def setup(self, estimator, context):
        self.events.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.events.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context, *, X, y, metadata):
        assert context.task_name not in ("problem", "evaluation") or (X is not None and y is not None)
        self.events.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        self.events.append(("end", context.task_name))
        if hasattr(fitted_estimator, "score"):
            self.models.append((context.task_name, fitted_estimator, fitted_estimator.score(X, y, **(metadata or {}))))
        return self.stop(context)

    def count(self, what, task):
        return self.events.count((what, task))


class PropagatedRecorder(Recorder):
    """The same, handed down by pipelines and searches."""

    max_propagation_depth = None


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize(
    "model", [LogisticRegression(), LinearSVC(), RidgeClassifier(), Ridge()], ids=lambda model: type(model).__name__
)
def test_one_task_for_each_problem_and_evaluation(model):
    X, y = load_iris(return_X_y=True)
    y = np.column_stack([y, X[:, 0]]) if isinstance(model, Ridge) else y
    recorder = Recorder()
    model = clone(model).set_callbacks(recorder).fit(X, y)
    histories = model.history_ if isinstance(model.history_, list) else [model.history_]
    problems = len(histories)
    assert recorder.events[:2] == [("setup", "fit"), ("begin", "fit")]
    assert recorder.events[-2:] == [("end", "fit"), ("teardown", "fit")]
    assert recorder.count("begin", "problem") == recorder.count("end", "problem") == problems
    evaluations = recorder.count("end", "evaluation")
    assert evaluations == recorder.count("begin", "evaluation")
    # Where "auto" goes over to Newton's method, the point of the change is evaluated by both.
    assert sum(map(len, histories)) <= evaluations <= sum(map(len, histories)) + problems


def test_a_callback_sees_the_model_as_it_is_at_each_evaluation():
    X, y = cancer()
    recorder = Recorder()
    model = LogisticRegression(solver="dfsdca").set_callbacks(recorder).fit(X, y)
    names, models, scores = zip(*recorder.models, strict=True)
    assert names == ("evaluation",) * len(model.history_) + ("fit",)
    assert not models[0].coef_.any()
    assert scores[-1] == scores[-2] == model.score(X, y)
    assert [len(one.history_) for one in models[:-1]] == list(range(1, len(names)))
    assert models[-2].history_[-1] == model.history_[-1]
    np.testing.assert_array_equal(models[-2].coef_, model.coef_)


def test_a_true_answer_ends_the_problem():
    X, y = cancer()
    recorder = Recorder(stop=lambda context: context.task_name == "evaluation" and context.task_id == 3)
    model = LogisticRegression(tol=1e-15, solver="dfsdca").set_callbacks(recorder).fit(X, y)
    assert len(model.history_) == 4


def test_scales_of_huber_are_tasks():
    X, y = load_diabetes(return_X_y=True)
    recorder = Recorder()
    model = HuberRegressor(alpha=0.1).set_callbacks(recorder).fit(X, y)
    assert recorder.count("begin", "scale") == recorder.count("end", "scale") > 3
    assert recorder.models[-2][1].scale_ == model.scale_


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("model", [LogisticRegressionCV(Cs=[0.1, 1.0]), RidgeCV([0.1, 1.0])])
def test_folds_and_penalties_are_tasks(model, n_jobs):
    X, y = cancer()
    recorder = Recorder()
    clone(model).set_params(cv=3, n_jobs=n_jobs).set_callbacks(recorder).fit(X, y)
    assert recorder.count("end", "fold") == 3
    assert recorder.count("end", "penalty") == 6
    assert recorder.count("end", "problem") == 7
    assert recorder.count("end", "refit") == recorder.count("teardown", "fit") == 1


def test_teardown_after_an_error_and_after_ctrl_c():
    X, y = cancer()

    def interrupt(context):
        if context.task_name == "evaluation":
            raise KeyboardInterrupt
        return False

    recorder = Recorder(stop=interrupt)
    model = Ridge().set_callbacks(recorder)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert recorder.count("teardown", "fit") == 1
    assert np.isfinite(model.coef_).all()
    failing = Recorder(stop=lambda context: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.set_callbacks(failing).fit(X, y)
    assert failing.count("teardown", "fit") == 1


def test_in_a_pipeline_and_a_search():
    X, y = cancer()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(pipeline, {"logisticregression__C": [0.1, 1.0]}, cv=2)
    recorder = PropagatedRecorder()
    search.set_callbacks(recorder).fit(X, y)
    assert recorder.count("end", "problem") == 2 * 2 + 1
    assert recorder.count("end", "evaluation") > 10


def test_scikit_learns_own_callbacks(capsys):
    X, y = load_iris(return_X_y=True)
    LogisticRegression().set_callbacks(callback.ProgressBar()).fit(X, y)
    assert "LogisticRegression - fit" in capsys.readouterr().out
    monitor = callback.ScoringMonitor(scoring="accuracy")
    watched = LogisticRegression(solver="dfsdca", callbacks=[lambda row: False])
    model = watched.set_callbacks(monitor).fit(X, y, np.ones(len(y)))
    log = monitor.get_logs(select="most_recent").data
    assert len(log) > 10
    assert log[-1]["accuracy"] == model.score(X, y)


WITHOUT = """
import sys
import sklearn.linear_model, sklearn.pipeline, sklearn.preprocessing, sklearn.datasets, sklearn.model_selection
hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith("sklearn.callback")}
delattr(sklearn, "callback") if hasattr(sklearn, "callback") else None
sys.modules["sklearn.callback"] = None
from dualfree.linear_model import HuberRegressor, LogisticRegression, LogisticRegressionCV, Ridge, RidgeCV
sys.modules.update(hidden)
assert not hasattr(LogisticRegression, "set_callbacks")
X, y = sklearn.datasets.load_iris(return_X_y=True)
for model in (LogisticRegression(), LogisticRegressionCV(Cs=[0.1, 1.0], cv=2, n_jobs=2), Ridge(), RidgeCV(cv=2),
              HuberRegressor(alpha=1.0)):
    pipeline = sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), model)
    assert sklearn.model_selection.cross_val_score(pipeline, X, y > 0, cv=2).shape == (2,)
    assert pipeline.fit(X, y > 0)[-1].certificate_.relative_gap <= 1e-6
print("worked")
"""


def test_everything_works_where_scikit_learn_has_no_callbacks():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "worked", done.stderr
