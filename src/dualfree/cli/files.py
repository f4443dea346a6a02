"""Files that a command is given: read with the model's columns, or checked before work that would be lost."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from dualfree.io import read, read_table
from dualfree.optional import require

_TABLE = re.compile(r"\.(csv|parquet|pq)(\.(gz|bz2|xz))?$", re.IGNORECASE)
_SUFFIX = re.compile(r"(\.(svm|libsvm|txt|csv|parquet|pq|dfs))?(\.(gz|bz2|xz))?$", re.IGNORECASE)


def default_model_path(data: Path) -> Path:
    """Where `train` puts a model unless told: the data's name with ``.model``, in the present folder.

    Examples
    --------
    >>> default_model_path(Path("far/away/w8a.svm.xz")).name
    'w8a.model'
    """
    return Path(_SUFFIX.sub("", data.name) + ".model")


def check_output(path: Path, *inputs: Path | None) -> None:
    """Raise one sentence now if `path` could not be written later, or if writing it would destroy an input."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{path} cannot be written: there is no folder {folder}.")
    if path.is_dir():
        raise ValueError(f"{path} cannot be written: it is a folder.")
    if not os.access(folder, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise ValueError(f"{path} cannot be written: permission denied.")
    for given in inputs:
        if given is not None and path.exists() and given.exists() and path.samefile(given):
            raise ValueError(f"{path} would replace an input of this command; give another -o.")


def read_matching(
    path: Path, label: str | None, feature_names: Sequence[str] | None, n_features: int
) -> tuple[Any, NDArray[Any] | None]:
    """X with exactly the features of a model, and y, which is None for a table without a column of labels.

    Columns of a table are found by name, in any order; the column that is left is the label. LIBSVM text does not say
    how many features there are, so columns beyond its last nonzero are added.
    """
    if _TABLE.search(path.name) and feature_names is not None:
        return _read_columns(path, feature_names, label)
    data = read(path, label=label)
    X = data.X
    if issparse(X) and X.shape[1] < n_features:
        X = csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))
    if X.shape[1] != n_features:
        raise ValueError(f"{path} has {X.shape[1]} features, but the model was trained on {n_features}.")
    return X, data.y


def _read_columns(path: Path, wanted: Sequence[str], label: str | None) -> tuple[Any, NDArray[Any] | None]:
    names = _column_names(path)
    missing = [name for name in wanted if name not in names]
    others = [name for name in names if name not in wanted]
    if missing:
        raise ValueError(f"{path} lacks what the model was trained on: {_listed('column', missing)}.")
    if label is None and len(others) == 1:
        label = others[0]
    left = [name for name in others if name != label]
    if left:
        raise ValueError(
            f"{path} has {_listed('column', left)}, which the model was not trained on; drop all but one of "
            "them, the label."
        )
    # Without a label, the last feature plays its part until it is put back.
    X, y, found = read_table(path, label=names[-1] if label is None else label)
    if label is None:
        X, found = np.column_stack([X, y]), [*found, names[-1]]
    order = [found.index(name) for name in wanted]
    return np.ascontiguousarray(X[:, order]), None if label is None else y


def _listed(noun: str, names: list[str]) -> str:
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"the {noun}{'s' * (len(names) > 1)} {shown}"


def _column_names(path: Path) -> list[str]:
    if path.suffix.lower() in (".parquet", ".pq"):
        return list(require("pyarrow.parquet", "tables").read_schema(path).names)
    invalid = require("pyarrow", "tables").ArrowInvalid
    try:
        with require("pyarrow.csv", "tables").open_csv(path) as reader:
            return list(reader.schema.names)
    except invalid as error:
        raise ValueError(f"{path}: {error}") from None
