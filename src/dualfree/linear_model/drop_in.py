"""Parameters of scikit-learn's estimators that have no work to do here, and those that ask for another problem.

A solver's name is accepted wherever scikit-learn has it, and all of them lead to the same certified minimum. What would
change the minimiser is refused in one sentence.
"""

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

OWN_SOLVERS = frozenset({"auto", "auto-copies", "dfsdca", "newton"})
THEIR_SOLVERS = frozenset(
    {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "svd", "cholesky", "lsqr", "sparse_cg"}
)

CONSTRAINTS: dict[str, list[Any]] = {
    "solver": [StrOptions(set(OWN_SOLVERS | THEIR_SOLVERS))],
    "penalty": [StrOptions({"l2", "deprecated"})],
    "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
    "l1_ratios": ["array-like", StrOptions({"warn"}), None],
    "dual": ["boolean", StrOptions({"auto"})],
    "multi_class": [StrOptions({"ovr", "auto", "deprecated"})],
    "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
    "n_jobs": [Integral, None],
    "copy_X": ["boolean"],
    "positive": ["boolean"],
    "use_legacy_attributes": ["boolean", StrOptions({"warn"})],
    "gcv_mode": [StrOptions({"auto", "svd", "eigen"}), None],
    "store_cv_results": ["boolean", None],
    "alpha_per_target": ["boolean"],
}


def constraints(*names: str) -> dict[str, list[Any]]:
    """The constraints of these parameters, for an estimator that has them."""
    return {name: CONSTRAINTS[name] for name in names}


def method_of(solver: str) -> str:
    """The method behind a solver's name; scikit-learn's names leave the choice to us."""
    return solver if solver in OWN_SOLVERS else "auto"


def check_parameters(estimator: Any) -> None:
    """Raise one sentence for a parameter that asks for another problem, and scikit-learn's for a wrong one."""
    refusals = _REFUSALS | getattr(estimator, "_own_refusals", {})
    for name, refused in refusals.items():
        reason = refused(getattr(estimator, name)) if hasattr(estimator, name) else None
        if reason:
            raise ValueError(f"{name} is {getattr(estimator, name)!r:.60}, {reason}")
    estimator._validate_params()


def _penalty(value: Any) -> str | None:
    if value is None:
        return "but a certified minimum needs a penalty above 0; C=1e6 with penalty='l2' is close to none."
    if value in ("l1", "elasticnet"):
        return "but only 'l2' is here; LogisticRegression and ElasticNet take l1_ratio."
    return None


def _l1_ratios(value: Any) -> str | None:
    if isinstance(value, str) or value is None or not np.any(np.asarray(value, dtype=np.float64)):
        return None
    return "but an L1 part is not chosen by folds here; take 0, or LogisticRegression(l1_ratio=...) in a GridSearchCV."


def _weakness(value: Any) -> str | None:
    if isinstance(value, Real) and value == math.inf:
        return "but a certified minimum needs a penalty above 0; C=1e6 is close to none."
    return None


def _strength(value: Any) -> str | None:
    if isinstance(value, Real) and value == 0:
        return "but a certified minimum needs a penalty above 0; alpha=1e-6 is close to none."
    return None


def _hinge(value: Any) -> str | None:
    if value == "hinge":
        return (
            "whose kink no smooth method can certify; loss='smoothed_hinge' with a small gamma comes as close as you "
            "like, and loss='squared_hinge' is scikit-learn's default."
        )
    return None


def _only(allowed: Any, sentence: str) -> Callable[[Any], str | None]:
    return lambda value: sentence if value == allowed else None


def _multi_class(value: Any) -> str | None:
    if value == "crammer_singer":
        return "but several classes are fitted one against the rest here; take 'ovr', or scikit-learn's estimator."
    return None


_REFUSALS: dict[str, Callable[[Any], str | None]] = {
    "penalty": _penalty,
    "l1_ratios": _l1_ratios,
    "C": _weakness,
    "alpha": _strength,
    "loss": _hinge,
    "multi_class": _multi_class,
    "positive": _only(True, "but coefficients with signs need another method; take scikit-learn's estimator."),
    "use_legacy_attributes": _only(True, "but C_ is one number and scores_ one array here, as with False."),
    "store_cv_results": _only(True, "but there are folds and no leave-one-out residuals here; see scores_."),
    "alpha_per_target": _only(True, "but one alpha is chosen for all targets here; fit each target by itself."),
}
