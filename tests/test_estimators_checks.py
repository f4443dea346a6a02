"""scikit-learn's own checks of what an estimator must be, all of them, for every estimator.

The tolerance is tight because some checks compare two fits to seven digits, as scikit-learn does for its own. One
check skips itself unless SCIPY_ARRAY_API is set: it is about arrays of other libraries, which no estimator here takes.
One is expected to fail, for classifiers without an intercept only; `NO_INTERCEPT` says why, and so does a docstring.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dualfree.linear_model import (
    ElasticNet,
    HuberRegressor,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    PUClassifier,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)

TIGHT = {"tol": 1e-17, "max_iter": 1000}

ESTIMATORS = [
    LogisticRegression(**TIGHT),
    LogisticRegression(fit_intercept=False, **TIGHT),
    LogisticRegression(l1_ratio=0.5, **TIGHT),
    PUClassifier(class_prior=0.4, **TIGHT),
    LinearSVC(**TIGHT),
    LinearSVC(loss="smoothed_hinge", fit_intercept=False, **TIGHT),
    Ridge(**TIGHT),
    ElasticNet(alpha=0.1, **TIGHT),
    RidgeClassifier(**TIGHT),
    HuberRegressor(alpha=1.0, **TIGHT),
    LogisticRegressionCV(Cs=[0.1, 1.0], cv=2, **TIGHT),
    RidgeCV(alphas=[0.1, 1.0], cv=2, **TIGHT),
]


NO_INTERCEPT = {
    "check_class_weight_classifiers": "asks that a heavy class be predicted nearly everywhere, which no line through "
    "the origin can do; scikit-learn's own LogisticRegression(fit_intercept=False) fails it too"
}


def expected_to_fail(estimator):
    through_origin = isinstance(estimator, LogisticRegression | LinearSVC) and not estimator.fit_intercept
    return NO_INTERCEPT if through_origin else {}


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings and look at those that matter to them
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_to_fail)
def test_scikit_learn_check(estimator, check):
    check(estimator)
