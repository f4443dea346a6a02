"""Multiples of α: after a round of visits, α and w times the number at which the dual is largest."""

from typing import NamedTuple

from dualfree.arrays import largest_of
from dualfree.losses.builtin import BuiltIn
from dualfree.problem import Problem
from dualfree.samplings.restless import RestlessBound

# In nonzeros of a dfSDCA step, measured (docs/performance.md): a look at an example's α, and a visit beside its row.
_LOOK, _VISIT = 0.6, 25.0


class Rescaling(NamedTuple):
    """What a look at all of α costs in rounds, and ``1/l``, which tells what visits win at least."""

    price: float
    flatness: float


def can_rescale(problem: Problem) -> bool:
    """Whether the kernels know the dual along the ray of all multiples of α.

    Examples
    --------
    >>> import dualfree as df
    >>> import numpy as np
    >>> [can_rescale(df.Problem(np.eye(2), df.losses.Squared(y), lam=1.0)) for y in (np.ones(2), np.ones((2, 3)))]
    [True, False]
    """
    loss = problem.loss
    return isinstance(loss, BuiltIn) and loss.has_ray and loss.outputs is None


def rescaling_of(bound: RestlessBound) -> Rescaling:
    """For the rounds of one problem.

    Examples
    --------
    >>> import dualfree as df
    >>> import numpy as np
    >>> problem = df.Problem(np.ones((160, 35)), df.losses.Logistic(np.arange(160) > 80), lam=1.0)
    >>> rescaling_of(df.samplings.Restless().bind(problem))
    Rescaling(price=0.08, flatness=4.0)
    """
    problem = bound.problem
    visits = bound.round_length * (_VISIT + problem.examples.products / problem.n)
    return Rescaling(_LOOK * problem.n / visits, 1 / largest_of(problem.common_l))
