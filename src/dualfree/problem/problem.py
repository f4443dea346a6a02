"""The problem, all of it together."""

from functools import cached_property

from dualfree.convexity import Convexity, convexity_of
from dualfree.problem.passes import Passes


class Problem(Passes):
    """``P(w) = (1/n) Σ φ_i(A_iᵀ w) + (λ/2)‖w‖²``, or with an intercept b ``(1/n) Σ φ_i(x_iᵀ w + b) + (λ/2)‖w‖²``.

    A `regulariser` may add ``μ‖w‖₁`` to either.

    Parameters
    ----------
    X : scipy.sparse CSR matrix or array, or ndarray, of shape (n, d), or Blocks, or Store
        float32 or float64; int32 or int64 indices; may be read-only. It is never copied and never written to. With
        `dualfree.Blocks`, an example is a group of rows. A `Store` (see `dualfree.open_store`) is for data larger than
        memory.
    loss : Loss
        One of `dualfree.losses`, or your own, holding one target for each row. With a loss of m outputs, such as
        `Softmax`, w has shape (d, m) and α (n, m).
    lam : float
        λ > 0.
    intercept : bool
        Whether there is an intercept; it is not penalised. Then every w has one entry more, the last, which is b.
    regulariser : L2 or L2L1, optional
        One of `dualfree.regularisers`: ``L2L1(mu)`` adds ``μ‖w‖₁``. The plain squared norm by default.
    n_threads : int, optional
        Threads that look whether X is sound, which takes about half a pass; None is all cores.

    Notes
    -----
    Memory beyond X: O(n + d).

    An intercept is one more feature of the examples, with the same value κ in every row, around a centre that moves
    (see `dualfree.intercept`); `norms`, `L` and `primal` speak of the examples with that feature.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> from dualfree.losses import Squared
    >>> problem = Problem(X, Squared([1.0, 2.0]), lam=0.5)
    >>> problem.value([0.0, 0.0]), problem.gradient([0.0, 0.0]).tolist(), problem.L.tolist()
    (1.25, [-0.5, -2.0], [1.0, 2.0])
    """

    @cached_property
    def convexity(self) -> Convexity:
        """What is known of the convexity of P; where some φ_i is not convex, finding out may cost some passes.

        Who knows better may set it: ``problem.convexity = Convexity(True, problem.lam, "why")``.
        """
        return convexity_of(self)
