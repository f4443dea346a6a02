"""Small problems of every kind, and the losses and samplings that tests run through."""

from typing import Any

import numpy as np
from scipy import sparse

import dualfree as df
from dualfree import losses, samplings

N, D = 60, 8


def data(n: int = N, d: int = D, seed: int = 0, density: float = 0.5) -> Any:
    """Rows of norm at most one, half of the entries zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    return X / np.linalg.norm(X, axis=1).max()


def labels(X: Any, seed: int = 1) -> Any:
    """Two classes that a linear model explains in part."""
    rng = np.random.default_rng(seed)
    y = np.where(X @ rng.normal(size=X.shape[1]) + 0.2 * rng.normal(size=X.shape[0]) > 0, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return y


def targets(X: Any, seed: int = 2) -> Any:
    """Real targets."""
    rng = np.random.default_rng(seed)
    return X @ (3 * rng.normal(size=X.shape[1])) + 0.3 * rng.normal(size=X.shape[0])


LOSSES = {
    "logistic": lambda X: losses.Logistic(labels(X)),
    "squared": lambda X: losses.Squared(targets(X)),
    "squared-hinge": lambda X: losses.SquaredHinge(labels(X)),
    "smoothed-hinge": lambda X: losses.SmoothedHinge(labels(X), gamma=0.5),
    "huber": lambda X: losses.Huber(targets(X), delta=0.3),
}
SHAPES = {  # losses of several numbers: on the outputs of a row, on the rows of a block
    "softmax": lambda X: losses.Softmax(np.digitize(targets(X), [-0.5, 0.5])),
    "conditional-logit": lambda X: losses.ConditionalLogit(np.zeros(len(X) // 3)),
}


class EveryOther(samplings.Sampling):
    """A user's own sampling: the even or the odd examples."""

    def probabilities(self, problem: df.Problem) -> Any:
        return np.full(problem.n, 0.5)

    def draw(self, problem: df.Problem, rng: np.random.Generator) -> Any:
        return np.arange(rng.integers(2), problem.n, 2)

    def largest(self, problem: df.Problem) -> int:
        return (problem.n + 1) // 2


def importance_like(n: int) -> Any:
    p = np.linspace(1.0, 3.0, n)
    return p / p.sum()


SAMPLINGS = {
    "uniform": lambda n: samplings.Uniform(),
    "importance": lambda n: samplings.Importance(),
    "serial": lambda n: samplings.Serial(importance_like(n)),
    "random": lambda n: samplings.RandomSerial(5.0),
    "shuffled": lambda n: samplings.Shuffled(),
    "nice": lambda n: samplings.Nice(7),
    "independent": lambda n: samplings.Independent(np.linspace(0.05, 0.5, n)),
    "chunks": lambda n: samplings.Chunks(2),
    "partition": lambda n: samplings.Partition(10),
    "distributed": lambda n: samplings.Distributed(4, 3),
    "buckets": lambda n: samplings.Buckets(6),
    "sets": lambda n: samplings.SetList([np.arange(k, n, 5) for k in range(5)]),
    "custom": lambda n: EveryOther(),
}


def problem(loss: str = "logistic", *, kind: str = "csr", lam: float | None = None, X: Any = None) -> df.Problem:
    """A small problem with the loss of that name; for blocks the rows of X come in groups of two, four and three."""
    blocks = loss == "conditional-logit"
    X = data(3 * N if blocks else N) if X is None else X
    made = (LOSSES | SHAPES)[loss](X)
    stored = sparse.csr_array(X) if kind == "csr" else X
    n = len(X) // 3 if blocks else len(X)
    if blocks:
        stored = df.Blocks(stored, np.concatenate([[0], np.cumsum(np.resize([2, 4, 3], n))]))
    return df.Problem(stored, made, lam=1 / n if lam is None else lam)


def invariant_error(of: df.Problem, result: df.Result) -> float:
    """Relative distance of w from (1/λn) Σ A_i α_i."""
    derived = of.primal(result.alpha)
    return float(np.linalg.norm(result.w - derived) / max(1e-300, np.linalg.norm(derived)))
