"""Agreement with scikit-learn on the paper's data, where the environment variable DUALFREE_DATA names their folder."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn import linear_model

from dualfree import datasets
from dualfree.linear_model import LogisticRegression

SOLVERS = {"w8a": "newton-cholesky", "rcv1": "lbfgs", "cov1": "newton-cholesky"}


@pytest.fixture(scope="module", params=SOLVERS)
def named(request):
    folder = os.environ.get("DUALFREE_DATA")
    if not folder or not list(Path(folder).glob(f"{request.param}.svm*")):
        pytest.skip(f"DUALFREE_DATA names no folder with {request.param}.svm: real data are not part of the project")
    return request.param, *datasets.load(request.param)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_logistic_regression(named, C):
    name, X, y = named
    ours = LogisticRegression(C=C, tol=1e-13, max_iter=3000).fit(X, y)
    theirs = linear_model.LogisticRegression(C=C, tol=1e-10, solver=SOLVERS[name], max_iter=10_000).fit(X, y)
    a, b = (np.append(model.coef_, model.intercept_) for model in (ours, theirs))
    assert np.linalg.norm(a - b) <= 1e-5 * np.linalg.norm(b)
