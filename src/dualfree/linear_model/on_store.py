"""Predictions for the rows of a store, a few chunks at a time."""

from typing import Any

from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from dualfree.arrays import Floats
from dualfree.store import Store


def scores(estimator: Any, store: Store) -> Floats:
    """``Xw + b`` of a fitted model in one pass over the store, within its memory limit, in the order of ``store.y``.

    One number for each row, or one for each problem where the coefficients have two dimensions.

    Examples
    --------
    >>> import numpy as np, dualfree as df, tempfile
    >>> from dualfree.linear_model import Ridge
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([1.0, 4.0, 3.0])
    >>> model = Ridge(alpha=1e-3).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     df.store.write_store(folder + "/a.dfs", X, y)
    ...     found = scores(model, df.open_store(folder + "/a.dfs"))
    >>> bool(np.allclose(found, model.predict(X)))
    True
    """
    check_is_fitted(estimator)
    _check_features(estimator, store)
    coefficients = estimator.coef_.toarray() if sparse.issparse(estimator.coef_) else estimator.coef_
    found: Floats = store @ coefficients.T
    found += estimator.intercept_
    return found


def _check_features(estimator: Any, store: Store) -> None:
    """Raise one sentence where the store has other features than the model."""
    known, found = estimator.n_features_in_, store.shape[1]
    if found != known:
        raise ValueError(f"{store.path} has {found} features, but {type(estimator).__name__} was fitted on {known}.")
    names = getattr(estimator, "feature_names_in_", None)
    if names is None or store.feature_names is None:
        return
    for k, (mine, theirs) in enumerate(zip(names, store.feature_names, strict=True)):
        if mine != theirs:
            raise ValueError(f"column {k} of {store.path} is {theirs!r}; when the model was fitted it was {mine!r}.")
