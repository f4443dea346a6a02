"""What each method would cost on a problem, before any of them has run; the unit is one nonzero of a dfSDCA step.

The constants are measured (``docs/performance.md``); a wrong guess costs time and never the answer. The costs are
those of one thread: so the choice, and with it every bit of the answer, does not depend on the number of threads, and
more threads cannot lead to a method that is slower.
"""

import math
from dataclasses import dataclass

from dualfree.examples.grams import CROWDED
from dualfree.losses.builtin import BuiltIn
from dualfree.methods.newton_plan import MOST_FEATURES, between, crowd, hessian_passes, plan_newton
from dualfree.problem import Problem
from dualfree.samplings import Uniform
from dualfree.steps import theorem_theta

# An entry of a dense row: of a dfSDCA step and of a pass, from a cache and from memory; and of a Hessian.
_DENSE_STEP, _DENSE_PASS, _DENSE_HESSIAN = (0.2, 0.4), (0.1, 0.2), 0.1
_CACHED = 1.5e6  # entries of X that stay in a cache from one pass to the next
_STEP = 24.0  # what a dfSDCA step costs beside its nonzeros: the loss, the random row, the choice of it
# A pass: sequential rows, losses by SIMD. The first number is for few features, whose w stays in the nearest cache.
_PASS_NONZERO, _PASS_ROW = (0.65, 0.85), 3.0
_LOOKS = 2.5  # evaluations of a run of dfSDCA and glances before them, in passes
# What Python costs: for an epoch of dfSDCA, for a pass of another method, and for a Hessian.
_CALL, _ITERATION, _FACTORISING = 20_000, 80_000, 40_000
# Epochs of dfSDCA with restless visits, for each factor e of the tolerance, and the power of the condition number that
# multiplies them: with few features, which many examples share, and with many; and how much more it is where the
# curvature is the same everywhere, so that no example is ever settled.
_EPOCHS, _NEVER_SETTLED = ((0.36, 0.52), (0.2, 0.4)), 0.15
# Examples for each feature below which they are less in each other's way, and that power is less, by a root of it.
_CROWD, _CROWD_ROOT = 2.5, 0.3
_FEWEST = (1.0, 0.28)  # epochs in any case: once, and for each factor e of the tolerance
_RENEWED = (50.0, 0.6)  # Hessians of Newton's method beside the first: the hardness that asks for one, and a power
# Passes of L-BFGS: so many times a power of the factors e of the tolerance and one of the condition number, with few
# and with many examples for each feature (see `crowd`); and where the curvature is the same everywhere, so that each
# step is the best one of its line.
_LBFGS = ((1.7, 4.2), (0.75, 0.53), (0.5, 0.15))
_LBFGS_QUADRATIC = ((2.8, 6.5), (0.6, 0.34), (0.31, 0.08))
# Times as many where the loss is straight nearly everywhere, and where X is dense or nearly so, whose features are
# seldom unlike, and examples may lose their curvature.
_LBFGS_STRAIGHT, _LBFGS_DENSE = 2.0, 1.5
_LBFGS_ROW, _LBFGS_ITERATION = 3.5, 40_000  # as those of a pass above
_LBFGS_FEATURE = 10.0  # what an iteration costs for each feature, beside the pass
# With several outputs: a pass in epochs of dfSDCA, and passes of L-BFGS, which begins with one curvature for all
# features, in those with one output: with few and with many examples for each feature.
_VECTOR_PASS, _VECTOR_TIMES = 0.45, (2.0, 1.7)
TITLES = {"dfsdca": "dfSDCA", "newton": "Newton's method", "lbfgs": "L-BFGS"}


@dataclass(frozen=True)
class Costs:
    """Estimates in epochs of dfSDCA, for each method that can be used; and an iteration of L-BFGS in these.

    An `epoch` costs as much as so many nonzeros of a dfSDCA step, where that is known.
    """

    epochs: dict[str, float]
    lbfgs_pass: float = 1.0
    epoch: float = math.nan

    def cheapest_beside(self, first: str) -> str | None:
        """The best of the other methods, if one can be used."""
        others = [name for name in self.epochs if name != first]
        return min(others, key=lambda name: self.epochs[name], default=None)

    @property
    def entries(self) -> float:
        """What the cheapest method costs, in nonzeros of a dfSDCA step."""
        return self.epoch * self.epochs[self.best]

    @property
    def best(self) -> str:
        """The cheapest method."""
        return min(self.epochs, key=lambda name: self.epochs[name])

    @property
    def reason(self) -> str:
        """The choice in words."""
        if len(self.epochs) == 1:
            return f"{TITLES[self.best]} is the only one of {', '.join(TITLES.values())} that takes this problem"
        shown = [f"{TITLES[name]} {cost:.2g}" for name, cost in self.epochs.items()]
        return f"{TITLES[self.best]} was chosen by estimated cost, in epochs of dfSDCA: {', '.join(shown)}"


