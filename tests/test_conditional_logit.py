"""The conditional logit estimator: statsmodels' model where the penalty is weak, any order of rows, refusals."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone

import dualfree as df
from dualfree.linear_model import ConditionalLogit


def choices(n=150, d=3, seed=0, dtype=np.float64):
    """Groups of 2 to 5 alternatives, of which the one with the largest noisy utility is chosen."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, size=n)
    groups = np.repeat(np.arange(n), sizes)
    X = rng.normal(size=(len(groups), d)).astype(dtype)
    utility = X @ np.linspace(-1, 1.5, d) + rng.gumbel(size=len(groups))
    best = np.array([np.argmax(np.where(groups == g, utility, -np.inf)) for g in range(n)])
    y = np.zeros(len(groups), dtype=int)
    y[best] = 1
    return X, y, groups


def test_equals_statsmodels_where_the_penalty_vanishes():
    models = pytest.importorskip("statsmodels.discrete.conditional_models")
    X, y, groups = choices()
    theirs = models.ConditionalLogit(y, X, groups=groups).fit(disp=False)
    ours = ConditionalLogit(C=1e7, tol=1e-12, max_iter=100_000).fit(X, y, groups)
    # statsmodels stops a little earlier than we do.
    np.testing.assert_allclose(ours.coef_, theirs.params, atol=1e-4)
    assert ours.certificate_.value * len(np.unique(groups)) == pytest.approx(-theirs.llf, rel=1e-7)


def test_equals_statsmodels_with_a_penalty():
    models = pytest.importorskip("statsmodels.discrete.conditional_models")
    X, y, groups = choices()
    theirs = models.ConditionalLogit(y, X, groups=groups)
    found = minimize(lambda w: -0.3 * theirs.loglike(w) + w @ w / 2, np.zeros(3), tol=1e-12)
    ours = ConditionalLogit(C=0.3, tol=1e-12).fit(X, y, groups)
    np.testing.assert_allclose(ours.coef_, found.x, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_in_any_order_dense_and_sparse(kind, dtype):
    X, y, groups = choices(dtype=dtype)
    order = np.random.default_rng(1).permutation(len(y))
    plain = ConditionalLogit(tol=1e-12).fit(X, y, groups)
    mixed = ConditionalLogit(tol=1e-12).fit(kind(X[order]), y[order], groups[order])
    np.testing.assert_allclose(mixed.coef_, plain.coef_, atol=1e-5)
    assert plain.coef_.dtype == dtype
    probabilities = plain.predict_proba(X, groups)
    np.testing.assert_allclose(np.bincount(groups, probabilities), 1.0, rtol=1e-6)
    np.testing.assert_allclose(plain.predict_proba(kind(X[order]), groups[order]), probabilities[order], rtol=1e-5)
    assert plain.predict(X, groups).sum() == 150
    assert plain.score(X, y, groups) == pytest.approx(mixed.score(X, y, groups), abs=0.02)
    assert plain.score(X, y, groups) > 0.6


@pytest.mark.parametrize("solver", ["dfsdca", "auto", "lbfgs"])
def test_solvers_and_samplings(solver):
    X, y, groups = choices()
    reference = ConditionalLogit(tol=1e-12).fit(X, y, groups)
    np.testing.assert_allclose(
        ConditionalLogit(tol=1e-12, solver=solver).fit(X, y, groups).coef_, reference.coef_, atol=1e-5
    )
    batches = ConditionalLogit(tol=1e-10, sampling="chunks:4", step="theorem-2", max_iter=5000).fit(X, y, groups)
    np.testing.assert_allclose(batches.coef_, reference.coef_, atol=1e-4)
    assert clone(batches).sampling == "chunks:4"


def test_refusals():
    X, y, groups = choices()
    with pytest.raises(ValueError, match="group 0 has 0 chosen rows; every group needs exactly one"):
        ConditionalLogit().fit(X, np.where(groups == 0, 0, y), groups)
    with pytest.raises(ValueError, match="y must be 1 for the chosen row"):
        ConditionalLogit().fit(X, y + 1, groups)
    with pytest.raises(ValueError, match="groups has shape"):
        ConditionalLogit().fit(X, y, groups[1:])


def test_listnet_ranks_better_than_chance():
    rng = np.random.default_rng(0)
    X, start = rng.normal(size=(600, 5)), np.arange(0, 601, 6)
    relevance = np.clip(np.round(X @ [1.0, 0.5, 0, 0, -1.0] + rng.normal(size=600)), 0, 3)
    result = df.solve(df.Problem(df.Blocks(X, start), df.losses.ListNet(relevance), lam=1e-3))
    scores = (X @ result.w).reshape(100, 6)
    best = relevance.reshape(100, 6)[np.arange(100), scores.argmax(axis=1)]
    assert best.mean() > relevance.mean() + 0.5
