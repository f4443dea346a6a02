"""What the methods along features share: the features in the place of examples, the steps, and the state."""

import math
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from dualfree._native import kernels
from dualfree.arrays import Floats
from dualfree.evaluation import Evaluation
from dualfree.losses.builtin import Squared
from dualfree.methods.base import Method, State
from dualfree.methods.primal import certified
from dualfree.methods.requirements import require_fixed, require_plain
from dualfree.problem import Problem
from dualfree.samplings import Sampling, Uniform
from dualfree.samplings.base import BoundSampling, Draws
from dualfree.steps import StepRule

_NUMBER = (int, float, np.integer, np.floating)


class Coordinates(Problem):
    """The features of a problem in the place of examples, so that every sampling can draw them.

    P bends by at most ``(1/n) XᵀDiag(l)X + λI``, so an ESO for features is one for the columns of ``Diag(l)^{1/2} X``:
    what a sampling's formulas say of the rows of this problem. Its l is ``max l_i/n`` and its λ is λ/d, so that
    ``v_j = l·v + λ`` are the curvatures that steps divide by, and θ of Theorem 2 and the probabilities of `Importance`
    become ``min_j p_j λ/v_j`` and ``p_j ∝ v_j``: those of coordinate descent.

    A copy of X by columns where X is sparse; a view where it is dense, unless the losses differ in smoothness.

    Attributes
    ----------
    of : Problem
        Whose features these are.
    scale : array of length n or None
        What each row of X was divided by: ``√(l_i/max l)``, the inverse of it, or None where all are equal.

    Examples
    --------
    >>> problem = Problem(np.array([[1.0, 0.0], [1.0, 2.0]]), Squared([1.0, 2.0]), lam=0.5)
    >>> features = Coordinates(problem)
    >>> features.n, features.d, curvatures(Uniform().bind(features)).tolist()
    (2, 2, [1.5, 2.5])
    """

    def __init__(self, problem: Problem) -> None:
        X, largest = problem.examples.X, float(problem.l.max())
        self.of, self.scale = problem, None
        columns: Any = sparse.csr_array(X.T) if sparse.issparse(X) else X.T
        if largest > 0 and np.ptp(problem.l) > 0:
            root = np.sqrt(problem.l / largest)
            self.scale = np.divide(1, root, out=np.zeros(problem.n), where=root > 0)
            if sparse.issparse(columns):
                columns.data = columns.data * root[columns.indices]
            else:
                columns = columns * root
        d = problem.d
        super().__init__(columns, Squared(np.zeros(d), weight=np.full(d, largest / problem.n)), problem.lam / d)


def curvatures(bound: BoundSampling) -> Floats:
    """``v_j`` with ``E P(w + h_Ŝ) ≤ P(w) + Σ p_j (∇_j P(w) h_j + v_j h_j²/2)``, λ included."""
    features = _features(bound)
    return features.l * bound.v + features.of.lam


class CoordinateMethod(Method):
    """A method that moves single weights w_j along partial derivatives of P; samplings draw features.

    ``step`` is ``"theory"`` (the default), where the ESO gives the step of each feature, ``"tuned"``, or a number, by
    which those steps are multiplied. A partial derivative is a sum over a column of X and takes the derivative of a
    loss for each nonzero, where dfSDCA takes one for each row: with losses that need an exponential, an epoch (d visits
    of features) takes one and a half to four times as long as dfSDCA's, longer where popular features are drawn more,
    as by `Importance`.
    """

    name: ClassVar[str]

    @classmethod
    def default_sampling(cls, problem: Problem) -> Sampling:
        return Uniform()

    @classmethod
    def bind(cls, sampling: Sampling | BoundSampling, problem: Problem) -> BoundSampling:
        require_plain(f"method={cls.name!r}", problem)
        if isinstance(sampling, Sampling):
            require_fixed(f"method={cls.name!r}", sampling)
            return sampling.bind(Coordinates(problem))
        if not isinstance(sampling.problem, Coordinates) or sampling.problem.of is not problem:
            raise ValueError(
                f"sampling is {sampling.sampling!r} bound to other things than the features of this problem, which "
                f"method={cls.name!r} draws; give the sampling itself."
            )
        return sampling

    @classmethod
    def step_rule(cls, bound: BoundSampling, step: Any = None) -> StepRule:
        v = curvatures(bound)
        if step is None or (isinstance(step, str) and step == "theory"):
            return StepRule("theory", 1 / v, None, 1.0, None)
        if isinstance(step, bool) or not isinstance(step, _NUMBER):
            raise TypeError(
                f"step is {step!r:.60}; method={cls.name!r} takes 'theory', 'tuned' or a number, by which the theory's "
                "steps are multiplied."
            )
        if not (math.isfinite(step) and step > 0):
            raise ValueError(f"step is {step!r}; it must be a finite number above 0, by which steps are multiplied.")
        return StepRule(f"{step:g}", float(step) / v, None, float(step), None)

    @classmethod
    def step_range(cls, bound: BoundSampling) -> tuple[float, float]:
        features = _features(bound)
        alone = features.l * features.norms**2 + features.of.lam  # beyond 2/alone, a feature overshoots by itself
        return 1.0, 2.0 * float((curvatures(bound) / alone).max())

    def __init__(self, problem: Problem, sampling: BoundSampling, rule: StepRule) -> None:
        super().__init__(problem, sampling, rule)
        self.features = _features(sampling)

    def start(self, alpha: Floats, intercept: float = 0.0) -> State:
        w = self.problem.primal(alpha)
        return State(w, alpha, memory={"margins": self.problem.margins(w)})

    def advance(self, state: State, draws: Draws) -> None:
        kernels.descent(
            self.features.examples.native,
            self.problem.loss.native,
            self.features.scale,
            self.problem.lam,
            self.rule.scale,
            draws.indices,
            draws.batch_start,
            state.w,
            state.memory["margins"],
        )
        state.iteration += draws.count

    def evaluate(self, state: State) -> tuple[Floats, Evaluation]:
        """The present w; its products, which rounding takes off over long runs, are taken anew."""
        z, seen = certified(self.problem, state)
        state.memory["margins"][:] = z
        return state.w, seen


def _features(bound: BoundSampling) -> Coordinates:
    assert isinstance(bound.problem, Coordinates)  # `bind` has seen to it
    return bound.problem
