"""What each method would cost on a problem, before any of them has run; the unit is one nonzero of a dfSDCA step.

The constants are measured (``docs/performance.md``); a wrong guess costs time and never the answer.
"""

import math
from dataclasses import dataclass

import numpy as np

from dualfree.losses.builtin import BuiltIn
from dualfree.methods.newton import MOST_FEATURES, hessian_passes, sample_size
from dualfree.problem import Problem

_STEP = 20.0  # what a dfSDCA step costs beside its nonzeros: the loss, the random row
_PASS_NONZERO, _PASS_ROW = 0.7, 3.0  # a pass: sequential rows, losses by SIMD
_NEWTON_PASSES, _NEWTON_HESSIANS = 7.0, 2.0
_LBFGS_PASSES = 5.0  # for each factor e of the tolerance, at the best of condition numbers
_EPOCHS = 0.25  # epochs for each factor e of the tolerance and each unit of the condition number
_THREADED = 0.8  # of the ideal that a pass gains from threads


@dataclass(frozen=True)
class Costs:
    """Estimates, and the choice that follows."""

    dfsdca_epochs: float
    newton_epochs: float
    lbfgs_epochs: float

    @property
    def best(self) -> str:
        """The name of the cheapest method."""
        least = min(self.dfsdca_epochs, self.newton_epochs, self.lbfgs_epochs)
        return {self.dfsdca_epochs: "dfsdca", self.lbfgs_epochs: "lbfgs", self.newton_epochs: "newton"}[least]

    @property
    def reason(self) -> str:
        """The choice in words."""
        others = {"dfSDCA": self.dfsdca_epochs, "Newton's method": self.newton_epochs, "L-BFGS": self.lbfgs_epochs}
        shown = [f"{name} {cost:.2g}" for name, cost in others.items() if math.isfinite(cost)]
        return f"{self.best} was chosen; estimated costs in epochs of dfSDCA: {', '.join(shown)}"


def estimate(problem: Problem, tol: float, n_threads: int = 1) -> Costs:
    """What each method would cost, in epochs of dfSDCA; infinite for a method that cannot be used.

    Examples
    --------
    >>> import dualfree as df
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> problem = df.Problem(X, df.losses.Logistic(np.sign(X @ np.ones(5))), lam=1e-6)
    >>> estimate(problem, tol=1e-6).best
    'newton'
    """
    n, nonzeros = problem.n, float(problem.examples.nonzeros.sum()) + problem.n * problem.intercept
    digits = math.log(1 / min(max(tol, 1e-14), 0.1))
    epoch = nonzeros + _STEP * n
    one_pass = (_PASS_NONZERO * nonzeros + _PASS_ROW * n) / (1 + _THREADED * (n_threads - 1))
    if not isinstance(problem.loss, BuiltIn) or not problem.loss.all_convex:
        return Costs(1.0, math.inf, math.inf)
    square = float(np.mean(problem.l * problem.examples.weighted_square_norms(None)))
    condition = 1 + square / (problem.lam * n)
    newton = math.inf
    if problem.d <= MOST_FEATURES:
        hessians = _NEWTON_HESSIANS * hessian_passes(problem, sample_size(problem))
        newton = (_NEWTON_PASSES * one_pass + hessians * _PASS_NONZERO * nonzeros) / epoch
    lbfgs = math.inf if n_threads == 1 else _LBFGS_PASSES * digits * math.sqrt(condition) * one_pass / epoch
    return Costs(max(4.0, _EPOCHS * digits * condition), newton, lbfgs)
