"""The Hessian of a sample of the examples, and of all those with features that the sample has never seen."""

import numpy as np

from dualfree.arrays import Floats
from dualfree.evaluation import Look
from dualfree.inner import inner
from dualfree.methods.newton_plan import Sample
from dualfree.problem import Problem

# Share of P by which steps along unseen features may claim to lower it before that is looked into. What they do instead
# is worse by a factor, the curvature divided by λ: on one-hot data 1e-4 did no harm, and 1e-3 doubled the passes.
_PROMISE = 3e-4


def sampled_hessian(problem: Problem, margins: Floats, sample: Sample, here: Look | None, n_threads: int = 1) -> Floats:
    """The upper triangle of an estimate of ``∇²P`` from the examples S of a `sample`, in one or two strata.

    Rare categories are features that S may lack. There its Hessian is λ and nothing else, so that Newton's step is
    ``(λw_j − ∇_jP)/λ``, the longer the smaller λ, and wrecks all others. Where these steps promise to lower P by much,
    all examples R with a feature that S lacks become a stratum of their own, and since S holds none of R, what S stands
    for is less by R's share of all curvature. To find R is one pass; more examples than S has would cost too much.

    Examples
    --------
    >>> import dualfree as df
    >>> X = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    >>> problem = df.Problem(X, df.losses.Squared(np.array([1.0, 1.0, 1.0, 9.0])), lam=0.1)
    >>> here = problem.look(np.zeros(2))
    >>> np.triu(sampled_hessian(problem, here.margins, Sample(np.array([0, 1]), np.array([0.5, 0.5])), here)).round(6)
    array([[1.1 , 0.25],
           [0.  , 0.35]])
    """
    hessian = problem.weighted_hessian(sample.weights, sample.indices, n_threads=n_threads)
    if here is None:
        return hessian
    penalised = slice(0, problem.free.start)
    unseen = np.einsum("jj->j", hessian)[penalised] <= problem.lam
    pull = (here.evaluation.gradient[penalised] - problem.lam * here.w[penalised])[unseen]
    if inner(pull, pull) <= 2 * problem.lam * _PROMISE * abs(here.evaluation.value):
        return hessian
    chosen = np.zeros(problem.d)
    chosen[penalised][unseen] = 1.0
    holding = np.flatnonzero(problem.examples.weighted_square_norms(chosen))
    if len(holding) > len(sample.indices):
        return hessian
    own = problem.curvatures(margins, holding) / problem.n
    share = float(own.sum()) / max(float(sample.weights.sum()), 1e-300)
    hessian *= 1 - share
    hessian += problem.weighted_hessian(own, holding, n_threads=n_threads)
    np.einsum("jj->j", hessian)[penalised] -= (1 - share) * problem.lam
    return hessian
