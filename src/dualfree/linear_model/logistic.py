"""Logistic regression: two classes by the logistic loss, more by a softmax."""

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn import linear_model
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfree.arrays import Floats
from dualfree.linear_model.base import CHECKPOINTS, POSITIVE, Part
from dualfree.linear_model.classifier import LinearClassifier
from dualfree.linear_model.data import require_every_class
from dualfree.linear_model.drop_in import constraints
from dualfree.linear_model.mixing import REFUSALS, elastic_settings, mixing
from dualfree.linear_model.on_cluster import by_chunks, is_dask
from dualfree.losses import Logistic, Softmax
from dualfree.losses.base import Loss


class LogisticClassifier(LinearClassifier):
    """What `LogisticRegression` and `LogisticRegressionCV` share: the loss and the probabilities."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearClassifier._parameter_constraints,
        "multi_class": [StrOptions({"auto", "multinomial", "ovr", "deprecated"})],
    }

    def _parts(self, y: Any, weight: Floats | None) -> list[Part]:
        several = len(self.classes_) > 2
        if several and self.multi_class == "ovr":
            raise ValueError(
                "multi_class is 'ovr', but more than two classes are fitted together here, by a softmax; for one "
                "against the rest take sklearn.multiclass.OneVsRestClassifier(LogisticRegression())."
            )
        if not several and self.multi_class == "multinomial":
            raise ValueError(
                "multi_class is 'multinomial' and there are two classes, which one logistic loss tells apart; take "
                "'auto'."
            )
        if not several:
            return super()._parts(y, weight)
        if self._mu(len(y)) > 0:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: y has "
                f"{len(self.classes_)} classes and l1_ratio is above 0; sklearn.multiclass.OneVsRestClassifier fits "
                "one against the rest."
            )
        require_every_class(self.classes_, y, weight)
        encode = partial(_class_numbers, self.classes_)
        return [Part(Softmax(encode(y), weight), float(self._lams(len(y), 1)[0]), encode)]

    def _loss(self, target: Floats, weight: Floats | None) -> Loss:
        return Logistic(target, weight)

    def _outputs(self, y: Any) -> int:
        classes = len(set(np.asarray(y).ravel().tolist()))
        return classes if classes > 2 else 1

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probability of each class, in the order of `classes_`."""
        check_is_fitted(self)
        if is_dask(X):
            return cast(NDArray[Any], by_chunks(self, "predict_proba", X, np.float64, len(self.classes_)))
        if len(self.classes_) > 2:
            return np.asarray(softmax(self.decision_function(X), axis=1))
        return np.asarray(self._predict_proba_lr(X))

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithm of `predict_proba`."""
        if is_dask(X):
            return cast(NDArray[Any], by_chunks(self, "predict_log_proba", X, np.float64, len(self.classes_)))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _fitted(self, points: Sequence[Floats], dtype: Any) -> dict[str, Any]:
        if len(self.classes_) > 2 and len(points) == 1:
            points = [np.reshape(points[0], (-1, len(self.classes_)))]
        fitted = super()._fitted(points, dtype)
        rows = len(fitted["coef_"])
        return fitted if self.fit_intercept else fitted | {"intercept_": np.zeros(rows, dtype=dtype)}

    def _fitted_sklearn(self, C: Any, **penalty: Any) -> Any:
        settings = {"C": C, "fit_intercept": self.fit_intercept, "class_weight": self.class_weight, **penalty}
        return self._hand_over(linear_model.LogisticRegression(**settings))


def _class_numbers(classes: NDArray[Any], y: Any) -> Floats:
    return np.searchsorted(classes, np.asarray(y)).astype(np.float64)


class LogisticRegression(LogisticClassifier):
    """Logistic regression with an L2 penalty, or an elastic net: scikit-learn's, certified.

    Minimises ``C Σ s_i log(1 + exp(−y_i (x_iᵀw + b))) + (1 − l1_ratio) ‖w‖²/2 + l1_ratio ‖w‖₁`` over w and b. The
    intercept b is not penalised. With more than two classes it is multinomial, and l1_ratio must be 0:
    ``C Σ s_i (log Σ_k exp(x_iᵀw_k + b_k) − x_iᵀw_y − b_y) + Σ_k ‖w_k‖²/2``.

    Parameters
    ----------
    C : float
        Inverse of the strength of the penalty.
    l1_ratio : float or None
        The L1 part of the penalty, from 0 (also None) to below 1; above 0 it makes coefficients exactly zero. 1 is
        refused: without a squared norm there is no certified minimum.
    tol : float
        The certified relative gap: the fit ends when the objective is proven to be within ``tol`` times its value of
        the smallest possible. This is what `tol` means in every estimator here.
    fit_intercept : bool
        Whether there is a b. Without one, scikit-learn's check that a heavy class is predicted nearly everywhere fails,
        as it does for scikit-learn's own estimator: no plane through the origin can do that.
    class_weight : dict, "balanced" or None
        A factor for each class, in the weights of its examples.
    random_state : int, RandomState or None
        Seed of the order in which examples are visited; None is a fixed seed.
    max_iter : int
        Epochs: passes over the data.
    warm_start : bool
        Start from the last fit, if it had as many examples.
    verbose : int
        1 shows a bar with the objective and the gap.
    solver : {"auto", "auto-copies", "dfsdca", "newton"}, or the name of one of scikit-learn's
        The method, as in `dualfree.solve`. "auto" begins with dfSDCA and goes over to Newton's method where that
        will end sooner: few features, and a penalty too weak for stochastic steps. scikit-learn's names, such as
        "lbfgs", mean "auto": the minimum is the same.
    sampling, step : optional
        Of dfSDCA, as in `dualfree.solve`.
    n_threads : int or None
        Threads for one problem; None is all cores. Small problems use fewer, and the coefficients have the same bits
        for any number, except with solver="auto-copies", the faster choice for wide data, within `tol`.
    callbacks : list of callables, optional
        Each is called with each row of the history; a true answer ends the fit. See `EarlyStopping`. scikit-learn's
        own callbacks go to ``set_callbacks``, where scikit-learn has them.
    checkpoint, checkpoint_every, resume
        As in `dualfree.solve`.
    penalty : {"deprecated", "l2", "elasticnet"}
        scikit-learn's, for programs that pass it: `l1_ratio` decides, and `penalty` must not contradict it.
    dual, intercept_scaling, multi_class, n_jobs
        scikit-learn's, for programs that pass them. What leaves the minimiser as it is, is accepted and has no effect;
        what would change it is refused.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    n_iter_ : array of int
        Epochs.
    certificate_ : Certificate
        What is proven of the fit: ``certificate_.gap`` bounds the distance of the objective, divided by C n, from its
        minimum.
    history_ : History
        The evaluations of the fit.

    Notes
    -----
    For one class against the rest, wrap it in ``sklearn.multiclass.OneVsRestClassifier``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(X, y)
    >>> round(model.score(X, y), 2), bool(model[-1].certificate_.relative_gap <= 1e-6)
    (0.98, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LogisticClassifier._parameter_constraints,
        **CHECKPOINTS,
        "C": [POSITIVE],
        **constraints("l1_ratio", "dual", "intercept_scaling", "n_jobs"),
        "penalty": [StrOptions({"l2", "elasticnet", "deprecated"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }
    _own_refusals = REFUSALS

    def __init__(
        self,
        penalty: str = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-6,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        random_state: Any = None,
        max_iter: int | None = 1000,
        warm_start: bool = False,
        verbose: int = 0,
        multi_class: str = "auto",
        n_jobs: int | None = None,
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
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.solver = solver
        self.sampling = sampling
        self.step = step
        self.n_threads = n_threads
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.resume = resume

    def _lams(self, n: int, count: int) -> Floats:
        return np.full(count, (1 - mixing(self.penalty, self.l1_ratio)) / (self.C * n))

    def _mu(self, n: int) -> float:
        return mixing(self.penalty, self.l1_ratio) / (self.C * n)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self.l1_ratio
        return tags

    def to_sklearn(self) -> Any:
        """The equivalent fitted scikit-learn LogisticRegression."""
        check_is_fitted(self)
        return self._fitted_sklearn(self.C, **elastic_settings(mixing(self.penalty, self.l1_ratio)))
