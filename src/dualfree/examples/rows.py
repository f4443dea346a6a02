"""Rows of a matrix as examples, all of it together."""

from dualfree.examples.overlaps import RowOverlaps
from dualfree.examples.passes import RowPasses
from dualfree.examples.products import RowProducts


class Rows(RowPasses, RowOverlaps, RowProducts):
    """Rows of X as examples: ``A_i = x_i``, a view without a copy.

    Parameters
    ----------
    X : scipy.sparse CSR matrix or array, or ndarray, of shape (n, d)
        float32 or float64; int32 or int64 indices; any strides; may be read-only. Columns of a CSR row may
        be in any order, but none may appear twice.
    constant : bool
        Whether every row ends in one more feature that X does not hold, for the intercept. Its value is
        `constant_value`, the root mean square of the row norms: large enough that the intercept moves as fast as the
        other weights, small enough not to dominate them.
    n_threads : int
        Threads that look whether X is sound, and how long its rows are.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Rows(np.array([[3.0, 4.0], [0.0, 1.0]]))
    >>> rows.n, rows.d, rows.norms.tolist()
    (2, 2, [5.0, 1.0])
    """
