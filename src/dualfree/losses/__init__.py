"""Losses φ_i: what a problem does with the margins ``z_i = A_iᵀw``.

A loss is `value`, `derivative` and `smoothness`; that is all that dfSDCA needs. The built-in ones also have a
conjugate, which gives a duality gap; `Sigmoid`, `Savage` and `Tukey` are bounded, which comes without any guarantee.
"""

from dualfree.losses.base import Loss
from dualfree.losses.bounded import Savage, Sigmoid, Tukey
from dualfree.losses.builtin import Huber, Logistic, SmoothedHinge, Squared, SquaredHinge
from dualfree.losses.unlabelled import PositiveUnlabelled

__all__ = [
    "Huber",
    "Logistic",
    "Loss",
    "PositiveUnlabelled",
    "Savage",
    "Sigmoid",
    "SmoothedHinge",
    "Squared",
    "SquaredHinge",
    "Tukey",
]
