"""Read examples from any file that the package knows."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dualfree.io.libsvm import read_libsvm
from dualfree.io.tables import read_table

_TABLE_SUFFIXES = (".csv", ".parquet", ".pq")


@dataclass(frozen=True)
class LabelledData:
    """Examples and their labels, as `read` found them.

    Attributes
    ----------
    X : scipy.sparse.csr_matrix or ndarray
        One row an example.
    y : ndarray
        Labels: float64, or strings from a table.
    feature_names : list of str or None
        The columns' names, where the format has them.
    """

    X: Any
    y: NDArray[Any]
    feature_names: list[str] | None


def read(path: str | os.PathLike[str], *, label: str | int | None = None) -> LabelledData:
    """Read a table (``.csv``, ``.csv.gz``, ``.parquet``) or, for any other suffix, LIBSVM text.

    Parameters
    ----------
    path : str or path
        The file.
    label : str or int, optional
        The label's column in a table, see `read_table`. LIBSVM text has its labels in front.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.svm").write_text("1 2:0.5")
    ...     data = read(folder + "/a.svm")
    >>> data.X.toarray(), data.y
    (array([[0. , 0.5]]), array([1.]))
    """
    if is_table(path):
        X, y, feature_names = read_table(path, label=label)
        return LabelledData(X, y, feature_names)
    if label is not None:
        raise ValueError(f"{os.fspath(path)}: label={label!r} is for tables; LIBSVM text has its labels in front.")
    return LabelledData(*read_libsvm(path), None)


def is_table(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a table by its name, compressed or not; all else is LIBSVM text."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in (".gz", ".bz2", ".xz"):
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in _TABLE_SUFFIXES
