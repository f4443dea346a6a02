"""Rare categories: features that the sample behind Newton's Hessian may never have seen."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree.methods.newton_plan import sample_size
from dualfree.methods.strata import sampled_hessian


def one_hot(n=4000, rare=6, each=8, layout=sparse.csr_matrix):
    """A frequent feature, two that halve the examples, and `rare` ones that `each` examples have."""
    rng = np.random.default_rng(0)
    X = np.zeros((n, 3 + rare))
    X[:, 0] = 1.0
    X[np.arange(n), rng.integers(1, 3, n)] = 1.0
    for j, rows in enumerate(rng.choice(n, (rare, each), replace=False), start=3):
        X[rows, j] = 1.0
    y = np.where(X[:, 1] + X[:, 3:] @ rng.normal(size=rare) + rng.normal(size=n) > 0.5, 1.0, -1.0)
    return layout(X / np.sqrt(3)), y


def literal(problem, margins, sample, holding):
    """Two strata, one example at a time: the mean over the sample, and the sum over the others that matter."""
    every = {i: problem.hessian(margins, np.array([i])) - problem.lam * np.eye(problem.d) for i in (*sample, *holding)}
    share = len(holding) / problem.n
    of_sample = sum(every[i] for i in sample) / len(sample)
    return (1 - share) * of_sample + sum(every[i] for i in holding) / problem.n + problem.lam * np.eye(problem.d)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("intercept", [False, True])
def test_examples_with_unseen_features_are_a_stratum(layout, intercept):
    X, y = one_hot(n=400, each=5, layout=layout)
    problem = df.Problem(X, df.losses.Logistic(y), lam=1e-3 / 400, intercept=intercept)
    here = problem.look(np.zeros(problem.d))
    dense = X.toarray() if sparse.issparse(X) else X
    sample = np.flatnonzero((dense[:, 4:7] == 0).all(axis=1))[::3]  # four features of which it has none
    unseen = (dense[sample] == 0).all(axis=0)
    holding = np.flatnonzero(dense[:, unseen].any(axis=1))
    assert unseen.sum() >= 3
    found = sampled_hessian(problem, here.margins, sample, here)
    expected = problem.hessian(here.margins, sample) if intercept else literal(problem, here.margins, sample, holding)
    if intercept:
        share = len(holding) / 400
        expected = (1 - share) * expected + share * problem.hessian(here.margins, holding)
    rtol = 1e-12 if sparse.issparse(X) else 1e-6  # products of dense rows may be in single precision
    np.testing.assert_allclose(np.triu(found), np.triu(expected), rtol=rtol, atol=1e-9 * rtol)
    exact = np.diag(problem.hessian(here.margins))[: len(unseen)][unseen]
    np.testing.assert_allclose(np.diag(found)[: len(unseen)][unseen], exact, rtol=rtol)  # all that have them are there


def test_nothing_changes_where_it_would_not_matter():
    X, y = one_hot(n=400, each=5)
    sample = np.flatnonzero(X[:, 3:].sum(axis=1) == 0)[::3]

    def same(lam, w=0.0, chosen=sample):
        problem = df.Problem(X, df.losses.Logistic(y), lam=lam)
        here = problem.look(np.full(problem.d, w))
        found = sampled_hessian(problem, here.margins, chosen, here)
        return np.array_equal(np.triu(found), np.triu(problem.hessian(here.margins, chosen)))

    assert not same(1e-3 / 400)
    assert same(1.0)  # λ is all the curvature that counts
    assert same(1e-3 / 400, chosen=np.arange(400))
    assert same(1e-3 / 400, chosen=sample[:5])  # fewer than those that would have to be added
    problem = df.Problem(X, df.losses.Logistic(y), lam=1e-3 / 400)
    margins = np.zeros(400)
    assert np.array_equal(sampled_hessian(problem, margins, sample, None), problem.hessian(margins, sample))


@pytest.mark.parametrize("lam_n", [1.0, 0.1, 0.001])
def test_rare_categories_do_not_wreck_the_steps(lam_n):
    X, y = one_hot(n=20_000, rare=30)
    problem = df.Problem(X, df.losses.Logistic(y), lam=lam_n / 20_000)
    sample = np.random.default_rng(0).choice(20_000, sample_size(problem), replace=False)
    assert (X[np.sort(sample)].sum(axis=0) == 0).sum() >= 10  # features that the first sample lacks
    result = df.solve(problem, method="newton", tol=1e-9, max_epochs=40)
    assert result.status is df.Status.CONVERGED
    assert result.epochs <= 15
    slow = df.solve(problem, method="lbfgs", tol=1e-9, max_epochs=3000)
    assert result.certificate.value == pytest.approx(slow.certificate.value, rel=2e-9)
