"""Learning from positive and unlabelled examples, with the unbiased convex risk."""

from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn import linear_model
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from dualfree.arrays import Floats
from dualfree.linear_model.base import CHECKPOINTS, POSITIVE, Part
from dualfree.linear_model.classifier import one_against_rest
from dualfree.linear_model.data import require_every_class
from dualfree.linear_model.logistic import LogisticClassifier
from dualfree.losses import PositiveUnlabelled


class PUClassifier(LogisticClassifier):
    """Logistic regression from positive and unlabelled examples, when the share of positives is known.

    Minimises ``−π mean₊(x_iᵀw + b) + mean_u(log(1 + exp(x_iᵀw + b))) + ‖w‖²/(2Cn)`` over w and b, the means over the
    positive and the unlabelled examples. Without the penalty, this is an unbiased estimate of the logistic risk on
    labelled data, and it is convex (du Plessis, Niu and Sugiyama 2015).

    Parameters
    ----------
    class_prior : float
        π, the share of positives among the unlabelled examples, above 0 and below 1. It must be given: from such data
        alone it cannot be told without further assumptions.
    C : float
        Inverse of the strength of the penalty.
    tol, fit_intercept, random_state, max_iter, warm_start, verbose, solver, sampling, step, n_threads, callbacks
        As in `LogisticRegression`.
    checkpoint, checkpoint_every, resume
        As in `LogisticRegression`.

    Attributes
    ----------
    coef_, intercept_, n_iter_, certificate_, history_, n_features_in_, feature_names_in_
        As in `LogisticRegression`.
    classes_ : array of two labels
        The label of unlabelled examples, which also stands for negative ones in predictions, and that of positive ones:
        of the two in y, the larger is positive.

    Notes
    -----
    y tells positive examples from unlabelled ones, so accuracy against it means little: score on labelled data. With
    few examples the estimated risk may be negative, for it is a difference; then penalise more.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2)) + 2.0 * (np.arange(3000) % 2)[:, None]
    >>> truth = np.arange(3000) % 2
    >>> known = np.where(rng.random(3000) < 0.3, truth, 0)  # a third of the positives are labelled as such
    >>> share = truth[known == 0].mean()
    >>> model = PUClassifier(class_prior=share).fit(X, known)
    >>> round(float(model.score(X, truth)), 2)
    0.93
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LogisticClassifier._parameter_constraints,
        "class_prior": [Interval(Real, 0, 1, closed="neither"), None],
        "C": [POSITIVE],
        **CHECKPOINTS,
    }

    _on_cluster = False

    def __init__(
        self,
        class_prior: float | None = None,
        *,
        C: float = 1.0,
        tol: float = 1e-6,
        fit_intercept: bool = True,
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
        self.class_prior = class_prior
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
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

    def _training_data(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = super()._training_data(X, y)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: y has "
                f"{len(self.classes_)} labels, and PUClassifier needs two, for unlabelled and for positive examples."
            )
        if self.class_prior is None:
            raise ValueError("class_prior is None; it must be the share of positives among the unlabelled examples.")
        return X, y

    def _weights(self, y: Any, weight: Floats | None) -> Floats | None:
        if weight is not None and (weight < 0).any():
            at = int(np.argmax(weight < 0))
            raise ValueError(f"sample_weight[{at}] is {weight[at]:g}; PUClassifier needs weights of at least 0.")
        return weight

    def _parts(self, y: Any, weight: Floats | None) -> list[Part]:
        require_every_class(self.classes_, y, weight)
        encode = partial(one_against_rest, self.classes_[1])
        target, s = encode(y), np.ones(len(y)) if weight is None else weight
        shares = np.where(target > 0, self.class_prior / s[target > 0].sum(), 1 / s[target < 0].sum())
        loss = PositiveUnlabelled(target, len(y) * s * shares)
        return [Part(loss, float(self._lams(s.sum(), 1)[0]), encode)]

    def _lams(self, n: Any, count: int) -> Floats:
        return np.full(count, 1 / (self.C * n))

    def to_sklearn(self) -> Any:
        """A fitted scikit-learn LogisticRegression that predicts the same."""
        check_is_fitted(self)
        return self._hand_over(linear_model.LogisticRegression(C=self.C, fit_intercept=self.fit_intercept))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # against y, which does not hold the classes that are predicted
        return tags
