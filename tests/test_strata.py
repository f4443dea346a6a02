"""Rare categories: features that the sample behind Newton's Hessian may never have seen."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree.methods.newton_plan import Sample, sample_size
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


def by_hand(problem, margins, indices):
    """A sample in which all count the same."""
    return Sample(indices, problem.curvatures(margins, indices) / len(indices))


def literal(problem, margins, sample, holding):
    """Two strata, one example at a time: the sum over the sample, and the sum over the others that matter."""
    curvatures = problem.curvatures(margins)
    every = {
        i: (problem.hessian(margins, np.array([i])) - problem.lam * np.eye(problem.d)) / curvatures[i]
        for i in (*sample.indices, *holding)
    }
    share = sum(curvatures[i] for i in holding) / problem.n / sum(sample.weights)
    of_sample = sum(c * every[i] for i, c in zip(*sample, strict=True))
    of_others = sum(curvatures[i] * every[i] for i in holding) / problem.n
    return (1 - share) * of_sample + of_others + problem.lam * np.eye(problem.d)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("size", [0.0, 2.0])
def test_examples_with_unseen_features_are_a_stratum(layout, size):
    X, y = one_hot(n=400, each=5, layout=layout)
    problem = df.Problem(X, df.losses.Logistic(y), lam=1e-3 / 400)
    here = problem.look(size * np.random.default_rng(1).normal(size=problem.d))
    dense = X.toarray() if sparse.issparse(X) else X
    sample = by_hand(problem, here.margins, np.flatnonzero((dense[:, 4:7] == 0).all(axis=1))[::3])
    unseen = (dense[sample.indices] == 0).all(axis=0)  # four features of which it has none
    holding = np.flatnonzero(dense[:, unseen].any(axis=1))
    assert unseen.sum() >= 3
    found = sampled_hessian(problem, here.margins, sample, here)
    expected = literal(problem, here.margins, sample, holding)
    rtol = 1e-12 if sparse.issparse(X) else 1e-6  # products of dense rows may be in single precision
    np.testing.assert_allclose(np.triu(found), np.triu(expected), rtol=rtol, atol=1e-9 * rtol)
    exact = np.diag(problem.hessian(here.margins))[unseen]
    np.testing.assert_allclose(np.diag(found)[unseen], exact, rtol=rtol)  # all that have them are there


def test_with_an_intercept_the_strata_add_up_too():
    X, y = one_hot(n=400, each=5)
    problem = df.Problem(X, df.losses.Logistic(y), lam=1e-3 / 400, intercept=True)
    here = problem.look(np.zeros(problem.d))
    sample = by_hand(problem, here.margins, np.flatnonzero(X[:, 3:].sum(axis=1) == 0))
    holding = np.setdiff1d(np.arange(400), sample.indices)
    found = sampled_hessian(problem, here.margins, sample, here)
    assert len(holding) <= len(sample.indices)
    np.testing.assert_allclose(np.triu(found), np.triu(problem.hessian(here.margins)), rtol=1e-12, atol=1e-15)


def test_nothing_changes_where_it_would_not_matter():
    X, y = one_hot(n=400, each=5)
    sample = np.flatnonzero(X[:, 3:].sum(axis=1) == 0)[::3]

    def same(lam, chosen=sample, known=True):
        problem = df.Problem(X, df.losses.Logistic(y), lam=lam)
        here = problem.look(np.zeros(problem.d))
        found = sampled_hessian(problem, here.margins, by_hand(problem, here.margins, chosen), here if known else None)
        return np.array_equal(np.triu(found), np.triu(problem.hessian(here.margins, chosen)))

    assert not same(1e-3 / 400)
    assert same(1.0)  # λ is all the curvature that counts
    assert same(1e-3 / 400, chosen=np.arange(400))
    assert same(1e-3 / 400, chosen=sample[:5])  # fewer than those that would have to be added
    assert same(1e-3 / 400, known=False)


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
