"""Anybody's file as data of the race: two classes, -1 and +1, whatever the labels are called."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from dualfree.io import read

_SPARSE = ("data", "indices", "indptr", "shape")  # what scipy.sparse.save_npz writes of a CSR matrix


def read_examples(path: str) -> tuple[Any, NDArray[np.float64], str]:
    r"""X in float64, y of ±1, and how the classes came about, of a LIBSVM, CSV, Parquet or ``.npz`` file.

    A ``.npz`` file has `y`, and `X` or the four arrays that `scipy.sparse.save_npz` writes of a CSR matrix.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "three.svm").write_text("1 1:1\n2 1:2\n3 2:1\n2 2:3\n")
    ...     X, y, provenance = read_examples(folder + "/three.svm")
    >>> X.shape, y.tolist(), provenance
    ((4, 2), [-1.0, 1.0, -1.0, 1.0], 'file, class 2 against 2 others')
    """
    if path.lower().endswith(".npz"):
        X, labels = _read_npz(path)
    else:
        found = read(path)
        X, labels = found.X, found.y
    if not (X.data if issparse(X) else X).any():
        raise ValueError(f"{path}: every value is 0, so that rows cannot be scaled to a largest norm of 1.")
    y, provenance = two_classes(path, labels)
    return X, y, provenance


def two_classes(path: str, labels: NDArray[Any]) -> tuple[NDArray[np.float64], str]:
    """The greater of two labels is +1; of more, the most frequent one, and of equally frequent ones the least.

    Examples
    --------
    >>> two_classes("mail.csv", np.array(["spam", "ham", "spam"]))
    (array([ 1., -1.,  1.]), 'file')
    """
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"{path}: the labels are all {classes[0]}, but the race needs two classes.")
    if len(classes) == 2:
        return np.where(labels == classes[1], 1.0, -1.0), "file"
    chosen = classes[np.argmax(counts)]
    shown = f"{chosen:g}" if np.issubdtype(classes.dtype, np.number) else str(chosen)
    return np.where(labels == chosen, 1.0, -1.0), f"file, class {shown} against {len(classes) - 1} others"


def _read_npz(path: str) -> tuple[Any, NDArray[Any]]:
    with np.load(path) as arrays:
        names = [name for name in ("X", "y", *_SPARSE) if name in arrays]
        found = {name: arrays[name] for name in names}
    if "y" not in found or not ("X" in found or set(_SPARSE) <= set(found)):
        shown = ", ".join(names) or "none of them"
        raise ValueError(f"{path}: expected the arrays y and X, or y, {', '.join(_SPARSE)}, found {shown}.")
    if "X" in found:
        X: Any = np.ascontiguousarray(found["X"], dtype=np.float64)
    else:
        parts = (found["data"].astype(np.float64), found["indices"], found["indptr"])
        X = csr_matrix(parts, shape=tuple(found["shape"]))
    if X.ndim != 2 or found["y"].shape != X.shape[:1]:
        raise ValueError(f"{path}: X has the shape {X.shape} and y {found['y'].shape}; expected (n, d) and (n,).")
    return X, found["y"]
