"""How the nonzeros of examples overlap, feature by feature: what ESO parameters are made of."""

import numpy as np

from dualfree import memory
from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.examples.held import Held
from dualfree.groups import Groups


class RowOverlaps(Held):
    """Sums over the examples that have a nonzero in a feature."""

    def feature_sums(self, mass: Floats | None = None) -> Floats:
        """For each feature j, the sum of `mass` over the examples with a nonzero in j; their number if None."""
        out = np.zeros(self.d)
        kernels.feature_sums(self.native, mass, out)
        return out

    def feature_squares(self, mass: Floats) -> Floats:
        """``Σ_i mass_i A_ij²`` for each feature j."""
        out = np.zeros(self.d)
        kernels.feature_squares(self.native, mass, out)
        return out

    def groups_touching(self, groups: Groups) -> Floats:
        """For each feature j, the groups of examples with a nonzero in j."""
        out = np.zeros(self.d)
        kernels.groups_touching(self.native, groups.members, groups.start, out)
        return out

    def grouped_square_norms(self, groups: Groups, mass: Floats | None, *beta: Floats) -> Floats:
        """``Σ_j β_ij A_ij²``, ``β_ij = constant_G + s_jG (slope_G + coupling_G feature_j)``, G the group of i.

        s_jG is the mass of the examples of G with a nonzero in j.
        """
        out = memory.empty(self.n)
        kernels.grouped_square_norms(self.native, groups.members, groups.start, mass, *beta, out)
        return out
