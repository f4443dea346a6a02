"""Programs written for scikit-learn: every parameter is taken or refused with a reason, and the minimum is the same."""

import inspect
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn import linear_model, svm
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import scale

import dualfree.linear_model as ours
from dualfree.linear_model.drop_in import OWN_SOLVERS, THEIR_SOLVERS

PAGE = (Path(__file__).parent.parent / "docs" / "estimators.md").read_text(encoding="utf-8")
THEIRS = [
    linear_model.LogisticRegression,
    svm.LinearSVC,
    linear_model.Ridge,
    linear_model.ElasticNet,
    linear_model.RidgeClassifier,
    linear_model.HuberRegressor,
    linear_model.LogisticRegressionCV,
    linear_model.RidgeCV,
]
GONE = {"store_cv_values"}  # of RidgeCV, deprecated in scikit-learn 1.5 and removed in 1.7


def data(kind):
    real = "Ridge" in kind.__name__ or kind.__name__ == "ElasticNet"
    X, y = load_diabetes(return_X_y=True) if real else load_breast_cancer(return_X_y=True)
    return scale(X), (y > y.mean()).astype(int) if kind.__name__ == "RidgeClassifier" else y


def same_class(theirs):
    return getattr(ours, theirs.__name__)


@pytest.mark.parametrize("theirs", THEIRS, ids=lambda kind: kind.__name__)
def test_every_parameter_of_scikit_learn_is_taken_and_in_the_table(theirs):
    table = set(re.findall(r"`(\w+)", "".join(line for line in PAGE.splitlines() if line.startswith("| "))))
    mine = inspect.signature(same_class(theirs)).parameters
    for name, parameter in inspect.signature(theirs).parameters.items():
        if name in GONE:
            continue
        assert name in table, f"the migration table does not mention {name}"
        assert name in mine, f"{theirs.__name__} does not take {name}"
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            assert list(mine).index(name) == list(inspect.signature(theirs).parameters).index(name)


