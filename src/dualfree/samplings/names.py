"""Samplings by name, for the terminal and for strings in programs."""

from collections.abc import Callable

from dualfree.samplings.adaptive import Adaptive
from dualfree.samplings.base import Sampling
from dualfree.samplings.batches import Independent, Nice
from dualfree.samplings.grouped import Buckets, Chunks, Distributed, Partition
from dualfree.samplings.restless import Restless
from dualfree.samplings.serial import Importance, RandomSerial, Shuffled, Uniform

_NAMES: dict[str, tuple[Callable[..., Sampling], tuple[type, ...]]] = {
    "uniform": (Uniform, ()),
    "importance": (Importance, ()),
    "shuffled": (Shuffled, ()),
    "adaptive": (Adaptive, ()),
    "restless": (Restless, ()),
    "random": (RandomSerial, (float,)),
    "nice": (Nice, (int,)),
    "independent": (Independent, (float,)),
    "chunks": (Chunks, (int,)),
    "partition": (Partition, (int,)),
    "distributed": (Distributed, (int, int)),
    "buckets": (Buckets, (int,)),
}

FORMS = ", ".join(
    ":".join([name, *("NUMBER" if kind is int else "FRACTION" for kind in kinds)])
    for name, (_, kinds) in _NAMES.items()
)


def by_name(text: str) -> Sampling:
    """The sampling that a short text names, such as ``shuffled``, ``nice:8``, ``chunks:8`` or ``distributed:4:2``.

    Examples
    --------
    >>> by_name("nice:8")
    Nice(tau=8)
    >>> by_name("distributed:4:2")
    Distributed(parts=4, tau=2)
    """
    if not isinstance(text, str):
        raise TypeError(f"sampling is {text!r:.60}; its name must be a text, one of: {FORMS}.")
    name, *arguments = text.split(":")
    if name not in _NAMES or len(arguments) != len(_NAMES[name][1]):
        raise ValueError(f"sampling is {text!r}; it must be one of: {FORMS}.")
    make, kinds = _NAMES[name]
    try:
        values = [kind(argument) for kind, argument in zip(kinds, arguments, strict=True)]
    except ValueError:
        raise ValueError(f"sampling is {text!r}; what follows a colon must be a number.") from None
    return make(*values)
