"""Small problems with an L1 part, in the library and in the reference."""

import numpy as np

import dualfree as df
from dualfree import reference
from helpers.problems import LOSSES, make_loss, matrix, positive_weights, targets, with_layout


def l1_twins(name, X, y, lam, mu, weight=None, layout="dense-c", intercept=False):
    """The problem in the library and in the reference (which has no intercept)."""
    ones = np.ones(len(y)) if weight is None else weight
    penalty = df.regularisers.L2L1(mu)
    fast = df.Problem(with_layout(X, layout), make_loss(name, y, weight), lam, intercept=intercept, regulariser=penalty)
    slow = reference.ReferenceProblem(X.astype(np.float64), y, ones, LOSSES[name][2], lam, mu)
    return fast, slow


def random_l1_twins(name, seed=0, n=14, d=9, lam=0.05, mu=0.02, weighted=False, **options):
    rng = np.random.default_rng(seed)
    X, y = matrix(rng, n, d, density=0.7), targets(rng, name, n)
    return l1_twins(name, X, y, lam, mu, positive_weights(rng, n) if weighted else None, **options)


def feasible(rng, problem):
    """A random α well inside of where the dual is finite."""
    return 0.99 * problem.loss.project(rng.normal(size=problem.n))
