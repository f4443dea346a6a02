"""Samplings: which examples an iteration visits, with what probabilities p and ESO parameters v.

``sampling.bind(problem)`` gives `p`, `v` and `draw`. One file a family; a sampling of your own is a subclass
of `Sampling` with `probabilities` and `draw`.
"""

from dualfree.samplings.adaptive import Adaptive
from dualfree.samplings.base import BoundSampling, Draws, Sampling
from dualfree.samplings.batches import Independent, Nice
from dualfree.samplings.grouped import Buckets, Chunks, Distributed, Partition
from dualfree.samplings.names import by_name
from dualfree.samplings.restless import Restless
from dualfree.samplings.serial import Importance, RandomSerial, Serial, Shuffled, Uniform
from dualfree.samplings.sets import SetList

__all__ = [
    "Adaptive",
    "BoundSampling",
    "Buckets",
    "Chunks",
    "Distributed",
    "Draws",
    "Importance",
    "Independent",
    "Nice",
    "Partition",
    "RandomSerial",
    "Restless",
    "Sampling",
    "Serial",
    "SetList",
    "Shuffled",
    "Uniform",
    "by_name",
]
