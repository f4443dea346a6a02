"""Data from outside: X without a copy, weights as one factor for each example, classes as ±1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight, validate_data

from dualfree.arrays import Floats, Indices
from dualfree.problem import Problem


def training_data(estimator: Any, X: Any, y: Any, **named: Any) -> tuple[Any, NDArray[Any]]:
    """X as the core takes it (CSR or dense, float32 or float64, copied only if it is neither), and y."""
    X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], **named)
    return usable_rows(X), y


def usable_rows(X: Any) -> Any:
    """X, or where the core would refuse it (a column twice in a row, mixed index types) a repaired copy."""
    if not sparse.issparse(X):
        return X
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != X.indptr.dtype:
        indices, indptr = X.indices.astype(np.int64, copy=False), X.indptr.astype(np.int64, copy=False)
        X = sparse.csr_array((X.data, indices, indptr), shape=X.shape)
    return X


def example_weights(sample_weight: Any, X: Any) -> Floats | None:
    """`sample_weight` as n numbers, of which at least one is not zero; None where all of them are one."""
    if sample_weight is None:
        return None
    weight: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if not weight.any():
        raise ValueError("sample_weight is zero for every example, so there is nothing to fit; give some a weight.")
    return None if (weight == 1).all() else weight


def class_weights(class_weight: Any, classes: NDArray[Any], y: NDArray[Any], weight: Floats | None) -> Floats:
    """One factor for each class. ``"balanced"`` counts each example with its own weight."""
    factors: Floats = compute_class_weight(class_weight, classes=classes, y=y, sample_weight=weight)
    return factors.astype(np.float64)


def combined_weights(weight: Floats | None, factors: Floats, codes: Indices) -> Floats | None:
    """Weights of examples times those of their classes; None where all of them are one."""
    if (factors == 1).all():
        return weight
    return factors[codes] if weight is None else weight * factors[codes]


def require_every_class(classes: NDArray[Any], codes: Indices, weight: Floats | None) -> None:
    """Raise one sentence where there is one class only, or a class in which no example counts."""
    if len(classes) < 2:
        raise ValueError(f"y holds one class only, {classes[0]!r}; a classifier needs samples of at least two classes.")
    if weight is None:
        return
    counted = np.bincount(codes, weights=(weight != 0).astype(np.float64), minlength=len(classes))
    if not counted.all():
        raise ValueError(
            f"every example of class {classes[counted.argmin()]!r} has weight zero, which leaves nothing to tell that "
            "class from the others; drop its rows or give them weight."
        )


def require_solvable(problem: Problem, fit_intercept: bool) -> None:
    """Raise one sentence where negative weights leave no certified way to an answer."""
    weight = problem.loss.weight
    if problem.loss.all_convex or weight is None:
        return
    if fit_intercept:
        raise ValueError(
            f"sample_weight[{int(np.argmax(weight < 0))}] is negative and fit_intercept is True: Theorem 1, the only "
            "one that covers negative weights, needs every coefficient to be penalised; take fit_intercept=False."
        )
    # The trace of the Hessian at w = 0: if it is negative, so is some curvature.
    curvature = problem.loss.smoothness(problem.loss.y) * problem.norms**2
    if float(weight @ curvature) < 0:
        raise ValueError(
            "sample_weight is so negative that the average loss is not convex (the weighted squared norms of the rows "
            "add up to less than 0); there is no certified minimum to find."
        )