@pytest.mark.parametrize("theirs", THEIRS, ids=lambda kind: kind.__name__)
def test_scikit_learns_defaults_can_be_passed_on(theirs):
    X, y = data(theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        defaults = {name: value for name, value in theirs().get_params().items() if name not in GONE}
    model = same_class(theirs)(**defaults).fit(X, y)
    assert model.certificate_.relative_gap <= defaults.get("tol", 1e-6)


@pytest.mark.parametrize(
    ("theirs", "weight_of_penalty"),
    [(linear_model.LogisticRegression, {"C": 0.1}), (linear_model.Ridge, {"alpha": 10.0})],
    ids=["LogisticRegression", "Ridge"],
)
def test_all_names_of_solvers_lead_to_the_same_minimum(theirs, weight_of_penalty):
    X, y = data(theirs)
    tight = {"tol": 1e-13, "max_iter": 10_000, **weight_of_penalty}
    expected = same_class(theirs)(**tight).fit(X, y).coef_
    for solver in sorted(OWN_SOLVERS | THEIR_SOLVERS):
        found = same_class(theirs)(solver=solver, **tight).fit(X, y).coef_
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    solvers = re.findall(r"'([\w-]+)'", str(theirs._parameter_constraints["solver"][0]))
    assert set(solvers) <= OWN_SOLVERS | THEIR_SOLVERS


ACCEPTED = [
    ("LogisticRegression", {"penalty": "l2", "l1_ratio": 0, "dual": True, "n_jobs": 2, "intercept_scaling": 10}),
    ("LogisticRegression", {"penalty": "deprecated", "l1_ratio": None, "multi_class": "auto"}),
    ("LogisticRegression", {"multi_class": "deprecated", "solver": "liblinear", "max_iter": None}),
    ("LinearSVC", {"penalty": "l2", "dual": False, "multi_class": "ovr", "intercept_scaling": 3.0}),
    ("ElasticNet", {"copy_X": False, "precompute": True, "selection": "random", "positive": False}),
    ("Ridge", {"copy_X": False, "positive": False, "max_iter": None, "solver": "sparse_cg"}),
    ("RidgeClassifier", {"copy_X": False, "positive": False, "max_iter": None, "solver": "lsqr"}),
    ("LogisticRegressionCV", {"l1_ratios": (0,), "use_legacy_attributes": "warn", "scoring": "warn", "Cs": 2}),
    ("RidgeCV", {"gcv_mode": "svd", "store_cv_results": False, "alpha_per_target": False}),
]


@pytest.mark.parametrize(("name", "settings"), ACCEPTED)
def test_accepted_parameters_change_nothing(name, settings):
    kind = getattr(ours, name)
    X, y = data(kind)
    kept = {key: value for key, value in settings.items() if key == "Cs"}
    before = X.copy()
    np.testing.assert_array_equal(kind(**settings).fit(X, y).coef_, kind(**kept).fit(X, y).coef_)
    np.testing.assert_array_equal(X, before)


REFUSED = [
    ("LogisticRegression", {"penalty": "l1"}, "penalty is 'l1', .* l1_ratio=0.99"),
    ("LogisticRegression", {"l1_ratio": 1}, "l1_ratio is 1, .* 0.99"),
    ("LogisticRegression", {"penalty": "l2", "l1_ratio": 0.5}, "contradict each other"),
    ("LogisticRegression", {"penalty": "elasticnet", "l1_ratio": None}, "l1_ratio is None"),
    ("LogisticRegression", {"l1_ratio": 0.5, "solver": "newton"}, "takes no L1 part"),
    ("ElasticNet", {"l1_ratio": 1.0}, "l1_ratio is 1.0, .* 0.99"),
    ("ElasticNet", {"alpha": 0}, "alpha is 0, "),
    ("ElasticNet", {"positive": True}, "positive is True, "),
    ("LogisticRegression", {"penalty": None}, "penalty is None, .* C=1e6"),
    ("LogisticRegression", {"C": np.inf}, "C is inf, .* C=1e6"),
    ("LogisticRegression", {"multi_class": "multinomial"}, "there are two classes"),
    ("LinearSVC", {"multi_class": "crammer_singer"}, "one against the rest"),
    ("LinearSVC", {"loss": "hinge"}, "loss='smoothed_hinge'"),
    ("LinearSVC", {"penalty": "l1"}, "only 'l2'"),
    ("Ridge", {"alpha": 0}, "alpha is 0, .* alpha=1e-6"),
    ("Ridge", {"positive": True}, "positive is True, "),
    ("RidgeClassifier", {"alpha": 0.0}, "alpha is 0.0, "),
    ("RidgeClassifier", {"positive": True}, "positive is True, "),
    ("HuberRegressor", {"alpha": 0.0}, "alpha is 0.0, "),
    ("LogisticRegressionCV", {"l1_ratios": (0.0, 0.5)}, "l1_ratios is"),
    ("LogisticRegressionCV", {"penalty": "elasticnet"}, "only 'l2'"),
    ("LogisticRegressionCV", {"use_legacy_attributes": True}, "C_ is one number"),
    ("RidgeCV", {"store_cv_results": True}, "leave-one-out"),
    ("RidgeCV", {"alpha_per_target": True}, "one alpha"),
    ("Ridge", {"solver": "adam"}, "'solver' parameter"),
    ("LogisticRegression", {"penalty": "l3"}, "'penalty' parameter"),
]


@pytest.mark.parametrize(("name", "settings", "reason"), REFUSED)
def test_another_problem_is_refused_in_one_sentence(name, settings, reason):
    kind = getattr(ours, name)
    with pytest.raises(ValueError, match=reason) as error:
        kind(**settings).fit(*data(kind))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("name", "settings"), [("LogisticRegression", {"C": 1e6}), ("Ridge", {"alpha": 1e-6})])
def test_the_alternative_to_no_penalty_is_certified(name, settings):
    kind = getattr(ours, name)
    assert kind(**settings).fit(*data(kind)).certificate_.relative_gap <= 1e-6
