"""Losses by name, and the measures of fit that belong to them."""

from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualfree import losses
from dualfree.model import Model
from dualfree.store import Store


class LossName(StrEnum):
    """What ``--loss`` takes."""

    LOGISTIC = "logistic"
    SQUARED = "squared"
    SQUARED_HINGE = "squared-hinge"
    SMOOTHED_HINGE = "smoothed-hinge"
    HUBER = "huber"
    SIGMOID = "sigmoid"
    SAVAGE = "savage"
    TUKEY = "tukey"


def make_loss(name: LossName | None, y: NDArray[Any], gamma: float | None, delta: float | None) -> losses.Loss:
    """The loss that the options ask for; by default logistic, where y has two values.

    Examples
    --------
    >>> make_loss(None, np.array(["a", "b"]), None, None).kind
    'logistic'
    """
    if name is None:
        count = len(np.unique(y))
        if count != 2:
            raise ValueError(
                f"The labels have {count} distinct value{'s' * (count != 1)}, so a loss must be chosen: --loss squared "
                "or huber (or tukey) for regression; the others need exactly two classes."
            )
        name = LossName.LOGISTIC
    if gamma is not None and name is not LossName.SMOOTHED_HINGE:
        raise ValueError(f"--gamma belongs to --loss smoothed-hinge, but the loss is {name}.")
    if delta is not None and name not in (LossName.HUBER, LossName.TUKEY):
        raise ValueError(f"--delta belongs to --loss huber and tukey, but the loss is {name}.")
    match name:
        case LossName.SMOOTHED_HINGE:
            return losses.SmoothedHinge(y, 1.0 if gamma is None else gamma)
        case LossName.HUBER:
            return losses.Huber(y, 1.0 if delta is None else delta)
        case LossName.TUKEY:
            return losses.Tukey(y) if delta is None else losses.Tukey(y, delta)
        case LossName.SIGMOID:
            return losses.Sigmoid(y)
        case LossName.SAVAGE:
            return losses.Savage(y)
        case LossName.SQUARED:
            return losses.Squared(y)
        case LossName.SQUARED_HINGE:
            return losses.SquaredHinge(y)
    return losses.Logistic(y)


def measures(model: Model, X: Any, y: NDArray[Any]) -> dict[str, float | None]:
    """How well the model does on labelled data; None for what is not defined on them."""
    # scikit-learn's metrics take a second to import, which most commands need not wait for.
    from sklearn import metrics

    if isinstance(X, Store):  # one pass over the disk: the same decisions from one feature, the product with w
        X, model = (X @ model.w)[:, None], replace(model, w=np.ones(1), feature_names=None)
    predicted = model.predict(X)
    if model.classes is None:
        if y.dtype.kind not in "fiub":
            raise ValueError("The labels are text, but the model predicts numbers.")
        return {
            "R²": float(metrics.r2_score(y, predicted)) if len(y) > 1 else None,
            "mean absolute error": float(metrics.mean_absolute_error(y, predicted)),
            "root mean squared error": float(np.sqrt(metrics.mean_squared_error(y, predicted))),
        }
    if unknown := sorted(set(np.unique(y).tolist()) - set(model.classes.tolist())):
        known = " and ".join(str(label) for label in model.classes.tolist())
        raise ValueError(f"There is a label {unknown[0]}, but the model knows only {known}.")
    positive, both = y == model.classes[1], len(np.unique(y)) == 2
    logistic = model.loss == "logistic"
    return {
        "accuracy": float(metrics.accuracy_score(y, predicted)),
        "log-loss": float(metrics.log_loss(positive, model.probabilities(X), labels=[0, 1])) if logistic else None,
        "AUC": float(metrics.roc_auc_score(positive, model.decision(X))) if both else None,
    }


def fit_sentence(model: Model, X: Any, y: NDArray[Any]) -> str:
    """The first of `measures` in words."""
    name, value = next(iter(measures(model, X, y).items()))
    if value is None:
        return f"{name} is not defined for {len(y)} example{'s' * (len(y) != 1)}"
    return f"accuracy {100 * value:.2f} %" if name == "accuracy" else f"{name} {value:.4f}"
