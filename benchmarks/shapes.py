"""Generated data of many shapes, dense and sparse: what `benchmarks.choices` tries `method="auto"` on."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.data import words


class Shape(NamedTuple):
    """n examples of d features; `row` of them in each example, or 0 where X is dense."""

    kind: str
    n: int
    d: int
    row: int = 0

    def __str__(self) -> str:
        return f"{self.kind}, {self.n:,} × {self.d:,}" + (f", {self.row} a row" if self.row else "")


def _chained(rng: Any, n: int, d: int) -> Any:
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.9**2) * X[:, j]
    return X


def _factors(rng: Any, n: int, d: int) -> Any:
    return rng.normal(size=(n, 10)) @ rng.normal(size=(10, d)) + 0.1 * rng.normal(size=(n, d))


DENSE: dict[str, Callable[..., Any]] = {
    "isotropic": lambda rng, n, d: rng.normal(size=(n, d)),
    "far from zero": lambda rng, n, d: 3 + rng.normal(size=(n, d)),
    "between 0 and 1": lambda rng, n, d: rng.random((n, d)),
    "neighbours alike": _chained,
    "ten factors": _factors,
    "many scales": lambda rng, n, d: rng.normal(size=(n, d)) * np.logspace(0, -2, d),
    "heavy tails": lambda rng, n, d: rng.standard_t(2.5, size=(n, d)),
}
SPARSE: dict[str, Callable[..., tuple[Any, Any]]] = {  # columns, and values
    "words": lambda rng, n, d, row: (words(rng, n, d, row), 0.1 + rng.random((n, row))),
    "any feature": lambda rng, n, d, row: (rng.integers(0, d, (n, row)), 0.1 + rng.random((n, row))),
    "categories": lambda rng, n, d, row: (
        d // row * np.arange(row) + rng.integers(0, d // row, (n, row)),
        np.ones((n, row)),
    ),
}
DENSE_SIZES = ((300, 20), (2_000, 30), (2_000, 500), (20_000, 100), (500, 2_000), (5_000, 1_000), (1_000, 1_000))
SPARSE_SIZES = (
    (2_000, 500, 20),
    (20_000, 2_000, 10),
    (20_000, 300, 12),
    (50_000, 1_000, 8),
    (60_000, 8_000, 15),
    (20_000, 30_000, 40),
    (5_000, 20_000, 60),
    (1_000, 5_000, 100),
)


def all_shapes() -> Iterator[Shape]:
    """Every kind in every size."""
    for kind in DENSE:
        yield from (Shape(kind, *size) for size in DENSE_SIZES)
    for kind in SPARSE:
        yield from (Shape(kind, *size) for size in SPARSE_SIZES)


def make(shape: Shape, seed: int = 0) -> tuple[Any, Any]:
    """X with a longest row of length one, and labels of which some are wrong.

    Examples
    --------
    >>> X, y = make(Shape("categories", 100, 20, 4))
    >>> X.shape, X.nnz, round(float(X.multiply(X).sum(axis=1).max()), 12), sorted(set(y.tolist()))
    ((100, 20), 400, 1.0, [-1.0, 1.0])
    """
    rng = np.random.default_rng([seed, len(shape.kind), shape.n, shape.d])
    if shape.row:
        columns, values = SPARSE[shape.kind](rng, shape.n, shape.d, shape.row)
        starts = np.arange(shape.n + 1) * shape.row
        X = sparse.csr_matrix((values.ravel(), columns.ravel(), starts), shape=(shape.n, shape.d))
        X.sum_duplicates()
        longest = X.multiply(X).sum(axis=1).max()
    else:
        X = DENSE[shape.kind](rng, shape.n, shape.d)
        longest = (X * X).sum(axis=1).max()
    scores = X @ rng.normal(size=shape.d)
    scores = (scores - scores.mean()) / scores.std() + 0.3 * rng.normal(size=shape.n)
    return X / np.sqrt(longest), np.where(scores > 0, 1.0, -1.0)
