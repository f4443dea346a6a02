"""An α that is feasible for an intercept: ``Σ α_i = 0``, one number for each output."""

import numpy as np

from dualfree.arrays import Floats
from dualfree.intercept import balance
from dualfree.losses.base import Loss
from dualfree.losses.softmax import Softmax


def balanced(loss: Loss, a: Floats) -> Floats:
    """An a near the given one, in the conjugates' domain, with ``Σ a_i = 0``, as an intercept asks of the dual."""
    if loss.outputs is None:
        return balance(a)
    columns = a.reshape(-1, loss.outputs)
    if isinstance(loss, Softmax):
        return _balanced_softmax(loss, columns).ravel()
    return np.column_stack([balance(column) for column in columns.T]).ravel()


def _balanced_softmax(loss: Softmax, a: Floats) -> Floats:
    """Probabilities ``weight_i e_y − a_i`` must add up to the weight of each class.

    Classes with too much are scaled down in every example, and what an example gives up goes to the classes with too
    little, in the proportions of what they lack: no entry becomes negative, and every example keeps its sum.
    """
    weight = np.ones(len(a)) if loss.weight is None else loss.weight
    classes = np.zeros_like(a)
    classes[np.arange(len(a)), loss.y.astype(np.int64)] = weight
    shares = classes - a
    found, wanted = shares.sum(axis=0), classes.sum(axis=0)
    kept = np.where(found > wanted, wanted / np.where(found > 0, found, 1.0), 1.0)
    lacking = np.maximum(wanted - found, 0.0)
    if lacking.sum() == 0:
        return a
    moved = shares @ (1 - kept)
    return np.asarray(classes - shares * kept - np.outer(moved, lacking / lacking.sum()))
