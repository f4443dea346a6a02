"""Data from outside: X without a copy, weights as one factor for each example, classes as ±1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from dualfree.arrays import Floats
from dualfree.intercept import no_best_intercept
from dualfree.losses.base import Loss
from dualfree.losses.builtin import different
from dualfree.problem import Problem
from dualfree.store import Store


def training_data(estimator: Any, X: Any, y: Any, **named: Any) -> tuple[Any, NDArray[Any]]:
    """X as the core takes it (CSR or dense, float32 or float64, copied only if it is neither; or a store), and y."""
    store = X if isinstance(X, Store) else None
    if store is not None:
        if not store.fits_for(estimator._outputs(y)):
            return store, _targets(estimator, store, y, **named)
        X = store.matrix()
    finite = not estimator._as_given  # to look twice would cost as much as a fifth of a pass
    X, y = validate_data(
        estimator, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=finite, **named
    )
    if store is not None:
        _note_features(estimator, store)
    return usable_rows(X), y


def _targets(estimator: Any, store: Store, y: Any, **named: Any) -> NDArray[Any]:
    """The targets of rows that stay on the disk, checked like those of others."""
    if not estimator._from_disk:
        raise ValueError(
            f"{store.path} is larger than its memory_limit, and {type(estimator).__name__} needs all rows in memory; "
            "give open_store a larger memory_limit."
        )
    targets: NDArray[Any] = validate_data(estimator, "no_validation", y, **named)
    if len(targets) != store.shape[0]:
        raise ValueError(f"the store has {store.shape[0]} rows but y has {len(targets)} entries; they must be equal.")
    _note_features(estimator, store)
    return targets


def _note_features(estimator: Any, store: Store) -> None:
    estimator.n_features_in_ = store.shape[1]
    if store.feature_names is not None:
        estimator.feature_names_in_ = np.array(store.feature_names, dtype=object)


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


def classes_of(y: NDArray[Any]) -> NDArray[Any]:
    """The labels in y, in order; there must be at least two."""
    classes = different(y)
    if not (len(classes) == 2 and classes.dtype.kind in "if" and (np.floor(classes) == classes).all()):
        check_classification_targets(y)  # which sorts them once more, and of two whole numbers has nothing to say
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only, {classes.tolist()[0]!r}; a classifier needs samples of at least two classes."
        )
    return classes


def require_every_class(classes: NDArray[Any], y: NDArray[Any], weight: Floats | None) -> None:
    """Raise one sentence where no example of a class counts."""
    missing = np.setdiff1d(classes, different(y if weight is None else y[weight != 0]))
    if len(missing):
        raise ValueError(
            f"every example of class {missing.tolist()[0]!r} has weight zero, which leaves nothing to tell it from the "
            "others; drop its rows or give them weight."
        )


def require_best_intercept(loss: Loss, fit_intercept: bool) -> None:
    """Raise one sentence where negative weights leave no best intercept."""
    if not fit_intercept or loss.weight is None or loss.all_convex:
        return
    reason = no_best_intercept(loss)
    if reason is not None:
        at = int(np.argmax(loss.weight < 0))
        raise ValueError(f"sample_weight[{at}] is negative and fit_intercept is True: {reason}.")


def require_convex_average(problem: Problem) -> None:
    """Raise one sentence where negative weights leave no certified minimum to find."""
    if problem.convexity.known is False:
        raise ValueError(
            f"sample_weight is so negative that the penalised average loss is not convex ({problem.convexity.reason}); "
            "there is no certified minimum to find: penalise more, or take less negative weights."
        )
