"""Every sampling on n examples, in the library and in the reference, for the ESO and the drawing tests."""

from dataclasses import dataclass

import numpy as np

import dualfree as df
from dualfree.reference import samplings as reference

S = df.samplings


@dataclass(frozen=True)
class Case:
    """One sampling: `formula` tells whether the library uses β (and not an exact eigenvalue)."""

    name: str
    sampling: df.samplings.Sampling
    reference: reference.ReferenceSampling
    formula: bool = True


def random_partition(rng, n, count):
    """`count` non-empty groups of unequal sizes, not contiguous."""
    order = rng.permutation(n)
    cuts = np.sort(rng.choice(np.arange(1, n), size=count - 1, replace=False))
    return [sorted(piece.tolist()) for piece in np.split(order, cuts)]


def normalised(rng, n):
    p = rng.uniform(0.1, 1.0, size=n)
    return p / p.sum()


def sampling_cases(n, seed=0):
    """All built-in i.i.d. samplings with random parameters on n ≥ 6 examples."""
    rng = np.random.default_rng(seed)
    tau = int(rng.integers(2, n))
    p, coins = normalised(rng, n), rng.uniform(0.05, 1.0, size=n)
    coins[0] = 1.0
    groups = random_partition(rng, n, 3)
    q = normalised(rng, 3)
    pieces = np.array_split(rng.permutation(n), 2)
    halves = [sorted(part.tolist()) for part in pieces]
    unequal = [sorted(part.tolist()) for part in np.split(rng.permutation(n), [2])]
    inside = np.empty(n)
    for group in groups:
        inside[group] = normalised(rng, len(group))
    sets = [*groups, rng.choice(n, size=3, replace=False).tolist(), list(range(n))]
    weights = normalised(rng, len(sets))
    return [
        Case("uniform", S.Uniform(), reference.serial(np.full(n, 1 / n))),
        Case("serial", S.Serial(p), reference.serial(p)),
        Case("nice-1", S.Nice(1), reference.nice(n, 1)),
        Case("nice", S.Nice(tau), reference.nice(n, tau)),
        Case("nice-n", S.Nice(n), reference.nice(n, n)),
        Case("independent", S.Independent(coins), reference.independent(coins)),
        Case("chunks-1", S.Chunks(1, groups), reference.chunks(groups, 1)),
        Case("chunks-2", S.Chunks(2, groups), reference.chunks(groups, 2)),
        Case("chunks-3", S.Chunks(3, groups), reference.chunks(groups, 3)),
        Case("partition", S.Partition(groups, q), reference.partition(groups, q)),
        Case("distributed", S.Distributed(halves, 2), reference.distributed(halves, 2)),
        Case("distributed-unequal", S.Distributed(unequal, 2), reference.distributed(unequal, 2)),
        Case("distributed-1", S.Distributed(groups, 1), reference.distributed(groups, 1)),
        Case("buckets", S.Buckets(groups, inside), reference.buckets(groups, inside)),
        Case("set-list", S.SetList(sets, weights), reference.set_list(n, sets, weights), formula=False),
    ]


CASE_NAMES = [case.name for case in sampling_cases(6)]


def sampling_case(name, n, seed=0):
    return next(case for case in sampling_cases(n, seed) if case.name == name)


def as_batches(draws):
    """The sets of a `Draws`, one array for each iteration."""
    if draws.batch_start is None:
        return [draws.indices[t : t + 1] for t in range(draws.count)]
    return np.split(draws.indices, draws.batch_start[1:-1])
