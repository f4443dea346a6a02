"""Ridge regression on ±1 as a classifier."""

from typing import Any, ClassVar

from sklearn import linear_model
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfree.arrays import Floats
from dualfree.linear_model.base import POSITIVE
from dualfree.linear_model.classifier import LinearClassifier
from dualfree.losses import Squared
from dualfree.losses.base import Loss


class RidgeClassifier(LinearClassifier):
    """Least squares on targets of ±1 with an L2 penalty: scikit-learn's, certified.

    Minimises ``Σ s_i (x_iᵀw + b − y_i)² + alpha ‖w‖²`` over w and b, for each class against the rest.

    Parameters
    ----------
    alpha : float
        Strength of the penalty, above 0.
    tol : float
        The certified relative gap: the fit ends when the objective is proven to be within ``tol`` times its value of
        the smallest possible.
    fit_intercept, class_weight, random_state, max_iter, warm_start, verbose, solver, sampling, step, callbacks
        As in `LogisticRegression`.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    n_iter_, certificate_, history_
        As in `LogisticRegression`.

    Notes
    -----
    One label for each example; scikit-learn's also takes multi-label targets.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RidgeClassifier().fit(X, y).coef_.shape
    (3, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearClassifier._parameter_constraints,
        "alpha": [POSITIVE],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        class_weight: Any = None,
        random_state: Any = None,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int = 0,
        solver: str = "auto",
        sampling: Any = None,
        step: Any = None,
        callbacks: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.class_weight = class_weight
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose
        self.solver = solver
        self.sampling = sampling
        self.step = step
        self.callbacks = callbacks

    def _loss(self, target: Floats, weight: Floats | None) -> Loss:
        return Squared(target, weight)

    def _lam(self, n: int) -> float:
        return self.alpha / n

    def to_sklearn(self) -> Any:
        """The equivalent fitted scikit-learn RidgeClassifier."""
        check_is_fitted(self)
        fitted = self._hand_over(
            linear_model.RidgeClassifier(self.alpha, fit_intercept=self.fit_intercept, class_weight=self.class_weight)
        )
        # Its predict asks this one whether the targets were multi-label.
        fitted._label_binarizer = LabelBinarizer(pos_label=1, neg_label=-1).fit(self.classes_)
        return fitted
