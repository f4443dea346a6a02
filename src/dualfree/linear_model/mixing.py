"""`l1_ratio`: which part of a penalty is ``‖w‖₁`` and which is ``‖w‖²/2``, as scikit-learn divides it."""

import inspect
from collections.abc import Callable
from numbers import Real
from typing import Any

from sklearn import linear_model


def _l1_ratio(value: Any) -> str | None:
    if isinstance(value, Real) and value == 1:
        return "which leaves no squared norm, but a certified minimum needs some of it; 0.99 is close to 1."
    return None


def _penalty(value: Any) -> str | None:
    if value is None:
        return "but a certified minimum needs a penalty above 0; C=1e6 with penalty='l2' is close to none."
    if value == "l1":
        return "which leaves no squared norm, but a certified minimum needs some of it; l1_ratio=0.99 is close to it."
    return None


REFUSALS: dict[str, Callable[[Any], str | None]] = {"l1_ratio": _l1_ratio, "penalty": _penalty}
"""What an estimator with an L1 part refuses, in the place of what the others do."""


def mixing(penalty: str, l1_ratio: float | None) -> float:
    """The L1 part of the penalty that both parameters of scikit-learn's LogisticRegression ask for.

    `l1_ratio` decides, as it does in scikit-learn since 1.8; `penalty` must not say otherwise.

    Examples
    --------
    >>> mixing("deprecated", 0.25), mixing("elasticnet", 0.25), mixing("l2", None)
    (0.25, 0.25, 0.0)
    """
    if penalty == "elasticnet" and l1_ratio is None:
        raise ValueError("penalty is 'elasticnet' and l1_ratio is None; it must be a number from 0 to below 1.")
    if penalty == "l2" and l1_ratio:
        raise ValueError(
            f"penalty is 'l2' and l1_ratio is {l1_ratio:g}, which contradict each other; leave penalty out."
        )
    return float(l1_ratio or 0.0)


def elastic_settings(l1_ratio: float) -> dict[str, Any]:
    """The parameters that give scikit-learn's LogisticRegression this penalty, in the spelling of its version."""
    if l1_ratio == 0:
        return {}
    spelling = inspect.signature(linear_model.LogisticRegression).parameters["penalty"].default
    named = {} if spelling == "deprecated" else {"penalty": "elasticnet"}
    return {"l1_ratio": l1_ratio, "solver": "saga", **named}
