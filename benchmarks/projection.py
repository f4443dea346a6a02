"""From the measured costs of a round and of a nonzero to a cluster that is not at hand: arithmetic, no measurement."""

import math
from dataclasses import dataclass

from dualfree.distributed.choice import best_length, stretch

_FAN = 8  # reports that one task of the reduction adds up


@dataclass(frozen=True)
class Costs:
    """Seconds, measured by ``python -m benchmarks.cluster costs``."""

    round: float
    """A round of two partitions with hardly any work."""
    partition: float
    """What each further partition adds to a round."""
    byte: float
    """What each byte of w adds to a round, there and back."""
    step: float
    """A nonzero of a step of dfSDCA."""
    nonzero: float
    """A nonzero of a pass."""


def project(
    costs: Costs, *, workers: int, nonzeros: float, features: int, epochs: float = 6.0, passes: float = 30.0
) -> str:
    """Seconds of a fit by rounds of dfSDCA and by L-BFGS, with the arithmetic.

    `epochs` are those of one partition, which more partitions stretch as `dualfree.distributed.choice.stretch` says.
    Every level of the reduction tree, with the one at which workers pass w on to each other, is taken to cost the bytes
    of w once more.

    Examples
    --------
    >>> print(project(Costs(0.01, 0.0, 0.0, 2e-9, 1e-9), workers=10, nonzeros=1e9, features=100))  # doctest: +ELLIPSIS
    overhead of a round: 0.0100 + 10 × 0.00000 + 2 levels × 800 bytes × 0.00e+00 = 0.010 s
    ...
    """
    levels = max(1, math.ceil(math.log(workers, _FAN)))
    overhead = costs.round + workers * costs.partition + levels * 8 * features * costs.byte
    share = nonzeros / workers
    epoch, one_pass = share * costs.step, share * costs.nonzero
    length = best_length(overhead, epoch, workers)
    stretched = epochs * (1 + stretch(workers) * length)
    rounds = stretched / length
    by_rounds, by_passes = rounds * (length * epoch + overhead), passes * (one_pass + overhead)
    return "\n".join(
        [
            f"overhead of a round: {costs.round:.4f} + {workers} × {costs.partition:.5f} + {levels} levels × "
            f"{8 * features:,} bytes × {costs.byte:.2e} = {overhead:.3f} s",
            f"a worker's share: {nonzeros:.0e} / {workers} = {share:.0e} nonzeros; an epoch of steps {epoch:.3f} s, "
            f"a pass {one_pass:.3f} s",
            f"dfSDCA: {epochs:g} × (1 + {stretch(workers):.0f} × {length:g}) epochs in rounds of {length:g}: "
            f"{rounds:.0f} × "
            f"({length * epoch:.3f} + {overhead:.3f}) s = {by_rounds:.0f} s",
            f"L-BFGS: {passes:g} passes × ({one_pass:.3f} + {overhead:.3f}) s = {by_passes:.0f} s",
        ]
    )
