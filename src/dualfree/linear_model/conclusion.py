"""How a fit ends: in silence, with a warning at the user's line, or with KeyboardInterrupt."""

import warnings
from collections.abc import Sequence
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from dualfree.convexity import users_level
from dualfree.result import Result, Status


def conclude(estimator: Any, results: Sequence[Result], interrupted: bool = False) -> None:
    """Warn where `tol` was not reached, and raise KeyboardInterrupt after Ctrl-C."""
    if interrupted or any(result.status == Status.INTERRUPTED for result in results):
        raise KeyboardInterrupt
    worst = max(results, key=lambda result: (_unfinished(result), result.certificate.relative_gap))
    if _unfinished(worst):
        warnings.warn(_advice(estimator, worst), ConvergenceWarning, stacklevel=users_level())


def _unfinished(result: Result) -> bool:
    return result.status not in (Status.CONVERGED, Status.STOPPED)


def _advice(estimator: Any, result: Result) -> str:
    name, tol, gap = type(estimator).__name__, estimator.tol, result.certificate.relative_gap
    if result.status == Status.DIVERGED:
        return f"{name} diverged after {result.epochs:.0f} epochs; take a smaller step, such as step='theorem-2'."
    return (
        f"{name} reached a certified relative gap of {gap:.2g} in {result.epochs:.0f} epochs, but tol={tol:g} "
        "was asked: raise max_iter, scale the features to comparable sizes, regularise more, or raise tol."
    )
