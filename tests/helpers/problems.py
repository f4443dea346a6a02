"""Small random problems, as `dualfree.Problem` and as `dualfree.reference.ReferenceProblem`."""

import numpy as np
from scipy import sparse

import dualfree as df
from dualfree import reference

LOSSES = {
    "logistic": (df.losses.Logistic, {}, reference.logistic()),
    "squared": (df.losses.Squared, {}, reference.squared()),
    "squared-hinge": (df.losses.SquaredHinge, {}, reference.squared_hinge()),
    "smoothed-hinge": (df.losses.SmoothedHinge, {"gamma": 0.6}, reference.smoothed_hinge(0.6)),
    "huber": (df.losses.Huber, {"delta": 0.9}, reference.huber(0.9)),
}
CLASSIFICATION = {"logistic", "squared-hinge", "smoothed-hinge"}
LAYOUTS = ("csr-int32", "csr-int64", "dense-c", "dense-f", "dense-strided")


def matrix(rng, n, d, density=0.5, dtype=np.float64):
    """A random dense array with zeros in it, among them an empty row and an empty column."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    X[rng.integers(n)] = 0
    X[:, rng.integers(d)] = 0
    return X.astype(dtype)


def with_layout(X, layout):
    """The same matrix, stored in another way."""
    if layout.startswith("csr"):
        csr = sparse.csr_array(X)
        index = np.int32 if layout == "csr-int32" else np.int64
        return sparse.csr_array((csr.data, csr.indices.astype(index), csr.indptr.astype(index)), shape=X.shape)
    if layout == "dense-c":
        return np.ascontiguousarray(X)
    if layout == "dense-f":
        return np.asfortranarray(X)
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan, dtype=X.dtype)
    view = wide[::2, ::-3]
    view[:] = X
    return view


def targets(rng, name, n):
    """Labels −1 and +1, both present, or real numbers."""
    if name in CLASSIFICATION:
        y = rng.choice([-1.0, 1.0], size=n)
        y[:2] = -1.0, 1.0
        return y
    return rng.normal(size=n)


def positive_weights(rng, n):
    """Weights of very different size, one of them zero."""
    weight = rng.uniform(0.2, 3.0, size=n)
    weight[n // 2] = 0.0
    return weight


def make_loss(name, y, weight=None):
    kind, parameters, _ = LOSSES[name]
    return kind(y, weight=weight, **parameters)


def twins(name, X, y, lam, weight=None, layout="dense-c"):
    """The problem in the library and in the reference."""
    ones = np.ones(len(y)) if weight is None else weight
    fast = df.Problem(with_layout(X, layout), make_loss(name, y, weight), lam)
    slow = reference.ReferenceProblem(X.astype(np.float64), y, ones, LOSSES[name][2], lam)
    return fast, slow


def random_twins(name, seed=0, n=12, d=7, lam=0.05, weighted=False):
    rng = np.random.default_rng(seed)
    X, y = matrix(rng, n, d), targets(rng, name, n)
    return twins(name, X, y, lam, positive_weights(rng, n) if weighted else None)


def least_squares_with_negative_weights(n=24, d=4, seed=3, lam=0.3):
    """Squared losses, a third of them upside down, whose average is convex all the same; checked here."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    weight = np.where(np.arange(n) % 3 == 0, -0.4, 1.0)
    assert np.linalg.eigvalsh((X * weight[:, None]).T @ X / n).min() > 0
    return df.Problem(X, df.losses.Squared(rng.normal(size=n), weight=weight), lam)


def shifted_and_inverted(n=48, d=4, factor=2.0, seed=5):
    """``(μI − C)w = b`` for the leading component as a problem: every example concave, P convex. Also C, μ and b.

    With ``w = u + b/μ``, ``½μ‖w‖² − (1/2n) Σ (a_iᵀw)² − bᵀw`` is, up to a constant, P(u) with ``λ = μ``, squared losses
    of weight −1 and targets ``−a_iᵀb/μ``.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7) * np.geomspace(1, 0.3, d)
    X *= rng.uniform(0.5, 1.0, size=(n, 1)) / np.linalg.norm(X, axis=1).max()
    C, b = X.T @ X / n, rng.normal(size=d)
    mu = factor * np.linalg.eigvalsh(C)[-1]
    return df.Problem(X, df.losses.Squared(-X @ b / mu, weight=-np.ones(n)), lam=mu), C, mu, b
