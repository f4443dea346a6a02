"""The data: the paper's five, two of scikit-learn's, synthetic shapes that no setting was chosen on, and any file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits

import dualfree as df
from benchmarks.files import read_examples


@dataclass(frozen=True, eq=False)
class Data:
    """X with a largest row norm of 1, y of ±1, and "real", "reconstructed", "stand-in", "synthetic" or "file"."""

    X: Any
    y: Any
    provenance: str


def words(rng: np.random.Generator, n: int, d: int, per_row: int) -> Any:
    """Columns of n rows of words out of d, the one of rank r with a chance like 1/r: their ranks are log-uniform."""
    return (d ** rng.random((n, per_row))).astype(np.int32) - 1


def text_like(n: int, d: int, per_row: int, seed: int = 0, block: int = 200_000) -> tuple[csr_matrix, Any]:
    """Rows of `per_row` distinct words, word of rank r with a chance like 1/r, unit norms; a planted model's labels.

    Memory beyond X: O(block · per_row + d). Rows are sorted; a word drawn twice counts twice (its values add up).

    Examples
    --------
    >>> X, y = text_like(1000, 500, 10)
    >>> X.shape, bool((np.diff(X.indptr) <= 10).all()), np.unique(y).tolist()
    ((1000, 500), True, [-1.0, 1.0])
    """
    rng = np.random.default_rng(seed)
    model, ends = rng.standard_normal(d), [0]
    indices = np.empty(n * per_row, dtype=np.int32)
    values = np.empty(n * per_row)
    y = np.empty(n)
    for first in range(0, n, block):
        rows = min(block, n - first)
        columns = words(rng, rows, d, per_row)
        part = csr_matrix((np.ones(columns.size), columns.ravel(), per_row * np.arange(rows + 1)), shape=(rows, d))
        part.sum_duplicates()
        part.data /= np.repeat(np.sqrt(np.add.reduceat(part.data**2, part.indptr[:-1])), np.diff(part.indptr))
        at = slice(ends[-1], ends[-1] + part.nnz)
        indices[at], values[at] = part.indices, part.data
        margins = part @ model
        y[first : first + rows] = np.where(margins + margins.std() * rng.standard_normal(rows) > 0, 1.0, -1.0)
        ends.extend((ends[-1] + part.indptr[1:]).tolist())
    nonzeros = ends[-1]
    indptr = np.array(ends, dtype=np.int32 if nonzeros < 2**31 else np.int64)
    return csr_matrix((values[:nonzeros], indices[:nonzeros], indptr), shape=(n, d)), y


def dense(n: int, d: int, condition: float = 1.0) -> tuple[Any, Any]:
    """Gaussian columns whose scales fall from 1 to 1/condition, and a planted model's labels with noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * np.geomspace(1, 1 / condition, d)
    margins = X @ (rng.standard_normal(d) * np.geomspace(1, condition, d))
    return X, np.where(margins + margins.std() * rng.standard_normal(n) > 0, 1.0, -1.0)


def _breast_cancer() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(y == 1, 1.0, -1.0)


def _digits() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X, np.where(y % 2 == 0, 1.0, -1.0)


_OTHERS: dict[str, tuple[Callable[[], tuple[Any, Any]], str]] = {
    "breast-cancer": (_breast_cancer, "real"),
    "digits": (_digits, "real"),
    "tall-dense": (lambda: dense(100_000, 50), "synthetic"),
    "wide-dense": (lambda: dense(500, 5000), "synthetic"),
    "ill-conditioned": (lambda: dense(20_000, 100, condition=1e3), "synthetic"),
    "text-like": (lambda: text_like(50_000, 100_000, 60), "synthetic"),
}
PAPER = df.datasets.names()
NAMES = (*PAPER, *_OTHERS)


def load(name: str) -> Data:
    """The data of that name, or in the file at that path, ready to be fitted.

    Examples
    --------
    >>> digits = load("digits")
    >>> digits.X.shape, round(float(np.linalg.norm(digits.X, axis=1).max()), 12), digits.provenance
    ((1797, 64), 1.0, 'real')
    """
    if name in PAPER:
        paper = df.datasets.load(name, standin=df.datasets.describe(name).available is None).scaled()
        return Data(paper.X, paper.y, paper.provenance)
    if name in _OTHERS:
        make, provenance = _OTHERS[name]
        X, y = make()
    elif Path(name).is_file():
        X, y, provenance = read_examples(name)
    else:
        raise ValueError(f"There is no dataset or file called {name!r}; the names are {', '.join(NAMES)}.")
    return Data(_scaled(X), y, provenance)


def _scaled(X: Any) -> Any:
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X / np.linalg.norm(X, axis=1).max())
    X.data /= np.sqrt(X.multiply(X).sum(axis=1).max())
    return X
