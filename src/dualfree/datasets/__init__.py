"""The paper's datasets by name, and generated stand-ins of the same shape where a file cannot be had."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from dualfree.datasets.files import (
    DatasetMismatch,
    DatasetUnavailable,
    Provenance,
    download,
    find_file,
    read_checked,
)
from dualfree.datasets.registry import ENTRIES, find_entry
from dualfree.datasets.standins import generate

__all__ = ["Dataset", "DatasetMismatch", "DatasetUnavailable", "Description", "describe", "load", "names"]


@dataclass(frozen=True)
class Dataset:
    """Examples, labels and where they come from; unpacks as ``X, y``.

    Attributes
    ----------
    X : scipy.sparse.csr_matrix of float64
        One row an example.
    y : ndarray of float64
        -1 and +1, or the file's own labels.
    name : str
        As in `names`.
    provenance : {"real", "reconstructed", "stand-in"}
        "reconstructed" data stand for the original but differ from it; a "stand-in" is generated.
    """

    X: csr_matrix
    y: NDArray[np.float64]
    name: str
    provenance: Provenance

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def scaled(self) -> "Dataset":
        """Divide X by its largest row norm, as the paper does: copies the values, shares the index arrays.

        Examples
        --------
        >>> X, y = load("w8a", standin=True, n=100).scaled()
        >>> float(X.power(2).sum(axis=1).max().round(12))
        1.0
        """
        squares = np.asarray(self.X.multiply(self.X).sum(axis=1))
        values = self.X.data / np.sqrt(squares.max())
        return replace(self, X=csr_matrix((values, self.X.indices, self.X.indptr), shape=self.X.shape))


@dataclass(frozen=True)
class Description:
    """What is known of a dataset.

    `available` is its provenance on this machine now, None if it is not here; `difference` says how a
    reconstruction differs from the original.
    """

    name: str
    n: int
    d: int
    nnz: int
    classes: dict[int, int]
    source: str
    available: Provenance | None
    path: str | None
    difference: str | None


def names() -> tuple[str, ...]:
    """Return the names that `load` knows.

    Examples
    --------
    >>> names()
    ('w8a', 'dorothea', 'protein', 'rcv1', 'cov1')
    """
    return tuple(ENTRIES)


def describe(name: str) -> Description:
    """Return the facts about a dataset, and whether it is on this machine. Downloads nothing.

    Examples
    --------
    >>> about = describe("w8a")
    >>> about.n, about.d, about.nnz
    (49749, 300, 579586)
    """
    entry = find_entry(name)
    path = find_file(name)
    available: Provenance | None = None
    if path is not None:
        # Only reading tells an original from its reconstruction.
        available = "real" if entry.reconstruction is None else read_checked(entry, path)[2]
    remade = entry.reconstruction if available == "reconstructed" else None
    return Description(
        name=name,
        n=entry.n,
        d=entry.d,
        nnz=remade.nnz if remade else entry.nnz,
        classes=dict(entry.classes),
        source=entry.source,
        available=available,
        path=None if path is None else str(path),
        difference=remade.difference if remade else None,
    )


def load(
    name: str, *, standin: bool = False, seed: int = 0, n: int | None = None, original_labels: bool = False
) -> Dataset:
    """Load a dataset of the paper, or generate its stand-in.

    The file is looked for in the folder that the environment variable ``DUALFREE_DATA`` names (``NAME.svm``,
    or that with ``.xz``, ``.gz`` or ``.bz2``), then in the cache (``DUALFREE_CACHE``, else the system's usual
    place), then fetched from its public home into the cache.

    Parameters
    ----------
    name : {"w8a", "dorothea", "protein", "rcv1", "cov1"}
        Which.
    standin : bool
        Instead of looking for a file, generate data with the same n, d, distribution of nonzeros per row,
        style of values and balance of classes. Numbers measured on it say nothing about the real data.
    seed : int
        Of the stand-in. The same seed gives the same data.
    n : int, optional
        The number of rows of the stand-in, if not that of the original.
    original_labels : bool
        Keep the file's own labels. By default y is +1 for class 1 of protein, for label 2 of cov1 (all cover
        types but type 2, which has label 1), and for label 1 elsewhere; it is -1 for all others.

    Returns
    -------
    Dataset
        Unpacks as ``X, y``; its ``provenance`` says what it is.

    Raises
    ------
    DatasetUnavailable
        An OSError: the file is nowhere and cannot be fetched.
    DatasetMismatch
        A ValueError: the file found is another one, or damaged.

    Examples
    --------
    >>> data = load("w8a", standin=True, n=1000)
    >>> data.X.shape, data.provenance
    ((1000, 300), 'stand-in')
    >>> X, y = data
    >>> np.unique(y)
    array([-1.,  1.])
    """
    entry = find_entry(name)
    provenance: Provenance = "stand-in"
    if standin:
        X, y = generate(entry, seed, n)
    elif n is not None:
        raise ValueError("n is for stand-ins; pass standin=True, or take the first rows of the real data.")
    else:
        X, y, provenance = read_checked(entry, find_file(name) or download(entry))
    if not original_labels:
        y = np.where(y == entry.positive, 1.0, -1.0)
    return Dataset(X, y, name, provenance)
