"""Small problems of every shape, as `dualfree.Problem` and as `dualfree.reference.vectors`."""

from itertools import pairwise

import numpy as np

import dualfree as df
from dualfree import reference
from dualfree.reference import vectors
from helpers.problems import LOSSES, matrix, positive_weights, random_twins, with_layout

OUTPUTS = 3
SHAPES = ("rows", "multi-output", "blocks")
VECTOR_LOSSES = ("softmax", "squared-targets", "huber-targets", "conditional-logit", "listnet")
EVERY_LOSS = (*sorted(LOSSES), *VECTOR_LOSSES)


def small_examples(shape, seed, layout="dense-c", dtype=np.float64):
    """A problem of 6 to 10 examples and its A_i: of all densities, with empty rows and columns."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 11)), int(rng.integers(1, 7))
    density = rng.choice([0.15, 0.4, 0.8, 1.0])
    X = matrix(rng, 2 * n if shape == "blocks" else n, d, density, dtype)
    start = group_starts(rng, 2 * n, n)
    return shaped(shape, with_layout(X, layout), start), shaped_matrices(shape, X.astype(np.float64), start)


def shaped(shape, X, start):
    """A problem with the rows of X as examples of that shape; for blocks, `start` says where each begins."""
    if shape == "blocks":
        loss = df.losses.ConditionalLogit(np.zeros(len(start) - 1))
        return df.Problem(df.Blocks(X, start), loss, lam=0.1)
    n = X.shape[0]
    rows = shape == "rows"
    return df.Problem(X, df.losses.Squared(np.ones(n)) if rows else df.losses.Softmax(np.arange(n) % 2), lam=0.1)


def shaped_matrices(shape, X, start):
    """The A_i of the same problem."""
    if shape == "multi-output":
        return vectors.multi_output(X, 2)
    return vectors.blocks(X, start if shape == "blocks" else range(len(X) + 1))


def group_starts(rng, rows, n):
    """n groups of unequal sizes, at least one row each."""
    cuts = np.sort(rng.choice(np.arange(1, rows), size=n - 1, replace=False))
    return np.concatenate([[0], cuts, [rows]])


def one_hot(m, k):
    return np.eye(m)[k]


def vector_twins(name, seed=0, n=9, d=5, lam=0.1, weighted=False, layout="dense-c", dtype=np.float64, m=OUTPUTS):
    """The problem in the library and in the reference."""
    rng = np.random.default_rng(seed)
    weight = positive_weights(rng, n) if weighted else None
    ones = np.ones(n) if weight is None else weight
    if name in ("conditional-logit", "listnet"):
        start = group_starts(rng, 3 * n, n)
        X = matrix(rng, 3 * n, d, dtype=dtype)
        blocks = df.Blocks(with_layout(X, layout), start)
        A = vectors.blocks(X.astype(np.float64), start)
        if name == "conditional-logit":
            chosen = rng.integers(np.diff(start))
            loss, y = df.losses.ConditionalLogit(chosen, weight), list(map(one_hot, np.diff(start), chosen))
        else:
            relevance = rng.integers(4, size=3 * n).astype(float)
            raised = [np.exp(relevance[a:b]) for a, b in pairwise(start)]
            loss, y = df.losses.ListNet(relevance, weight), [q / q.sum() for q in raised]
        fast = df.Problem(blocks, loss, lam)
        return fast, vectors.VectorProblem(A, y, ones, vectors.cross_entropy(), lam)
    X = matrix(rng, n, d, dtype=dtype)
    A = vectors.multi_output(X.astype(np.float64), m)
    if name == "softmax":
        labels = np.concatenate([np.arange(m), rng.integers(m, size=n - m)])
        loss, y, slow = df.losses.Softmax(labels, weight), list(np.eye(m)[labels]), vectors.cross_entropy()
    else:
        Y = rng.normal(size=(n, m))
        squared = name == "squared-targets"
        loss = df.losses.Squared(Y, weight) if squared else df.losses.Huber(Y, 0.9, weight)
        y, slow = list(Y), vectors.separable(reference.squared() if squared else reference.huber(0.9))
    return df.Problem(with_layout(X, layout), loss, lam), vectors.VectorProblem(A, y, ones, slow, lam)


def every_twins(name, **options):
    """The same for any built-in loss: of one number or of several."""
    return random_twins(name, **options) if name in LOSSES else vector_twins(name, **options)


def as_list(problem, alpha):
    """α of the library as the list of vectors that the reference has."""
    flat = np.ravel(alpha)
    return [flat[problem.examples.positions(np.array([i]))] for i in range(problem.n)]
