"""Losses φ_i: what a problem does with the margins ``z_i = A_iᵀw``.

A loss is `value`, `derivative` and `smoothness`; that is all that dfSDCA needs. The built-in ones also have a
conjugate, which gives a duality gap; `Sigmoid`, `Savage` and `Tukey` are bounded, which comes without any guarantee.
"""

from dualfree.losses.base import Loss
from dualfree.losses.bounded import Savage, Sigmoid, Tukey
from dualfree.losses.builtin import Huber, Logistic, SmoothedHinge, Squared, SquaredHinge
from dualfree.losses.choice import ConditionalLogit, ListNet
from dualfree.losses.softmax import Softmax
from dualfree.losses.unlabelled import PositiveUnlabelled
from dualfree.losses.vectors import BlockLoss, MultiOutputLoss

__all__ = [
    "BlockLoss",
    "ConditionalLogit",
    "Huber",
    "ListNet",
    "Logistic",
    "Loss",
    "MultiOutputLoss",
    "PositiveUnlabelled",
    "Savage",
    "Sigmoid",
    "SmoothedHinge",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "Tukey",
]
