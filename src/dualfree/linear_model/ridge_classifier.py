"""Ridge regression on ±1 as a classifier."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn import linear_model
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from dualfree.arrays import Floats
from dualfree.linear_model.base import CHECKPOINTS, POSITIVE
from dualfree.linear_model.classifier import LinearClassifier
from dualfree.linear_model.data import classes_of, training_data
from dualfree.linear_model.drop_in import constraints
from dualfree.linear_model.ridge import column, penalties
from dualfree.losses import Squared
from dualfree.losses.base import Loss


class RidgeClassifier(LinearClassifier):
    """Least squares on targets of ±1 with an L2 penalty: scikit-learn's, certified.

    Minimises ``Σ s_i (x_iᵀw + b − y_i)² + alpha ‖w‖²`` over w and b, for each class against the rest, or for each label
    of a y of shape (n, labels) that holds 0 and 1.

    Parameters
    ----------
    alpha : float, or array with one for each class or label
        Strength of the penalty, above 0.
    tol : float
        The certified relative gap: the fit ends when the objective is proven to be within ``tol`` times its value of
        the smallest possible.
    fit_intercept, class_weight, random_state, max_iter, warm_start, verbose
        As in `LogisticRegression`.
    solver, sampling, step, n_threads, callbacks, checkpoint, checkpoint_every, resume
        As in `LogisticRegression`.
    copy_X, positive
        As in `Ridge`.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    n_iter_, certificate_, history_
        As in `LogisticRegression`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RidgeClassifier().fit(X, y).coef_.shape
    (3, 4)
    >>> labels = np.column_stack([y == 0, y != 1]).astype(int)
    >>> RidgeClassifier().fit(X, labels).predict(X[:2]).tolist()
    [[1, 1], [1, 1]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearClassifier._parameter_constraints,
        "alpha": [POSITIVE, "array-like"],
        **constraints("copy_X", "positive"),
        "class_weight": [dict, StrOptions({"balanced"}), None],
        **CHECKPOINTS,
    }

    _multi_label = False

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        class_weight: Any = None,
        positive: bool = False,
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
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.class_weight = class_weight
        self.positive = positive
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
        return Squared(target, weight)

    def _lams(self, n: int, count: int) -> Floats:
        return penalties(self.alpha, count, "labels" if self._multi_label else "problems") / n

    def _training_data(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = training_data(self, X, y, multi_output=True)
        self._multi_label = type_of_target(y).startswith("multilabel")
        if self._multi_label:
            self.classes_ = np.arange(y.shape[1])
            return X, y.toarray() if sparse.issparse(y) else y
        y = column_or_1d(y, warn=True)
        self.classes_ = classes_of(y)
        return X, y

    def _weights(self, y: Any, weight: Floats | None) -> Floats | None:
        if not self._multi_label or self.class_weight is None:
            return super()._weights(y, weight)
        factors = compute_sample_weight(self.class_weight, y)
        return np.asarray(factors if weight is None else weight * factors, dtype=np.float64)

    def _encoders(self, y: Any, weight: Floats | None) -> list[Callable[[Any], Floats]]:
        if not self._multi_label:
            return super()._encoders(y, weight)
        return [partial(_has_label, k) for k in range(y.shape[1])]

    def predict(self, X: Any) -> Any:
        """The class of each example, or 1 for each label that it has and 0 for the others."""
        check_is_fitted(self)
        if not self._multi_label:
            return super().predict(X)
        return np.asarray(self.decision_function(X) > 0, dtype=np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def to_sklearn(self) -> Any:
        """The equivalent fitted scikit-learn RidgeClassifier."""
        check_is_fitted(self)
        fitted = self._hand_over(
            linear_model.RidgeClassifier(self.alpha, fit_intercept=self.fit_intercept, class_weight=self.class_weight)
        )
        # Its predict asks this one whether the targets were multi-label.
        seen = np.eye(len(self.classes_), dtype=np.int64) if self._multi_label else self.classes_
        fitted._label_binarizer = LabelBinarizer(pos_label=1, neg_label=-1).fit(seen)
        return fitted


def _has_label(k: int, y: Any) -> Floats:
    return np.where(column(k, y) > 0, 1.0, -1.0)
