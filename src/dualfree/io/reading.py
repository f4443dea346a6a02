"""Read examples from any file that the package knows."""

import os
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from dualfree.io.libsvm import read_libsvm
from dualfree.io.tables import is_table, read_table
from dualfree.store.layout import is_store
from dualfree.store.opened import open_store


@dataclass(frozen=True)
class LabelledData:
    """Examples and their labels, as `read` found them.

    Attributes
    ----------
    X : scipy.sparse.csr_matrix, ndarray or Store
        One row an example.
    y : ndarray
        Labels: float64, or strings from a table.
    feature_names : list of str or None
        The columns' names, where the format has them.
    """

    X: Any
    y: NDArray[Any]
    feature_names: list[str] | None


def read(
    path: str | os.PathLike[str], *, label: str | int | None = None, memory_limit: int | str | None = None
) -> LabelledData:
    """Read a table (``.csv``, ``.csv.gz``, ``.parquet``), a store, or, for any other suffix, LIBSVM text.

    Parameters
    ----------
    path : str or path
        The file.
    label : str or int, optional
        The label's column in a table, see `read_table`. LIBSVM text has its labels in front.
    memory_limit : int or str, optional
        For stores, see `dualfree.open_store`; X of one that does not fit is the store itself.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.svm").write_text("1 2:0.5")
    ...     data = read(folder + "/a.svm")
    >>> data.X.toarray(), data.y
    (array([[0. , 0.5]]), array([1.]))
    """
    if is_store(path):
        store = open_store(path, memory_limit=memory_limit)
        return LabelledData(store.matrix() if store.fits else store, store.y, store.feature_names)
    if memory_limit is not None:
        raise ValueError(f"{os.fspath(path)}: memory_limit is for stores, which dualfree import makes of other files.")
    if is_table(path):
        X, y, feature_names = read_table(path, label=label)
        return LabelledData(X, y, feature_names)
    if label is not None:
        raise ValueError(f"{os.fspath(path)}: label={label!r} is for tables; LIBSVM text has its labels in front.")
    return LabelledData(*read_libsvm(path), None)
