"""Expected separable overapproximation (ESO): v from β, and the test that every v must pass."""

import numpy as np
from scipy import linalg

from dualfree.arrays import Floats
from dualfree.reference.samplings import ReferenceSampling, supports


def eso_parameters(X: Floats, sampling: ReferenceSampling) -> Floats:
    """``v_i = Σ_j β_ij A_ij²``, a double loop.

    Examples
    --------
    >>> from dualfree.reference.samplings import nice
    >>> eso_parameters(np.ones((3, 1)), nice(3, tau=2)).tolist()
    [2.0, 2.0, 2.0]
    """
    n, d = X.shape
    J = supports(X)
    v = np.zeros(n)
    for i in range(n):
        for j in range(d):
            if X[i, j] != 0:
                v[i] += sampling.beta(i, J[j]) * X[i, j] ** 2
    return v


def eso_constant(X: Floats, p: Floats, v: Floats, pairs: Floats) -> float:
    """``λ_max(Diag(p∘v)^{-1/2} (P∘G) Diag(p∘v)^{-1/2})`` with ``G_ij = A_iᵀA_j``: v is an ESO if and only if it is ≤ 1.

    This is ``E‖Σ_{i∈Ŝ} A_i h_i‖² ≤ Σ p_i v_i ‖h_i‖²`` for all h, because the left side is ``hᵀ(P∘G)h``. An example
    without nonzeros adds nothing to either side and is left out.

    Examples
    --------
    >>> X = np.ones((2, 1))
    >>> round(eso_constant(X, np.ones(2), np.full(2, 2.0), np.ones((2, 2))), 12)  # both examples, always: tight
    1.0
    """
    gram = X @ X.T
    used = np.diag(gram) > 0
    if not used.any():
        return 0.0
    if (v[used] <= 0).any():
        return np.inf
    scale = 1 / np.sqrt(p * v, where=used, out=np.ones(len(p)))
    matrix = (pairs * gram * np.outer(scale, scale))[np.ix_(used, used)]
    return float(linalg.eigvalsh(matrix).max())
