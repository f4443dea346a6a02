"""Linear support vector classification with smooth hinge losses."""

from typing import Any, ClassVar

import numpy as np
from sklearn import svm
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfree.arrays import Floats
from dualfree.linear_model.base import CHECKPOINTS, POSITIVE, Fitted
from dualfree.linear_model.classifier import LinearClassifier
from dualfree.linear_model.drop_in import constraints
from dualfree.losses import SmoothedHinge, SquaredHinge
from dualfree.losses.base import Loss
from dualfree.result import Result


class LinearSVC(LinearClassifier):
    """Linear support vector classifier: scikit-learn's, certified, with an intercept that is not penalised.

    Minimises ``C Σ s_i f(y_i (x_iᵀw + b)) + ‖w‖²/2`` over w and b. scikit-learn's LinearSVC penalises b.

    Parameters
    ----------
    loss : {"squared_hinge", "smoothed_hinge"}
        ``f(t) = max(0, 1 − t)²``, or the hinge with its kink rounded over a width of `gamma`.
    gamma : float
        See `loss`; the smaller, the closer to the hinge and the longer the fit.
    C : float
        Inverse of the strength of the penalty.
    tol : float
        The certified relative gap: the fit ends when the objective is proven to be within ``tol`` times its value of
        the smallest possible.
    fit_intercept, class_weight, random_state, max_iter, warm_start, verbose
        As in `LogisticRegression`.
    solver, sampling, step, n_threads, callbacks, checkpoint, checkpoint_every, resume
        As in `LogisticRegression`.
    penalty, dual, multi_class, intercept_scaling
        scikit-learn's, accepted where they leave the minimiser as it is; see `LogisticRegression`.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    n_iter_ : int
        The most epochs that a class needed.
    certificate_, history_
        As in `LogisticRegression`.

    Notes
    -----
    More than two classes are fitted one against the rest; a class weight counts for the examples of its class in each
    of these problems (in scikit-learn, only in the one where the class is the positive one).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(C=0.1).fit(X, y)
    >>> model.coef_.shape, len(model.certificate_)
    ((3, 4), 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearClassifier._parameter_constraints,
        **CHECKPOINTS,
        "loss": [StrOptions({"squared_hinge", "smoothed_hinge"})],
        "gamma": [POSITIVE],
        "C": [POSITIVE],
        **constraints("penalty", "dual", "multi_class", "intercept_scaling"),
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        gamma: float = 1.0,
        C: float = 1.0,
        tol: float = 1e-6,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        random_state: Any = None,
        max_iter: int | None = 1000,
        warm_start: bool = False,
        verbose: int = 0,
        solver: str = "auto",
        sampling: Any = None,
        step: Any = None,
        n_threads: int | None = 1,
        callbacks: Any = None,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.gamma = gamma
        self.C = C
        self.tol = tol
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose
        self.solver = solver
        self.sampling = sampling
        self.step = step
        self.n_threads = n_threads
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.resume = resume

    def _loss(self, target: Floats, weight: Floats | None) -> Loss:
        if self.loss == "squared_hinge":
            return SquaredHinge(target, weight)
        return SmoothedHinge(target, self.gamma, weight)

    def _lams(self, n: int, count: int) -> Floats:
        return np.full(count, 1 / (self.C * n))

    def _keep(self, results: list[Result], fitted: Fitted, single: bool) -> None:
        super()._keep(results, fitted, single)
        self.n_iter_ = int(self.n_iter_.max())

    def to_sklearn(self) -> Any:
        """The equivalent fitted scikit-learn LinearSVC, which predicts the same."""
        check_is_fitted(self)
        return self._hand_over(
            svm.LinearSVC(C=self.C, fit_intercept=self.fit_intercept, class_weight=self.class_weight)
        )
