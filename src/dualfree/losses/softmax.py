"""The softmax loss of multinomial logistic regression; its formulas live in ``cpp/vector_losses.hpp``."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.losses.builtin import BuiltIn
from dualfree.losses.targets import class_numbers


class Softmax(BuiltIn):
    """``f(z) = log Σ_k exp(z_k) − z_y``, z with one score for each class; 1/2-smooth.

    ``f*(−a) = Σ s_k log s_k`` for ``s = e_y − a`` in the simplex. The examples become multi-output: w has a column for
    each class, in the order of `classes`, and α one for each too.

    Parameters
    ----------
    y : array of length n
        Labels of any kind that can be sorted; the classes are those that appear.
    weight : array of length n, optional
        One factor for each example.

    Examples
    --------
    >>> import dualfree as df
    >>> loss = Softmax(["red", "green", "blue", "red"])
    >>> loss.classes.tolist(), loss.y.tolist(), loss.outputs
    (['blue', 'green', 'red'], [2.0, 1.0, 0.0, 2.0], 3)
    >>> loss.value(np.zeros((1, 3)), [2.0]).round(4).tolist()  # log 3
    [1.0986]
    >>> df.solve(df.Problem(np.eye(4), loss, lam=0.1)).w.shape
    (4, 3)
    """

    kind = "softmax"
    largest_curvature = 0.5
    classes: NDArray[Any]

    def _targets(self, y: ArrayLike) -> Floats:
        numbers, self.classes = class_numbers(y)
        self.outputs = len(self.classes)
        return numbers

    def value(self, z: ArrayLike, y: ArrayLike) -> Floats:
        """``f`` for rows of scores z and class numbers y."""
        scores, places, loss = self._rows(z, y)
        out = np.empty(len(scores))
        kernels.vector_slopes(places, loss, scores.ravel(), np.empty(scores.size), out)
        return out

    def derivative(self, z: ArrayLike, y: ArrayLike) -> Floats:
        """``∇f``: the probabilities of the classes, less one for the right one."""
        scores, places, loss = self._rows(z, y)
        out = np.empty(scores.size)
        kernels.vector_slopes(places, loss, scores.ravel(), out)
        return out.reshape(scores.shape)

    def conjugate(self, a: ArrayLike, y: ArrayLike) -> Floats:
        """``f*(−a)`` for rows a, infinite outside its domain."""
        rows, places, loss = self._rows(a, y)
        out = np.empty(len(rows))
        kernels.vector_conjugates(places, loss, rows.ravel(), out)
        return out

    def _rows(self, z: ArrayLike, y: ArrayLike) -> tuple[Floats, tuple[int, int], tuple[Any, ...]]:
        scores = np.ascontiguousarray(z, dtype=np.float64)
        numbers = np.ascontiguousarray(np.broadcast_to(np.asarray(y, dtype=np.float64), scores.shape[:1]))
        return scores, (len(scores), scores.shape[1]), (self.kind, numbers, None)
