"""Losses φ_i: what a problem does with the margins ``z_i = A_iᵀw``.

A loss is `value`, `derivative` and `smoothness`; that is all that dfSDCA needs. The built-in ones also have a
conjugate, which gives a duality gap.
"""

from dualfree.losses.base import Loss
from dualfree.losses.builtin import Huber, Logistic, SmoothedHinge, Squared, SquaredHinge

__all__ = ["Huber", "Logistic", "Loss", "SmoothedHinge", "Squared", "SquaredHinge"]
