"""Small problems with an L1 part, in the library and in the reference."""

import numpy as np
from scipy import sparse

import dualfree as df
from dualfree import reference
from dualfree.methods import METHODS
from helpers.problems import LOSSES, make_loss, matrix, positive_weights, targets, with_layout
from small_problems import LOSSES as SMALL
from small_problems import data


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


def small(loss="logistic", mu=0.01, kind="csr", **options):
    """Sixty examples of eight features, λ = 1/n; no regulariser at all where μ is None."""
    X = data()
    return df.Problem(
        sparse.csr_array(X) if kind == "csr" else X,
        SMALL[loss](X),
        lam=1 / len(X),
        regulariser=None if mu is None else df.regularisers.L2L1(mu),
        **options,
    )


def method_on(name, problem, sampling=None, step=None):
    """A method, ready to run."""
    bound = (sampling or METHODS[name].default_sampling(problem)).bind(problem)
    return METHODS[name](problem, bound, METHODS[name].step_rule(bound, step))


def advanced(method, start, draws):
    """The state after all of `draws` from α = start."""
    state = method.start(start.copy())
    method.advance(state, draws)
    return state


class NoConjugate(df.losses.Loss):
    """A squared loss in Python that keeps its conjugate to itself."""

    def value(self, z, y):
        return (z - y) ** 2 / 2

    def derivative(self, z, y):
        return z - y

    def smoothness(self, y):
        return np.ones_like(y)
