"""Tables with one example a row: CSV and Parquet, through pyarrow."""

import importlib
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LABEL_NAMES = ("label", "target", "y")
_SUFFIXES = (".csv", ".parquet", ".pq")


class TableData(NamedTuple):
    """What `read_table` returns; unpacks as ``X, y, feature_names``."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    feature_names: list[str]


def is_table(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a table by its name, compressed or not; all else is LIBSVM text."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in (".gz", ".bz2", ".xz"):
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in _SUFFIXES


def read_table(path: str | os.PathLike[str], *, label: str | int | None = None) -> TableData:
    r"""Read a CSV file (with a header line) or a Parquet file whose columns but one are numbers.

    Parameters
    ----------
    path : str or path
        ``.parquet`` or ``.pq`` is read as Parquet, all else as CSV (``.csv.gz`` and ``.csv.bz2`` too).
    label : str or int, optional
        The column of labels, by name or by position (-1 is the last). By default the column called "label",
        "target" or "y", in this order; if there is none, the last.

    Returns
    -------
    X : ndarray of float64, shape (n, d), C-contiguous
        The other columns in the file's order.
    y : ndarray
        The labels: float64 if they are numbers, else strings.
    feature_names : list of str
        The names of the columns of X.

    Raises
    ------
    ValueError
        One sentence that names the column: it holds text or a missing value, or `label` is not there.
    ImportError
        If pyarrow is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.csv").write_text("size,weight,label\n1,0.5,cat\n2,2.5,dog")
    ...     X, y, names = read_table(folder + "/a.csv")
    >>> X
    array([[1. , 0.5],
           [2. , 2.5]])
    >>> y.tolist(), names
    (['cat', 'dog'], ['size', 'weight'])
    """
    name = os.fspath(path)
    table = _load(name)
    if table.num_columns < 2 or table.num_rows == 0:
        raise ValueError(
            f"{name}: expected a label, at least one feature and one example, "
            f"found {table.num_columns} columns and {table.num_rows} rows."
        )
    names = [str(column) for column in table.column_names]
    at = label_position(name, names, label)
    return split_label(name, table, at)


def split_label(name: str, table: Any, at: int, first: int = 0) -> TableData:
    """The column `at` of a pyarrow table as labels and all others as features; `first` rows came before it."""
    names = [str(column) for column in table.column_names]
    features = [i for i in range(len(names)) if i != at]
    X = np.empty((table.num_rows, len(features)))
    for column, i in enumerate(features):
        X[:, column] = _numbers(name, names[i], table.column(i), first)
    return TableData(X, _labels(name, names[at], table.column(at), first), [names[i] for i in features])


def _load(name: str) -> Any:
    parquet = Path(name).suffix in (".parquet", ".pq")
    try:
        module = importlib.import_module("pyarrow.parquet" if parquet else "pyarrow.csv")
        invalid = importlib.import_module("pyarrow").ArrowInvalid
    except ImportError:
        raise ImportError(
            f'{name}: reading tables needs pyarrow, which comes with: pip install "dualfree[tables]".'
        ) from None
    try:
        # One thread: the caller decides about threads, not a reader.
        if parquet:
            return module.read_table(name, use_threads=False)
        return module.read_csv(name, read_options=module.ReadOptions(use_threads=False))
    except invalid as error:
        raise ValueError(f"{name}: {' '.join(str(error).split()).rstrip('.')}.") from None


def label_position(path: str, names: list[str], label: str | int | None) -> int:
    """The number of the column of labels; see `read_table`."""
    if label is None:
        return next((names.index(name) for name in LABEL_NAMES if name in names), len(names) - 1)
    if isinstance(label, str):
        if names.count(label) != 1:
            found = f"found {names.count(label)}" if label in names else f"the columns are {', '.join(names)}"
            raise ValueError(f"{path}: expected one column called {label!r} for the labels, {found}.")
        return names.index(label)
    if not -len(names) <= label < len(names):
        raise ValueError(f"{path}: there is no column {label} for the labels; there are {len(names)}, counted from 0.")
    return label % len(names)


def _refuse_missing(path: str, name: str, column: Any, first: int) -> None:
    if column.null_count:
        row = first + int(np.flatnonzero(column.is_null().to_numpy())[0]) + 1
        raise ValueError(f"{path}: column {name!r} has no value in data row {row}; fill or drop such rows first.")


def _numbers(path: str, name: str, column: Any, first: int) -> NDArray[np.float64]:
    types = importlib.import_module("pyarrow").types
    _refuse_missing(path, name, column, first)
    kind = column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)):
        raise ValueError(f"{path}: column {name!r} holds {kind} values, but features must be numbers.")
    numbers = np.asarray(column.to_numpy(), dtype=np.float64)
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        raise ValueError(
            f"{path}: column {name!r} holds {numbers[row]} in data row {first + row + 1}; it must be finite."
        )
    return numbers


def _labels(path: str, name: str, column: Any, first: int) -> NDArray[Any]:
    types = importlib.import_module("pyarrow").types
    _refuse_missing(path, name, column, first)
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_string(kind) or types.is_large_string(kind):
        return np.array(column.to_pylist(), dtype=np.str_)
    return _numbers(path, name, column, first)
