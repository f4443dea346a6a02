"""Targets from outside for losses of several outputs: one number for each, or a class for each example."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualfree.arrays import Floats, shape_of, vector


def several_targets(y: ArrayLike) -> tuple[Floats, int | None]:
    """A vector with one target for each example, or an array with a row for each, and then their number.

    Examples
    --------
    >>> several_targets([1.0, 2.0])[1], several_targets([[1.0, 2.0]])[1]
    (None, 2)
    """
    shape = shape_of(y)
    if len(shape) != 2 or shape[1] < 2:  # a table with one column is a vector by mistake, and refused as one
        return vector("y", y), None
    table = np.asarray(y)
    return vector("y", table.ravel()).reshape(table.shape), int(table.shape[1])


def class_numbers(y: ArrayLike) -> tuple[Floats, NDArray[Any]]:
    """The number of each label in the sorted classes, and the classes, of which there must be at least two.

    Examples
    --------
    >>> class_numbers(["b", "a", "c", "a"])[0].tolist()
    [1.0, 0.0, 2.0, 0.0]
    """
    try:
        labels = np.asarray(y)
        classes, numbers = np.unique(labels, return_inverse=True)
    except (TypeError, ValueError):
        raise TypeError("y must be a vector of labels that can be sorted, of one type (text, or numbers).") from None
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}; it must be a vector of labels.")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        at = int(np.flatnonzero(~np.isfinite(labels))[0])
        raise ValueError(f"y[{at}] is {labels[at]}; every label must be finite.")
    if len(labels) and len(classes) < 2:
        raise ValueError(f"y has one class ({classes.tolist()[0]}); Softmax needs at least two.")
    return numbers.astype(np.float64), classes
