"""Ridge regression for many penalties in one call."""

from functools import partial
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualfree.arrays import Floats
from dualfree.linear_model.conclusion import conclude
from dualfree.linear_model.data import example_weights, training_data
from dualfree.linear_model.drop_in import check_parameters
from dualfree.linear_model.folds import progress_of
from dualfree.linear_model.path import along, strengths
from dualfree.linear_model.ridge import Ridge, squared_parts
from dualfree.linear_model.tasks import Task
from dualfree.result import Certificate, Result


class RidgePath(NamedTuple):
    """What `ridge_path` returns, from the largest alpha to the smallest."""

    alphas: Floats
    coefs: NDArray[Any]
    intercepts: NDArray[Any]
    certificates: list[Any]
    n_iter: NDArray[np.int32]


def ridge_path(
    X: Any,
    y: Any,
    *,
    alphas: Any = (10.0, 1.0, 0.1),
    sample_weight: Any = None,
    fit_intercept: bool = True,
    tol: float = 1e-6,
    max_iter: int | None = 1000,
    random_state: Any = None,
    verbose: int = 0,
    solver: str = "auto",
    sampling: Any = None,
    step: Any = None,
    n_threads: int | None = 1,
) -> RidgePath:
    """Ridge regression for many alphas, each fit starting from the dual variables of the one before.

    Parameters
    ----------
    X, y, sample_weight
        As in `Ridge.fit`.
    alphas : array
        Strengths of the penalty, above 0, in any order.
    verbose : int
        1 shows a bar with one step for each alpha.
    fit_intercept, tol, max_iter, random_state, solver, sampling, step, n_threads
        As in `Ridge`.

    Returns
    -------
    RidgePath
        A tuple with names. ``alphas`` decreases; ``coefs`` has the shape (d, alphas), or (targets, d, alphas) for a y
        of two dimensions, and ``intercepts`` (alphas,) or (targets, alphas), as in scikit-learn's `lasso_path`;
        ``certificates`` and ``n_iter`` (epochs) have one entry for each alpha, or one for each target in each of them.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = ridge_path(X, y, alphas=[0.01, 0.1, 1.0])
    >>> path.alphas.tolist(), path.coefs.shape
    ([1.0, 0.1, 0.01], (10, 3))
    >>> all(certificate.relative_gap <= 1e-6 for certificate in path.certificates)
    True
    """
    model = Ridge(fit_intercept=fit_intercept, tol=tol, max_iter=max_iter, random_state=random_state)
    model.set_params(solver=solver, sampling=sampling, step=step, n_threads=n_threads)
    check_parameters(model)
    grid = strengths("alphas", alphas)[::-1]
    X, y = training_data(model, X, y, multi_output=True, y_numeric=True)
    parts = squared_parts(y, example_weights(sample_weight, X), np.ones(y.size // len(y)))
    fitted = partial(model._fitted, dtype=X.dtype, single=y.ndim == 1)
    steps: list[list[Result]] = []
    with progress_of(bool(verbose), "alphas", len(grid)) as advance:
        for results in along(model, X, parts, grid / len(y), fitted, Task(model, None, {}), Event()):
            steps.append(results)
            advance()
    conclude(model, [result for results in steps for result in results])
    return _as_path(grid, steps, [fitted([result.w for result in results]) for results in steps], y.ndim == 1)


def _as_path(grid: Floats, steps: list[list[Result]], models: list[dict[str, Any]], single: bool) -> RidgePath:
    coefs = np.stack([model["coef_"] for model in models], axis=-1)
    shape = (1,) if single else coefs.shape[:1]
    intercepts = np.stack([np.broadcast_to(model["intercept_"], shape) for model in models], axis=-1)
    certificates: list[list[Certificate]] = [[result.certificate for result in results] for results in steps]
    epochs = np.array([[max(1, np.ceil(result.epochs)) for result in results] for results in steps], dtype=np.int32)
    if single:
        return RidgePath(grid, coefs, intercepts[0], [one for (one,) in certificates], epochs[:, 0])
    return RidgePath(grid, coefs, intercepts, certificates, epochs)
