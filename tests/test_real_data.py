"""The paper's datasets at λ = 1/n: few epochs to a certified duality gap, and scikit-learn's optimum.

They run only where the environment variable DUALFREE_DATA names a folder with the files.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import dualfree as df
from dualfree import datasets

NAMES = ("w8a", "dorothea", "protein", "rcv1", "cov1")


@pytest.fixture(scope="module", params=NAMES)
def problem(request):
    folder = os.environ.get("DUALFREE_DATA")
    if not folder:
        pytest.skip("DUALFREE_DATA is not set: the real data are not part of the project")
    if not list(Path(folder).glob(f"{request.param}.svm*")):
        pytest.skip(f"DUALFREE_DATA has no {request.param}.svm")
    X, y = datasets.load(request.param).scaled()
    return df.Problem(X, df.losses.Logistic(y), lam=1 / len(y))


@pytest.mark.parametrize(
    ("sampling", "step", "epochs"),
    [("shuffled", "implicit", 8), ("uniform", "theorem-2", 20)],
    ids=lambda value: str(value),
)
def test_duality_gap_of_1e_6_within_few_epochs(problem, sampling, step, epochs):
    # tol=0: the run would otherwise end at the smaller of two certificates, and this is about the duality gap.
    result = df.solve(problem, sampling=sampling, step=step, tol=0, max_epochs=epochs)
    assert result.certificate.duality_gap <= 1e-6


def test_optimum_agrees_with_scikit_learn(problem):
    ours = df.solve(problem, tol=1e-8)
    assert ours.status == "converged"
    model = LogisticRegression(C=1.0, solver="lbfgs", tol=1e-8, fit_intercept=False, max_iter=5000)
    theirs = model.fit(problem.examples.X, problem.loss.y).coef_[0]
    assert ours.certificate.value == pytest.approx(problem.value(np.ascontiguousarray(theirs)), abs=1e-6)