def estimate(problem: Problem, tol: float) -> Costs:
    """What each method would cost.

    Examples
    --------
    >>> import dualfree as df
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> problem = df.Problem(X, df.losses.Logistic(np.sign(X @ np.ones(5))), lam=1e-6)
    >>> estimate(problem, tol=1e-6).best
    'newton'
    """
    concave = not problem.loss.all_convex
    if concave and problem.intercept:  # which dfSDCA does not take
        newton = problem.d <= MOST_FEATURES and problem.convexity.known is not False
        return Costs({"newton" if newton else "lbfgs": 1.0})
    if not isinstance(problem.loss, BuiltIn) or problem.mu > 0 or (concave and problem.loss.vector):
        return Costs({"dfsdca": 1.0})
    n, stored = problem.n, problem.examples.stored
    digits = math.log(1 / min(max(tol, 1e-14), 0.1))
    hardness = problem.hardness
    if problem.loss.vector:
        return _with_several_outputs(problem, tol, digits, hardness)
    step, entry, curvature = _entries(problem)
    epoch = step * stored + n * problem.intercept + _STEP * n + _CALL
    one_pass = entry * (stored + n * problem.intercept) + _PASS_ROW * n + _ITERATION
    looks = _LOOKS * one_pass / epoch
    epochs = {"dfsdca": _dfsdca(problem, digits, hardness) + looks}
    if concave:  # the steps of Theorem 1 are of order 1/n² at λ = 1/n
        rate = theorem_theta(Uniform().bind(problem), 1) * problem.convexity.sigma / problem.lam
        epochs["dfsdca"] = digits / (rate * n) + looks
    if problem.d <= MOST_FEATURES and problem.convexity.known is not False:
        sample, passes = plan_newton(problem, tol)
        again = 0.0 if problem.loss.quadratic else (hardness / _RENEWED[0]) ** _RENEWED[1]
        hessians = (1 + again) * (hessian_passes(problem, sample) * curvature * stored + _FACTORISING)
        epochs["newton"] = (passes * one_pass + hessians) / epoch
    lbfgs_pass = (entry * stored + _LBFGS_ROW * n + _LBFGS_ITERATION + _LBFGS_FEATURE * problem.d) / epoch
    epochs["lbfgs"] = _lbfgs_passes(problem, digits, hardness) * lbfgs_pass
    return Costs(epochs, lbfgs_pass, epoch)


def _entries(problem: Problem) -> tuple[float, float, float]:
    """What an entry of X costs in a dfSDCA step, in a pass and in the passes that a Hessian costs."""
    examples = problem.examples
    if not examples.dense:
        entry = _PASS_NONZERO[examples.d > MOST_FEATURES]
        return 1.0, entry, entry
    far = examples.stored > _CACHED
    return _DENSE_STEP[far], _DENSE_PASS[far], _DENSE_HESSIAN


def _lbfgs_passes(problem: Problem, digits: float, hardness: float) -> float:
    part = crowd(problem)
    times, power, root = (between(ends, part) for ends in (_LBFGS_QUADRATIC if problem.loss.quadratic else _LBFGS))
    found = times * digits**power * (1 + hardness) ** root
    if isinstance(problem.loss, BuiltIn) and problem.loss.straight:
        found *= _LBFGS_STRAIGHT
    examples = problem.examples
    if examples.stored >= CROWDED * problem.n * examples.d and not problem.loss.quadratic:
        found *= _LBFGS_DENSE
    return float(found)


def _dfsdca(problem: Problem, digits: float, hardness: float) -> float:
    crowded = min(1.0, problem.n / (_CROWD * problem.examples.d))
    each, power = _EPOCHS[problem.examples.d > MOST_FEATURES and crowded < 1]
    if problem.loss.quadratic:
        power += _NEVER_SETTLED
    if problem.examples.d <= MOST_FEATURES:
        power *= crowded**_CROWD_ROOT
    return max(_FEWEST[0] + _FEWEST[1] * digits, each * digits * float((1 + hardness) ** power))


def _with_several_outputs(problem: Problem, tol: float, digits: float, hardness: float) -> Costs:
    """The same where an example has several outputs."""
    epochs = {"dfsdca": _dfsdca(problem, digits, hardness) + _LOOKS * _VECTOR_PASS}
    if problem.d <= MOST_FEATURES:
        sample, passes = plan_newton(problem, tol)
        epochs["newton"] = (passes + hessian_passes(problem, sample)) * _VECTOR_PASS
    passes = between(_VECTOR_TIMES, crowd(problem)) * _lbfgs_passes(problem, digits, hardness)
    vectors = _LBFGS_FEATURE * problem.d / float(problem.examples.products + _STEP * problem.n)
    lbfgs_pass = _VECTOR_PASS + vectors
    return Costs(epochs | {"lbfgs": passes * lbfgs_pass}, lbfgs_pass)
