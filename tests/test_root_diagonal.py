"""Where L-BFGS begins: between the Hessian's diagonal and one number for all features."""

import numpy as np
import pytest
from benchmarks.data import text_like
from scipy import sparse

import dualfree as df
from dualfree.examples import Rows
from dualfree.methods.curvature import RootDiagonal, Scaled
from dualfree.methods.newton import LBFGS

rng = np.random.default_rng(0)
VALUES = np.where(rng.random((50, 6)) < 0.5, rng.normal(size=(50, 6)), 0.0)
LABELS = np.where(VALUES.sum(axis=1) > 0, 1.0, -1.0)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("values", [VALUES, (VALUES > 0).astype(float)], ids=["any", "all the same"])
def test_sums_of_squares_by_feature(layout, values):
    mass = np.arange(50.0)
    found = Rows(layout(values)).feature_squares(mass)
    np.testing.assert_allclose(found, mass @ values**2, rtol=1e-6)


@pytest.mark.parametrize("intercept", [False, True])
def test_it_is_the_root_of_diagonal_and_trace(intercept):
    problem = df.Problem(sparse.csr_matrix(VALUES), df.losses.Logistic(LABELS), lam=0.01, intercept=intercept)
    margins = rng.normal(size=50)
    diagonal = np.diag(problem.hessian(margins))[:6]
    trace = float((diagonal - 0.01).sum()) + 0.01
    gradient = rng.normal(size=6)
    base = RootDiagonal(problem, margins)
    np.testing.assert_allclose(base.solve(gradient), gradient / np.sqrt(diagonal * trace), rtol=1e-12)
    move, change = rng.normal(size=6), np.exp(rng.normal(size=6))
    change *= np.sign(move)
    base.learn(move, change)
    assert change @ base.solve(change) == pytest.approx(move @ change)  # as it was on the last move


@pytest.mark.parametrize("loss", [df.losses.Logistic, df.losses.SquaredHinge])
def test_words_of_all_frequencies_need_fewer_passes(loss, monkeypatch):
    X, y = text_like(4000, 8000, 6)
    problem = df.Problem(X, loss(y), lam=0.01 / 4000)
    result = df.solve(problem, method="lbfgs", tol=1e-6, max_epochs=3000)
    monkeypatch.setattr(LBFGS, "_new_base", lambda self, margins: Scaled(self.problem))
    with_one_number = df.solve(problem, method="lbfgs", tol=1e-6, max_epochs=3000)
    assert result.status is with_one_number.status is df.Status.CONVERGED
    assert result.certificate.value == pytest.approx(with_one_number.certificate.value, rel=2e-6)
    assert result.epochs <= 0.5 * with_one_number.epochs


def test_others_begin_with_one_number():
    concave = df.Problem(VALUES, df.losses.Logistic(LABELS, weight=np.where(np.arange(50) == 0, -0.1, 1.0)), lam=1.0)
    softmax = df.Problem(VALUES, df.losses.Softmax(np.arange(50) % 3), lam=0.1)
    for problem in (concave, softmax):
        assert df.solve(problem, method="lbfgs", tol=1e-8, max_epochs=500).status is df.Status.CONVERGED
