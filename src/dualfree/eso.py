"""Expected separable overapproximation: (examples, sampling) → v.

``v`` is an ESO for a sampling Ŝ if ``E‖Σ_{i∈Ŝ} A_i h_i‖² ≤ Σ p_i v_i ‖h_i‖²`` for all h. Every function here
is pure and returns ``v_i = Σ_j β_ij A_ij²`` for its sampling's β (the paper's reference [ESO] and others), or for
blocks ``v_i = λ_max(Σ_j β_ij a_ij a_ijᵀ)``, a_ij the j-th row of A_i, which is the same where m = 1;
J_j is the set of examples with a nonzero in feature j, ω_j their number.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from dualfree.arrays import Floats
from dualfree.examples import Rows
from dualfree.groups import Groups


def serial(examples: Rows) -> Floats:
    """One example at a time: ``v_i = ‖A_i‖²``.

    Examples
    --------
    >>> serial(Rows(np.array([[3.0, 4.0], [0.0, 1.0]]))).tolist()
    [25.0, 1.0]
    """
    return examples.square_norms


def nice(examples: Rows, tau: int) -> Floats:
    """τ examples without replacement: ``β_j = 1 + (ω_j − 1)(τ − 1)/max(1, n − 1)``."""
    omega = examples.feature_sums()
    return examples.weighted_square_norms(1 + (omega - 1) * (tau - 1) / max(1, examples.n - 1))


def independent(examples: Rows, p: Floats) -> Floats:
    """Each example by its own coin: ``β_ij = 1 − p_i + Σ_{k∈J_j} p_k``."""
    return examples.weighted_square_norms(1 + examples.feature_sums(p), p)


def chunks(examples: Rows, groups: Groups, tau: int) -> Floats:
    """τ of k chunks: ``β_ij = |J_j ∩ G(i)| · (1 + (κ_j − 1)(τ − 1)/max(1, k − 1))``, κ_j chunks touching j."""
    kappa = examples.groups_touching(groups)
    share = 1 + (kappa - 1) * (tau - 1) / max(1, groups.count - 1)
    return _by_group(examples, groups, coupling=1.0, feature=share)


def partition(examples: Rows, groups: Groups) -> Floats:
    """One block of a partition, with any probabilities: ``β_ij = |J_j ∩ G(i)|``."""
    return _by_group(examples, groups, slope=1.0)


def distributed(examples: Rows, groups: Groups, tau: int) -> Floats:
    """τ-nice in each part, independently; part l has s_l examples.

    ``β_ij = 1 + (ω_jl − 1)(τ − 1)/max(1, s_l − 1) + (ω'_j − 1)(τ/s_l) ω_jl``, with ω_jl = |J_j ∩ part l| and
    ω'_j the parts touching j. Parts may differ in size: the bound of each part's share of a row by
    Cauchy-Schwarz, and of the cross terms by ω'_j, uses that part's own size alone.
    """
    sizes = groups.sizes.astype(np.float64)
    ratio = (tau - 1) / np.maximum(1, sizes - 1)
    touching = examples.groups_touching(groups)
    return _by_group(examples, groups, constant=1 - ratio, slope=ratio, coupling=tau / sizes, feature=touching - 1)


def buckets(examples: Rows, groups: Groups, p: Floats) -> Floats:
    """One example of each bucket: ``β_ij = 1 + (ω'_j − 1) Σ_{k∈J_j∩bucket(i)} p_k``, ω'_j buckets touching j."""
    touching = examples.groups_touching(groups)
    return _by_group(examples, groups, mass=p, constant=1.0, coupling=1.0, feature=touching - 1)


def bounded(examples: Rows, tau: int) -> Floats:
    """Any sampling with |Ŝ| ≤ τ: ``β_j = min(ω_j, τ)``. The fall-back where nothing else is known."""
    return examples.weighted_square_norms(np.minimum(examples.feature_sums(), tau))


def exact(examples: Rows, p: Floats, pairs: NDArray[np.float64]) -> Floats:
    """The least constant v: ``λ_max(D^{-1/2} (P∘G) D^{-1/2})``, for small n.

    Parameters
    ----------
    examples : Rows
        With Gram matrix ``G_ij = A_iᵀA_j``.
    p : array of length n
        ``Prob(i ∈ Ŝ)``, the diagonal of D.
    pairs : array of shape (n, n)
        ``P_ij = Prob(i, j ∈ Ŝ)``.
    """
    scale, owner = 1 / np.sqrt(p), examples.owners
    matrix = pairs[np.ix_(owner, owner)] * examples.gram() * scale[owner][:, None] * scale[owner][None, :]
    largest = linalg.eigvalsh(matrix, subset_by_index=(len(owner) - 1, len(owner) - 1))[0]
    return np.full(examples.n, max(0.0, float(largest)))


def _by_group(
    examples: Rows,
    groups: Groups,
    *,
    mass: Floats | None = None,
    constant: float | Floats = 0.0,
    slope: float | Floats = 0.0,
    coupling: float | Floats = 0.0,
    feature: float | Floats = 0.0,
) -> Floats:
    """``β_ij = constant_G + s_jG (slope_G + coupling_G feature_j)``, s_jG the mass of J_j ∩ G, G the group of i."""

    def each(value: float | Floats, length: int) -> Floats:
        return np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype=np.float64), (length,)))

    by_group = [each(value, groups.count) for value in (constant, slope, coupling)]
    return examples.grouped_square_norms(groups, mass, *by_group, each(feature, examples.d))
