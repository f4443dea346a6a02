"""Linear classifiers: two classes are one problem, more are one against the rest for each class."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self, cast

import numpy as np
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils.class_weight import compute_class_weight

from dualfree import memory
from dualfree.arrays import Floats
from dualfree.linear_model.base import LinearEstimator, Part, split_intercept
from dualfree.linear_model.conclusion import conclude
from dualfree.linear_model.data import classes_of, example_weights, require_every_class, training_data
from dualfree.linear_model.drop_in import check_parameters
from dualfree.linear_model.on_cluster import by_chunks, fit_classifier, is_dask
from dualfree.linear_model.on_store import scores
from dualfree.linear_model.tasks import fit_task, with_callbacks
from dualfree.losses.base import Loss
from dualfree.store import Store


class LinearClassifier(LinearClassifierMixin, SparseCoefMixin, LinearEstimator, ABC):
    """A classifier with a loss of ±1 targets and a λ; the rest is the same for all."""

    @abstractmethod
    def _loss(self, target: Floats, weight: Floats | None) -> Loss:
        """The loss of one problem."""

    @abstractmethod
    def _lams(self, n: int, count: int) -> Floats:
        """λ of each of `count` problems with n examples."""

    def _mu(self, n: int) -> float:
        """μ of each problem with n examples."""
        return 0.0

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, CSR matrix or frame of shape (n, d), or Store
            Examples: float32 or float64 are not copied. A store larger than its memory limit stays on the disk. Chunks
            of a Dask array or dataframe stay where they are, and the fit runs on its cluster; y and sample_weight are
            then chunked alike.
        y : array of length n
            Labels.
        sample_weight : array of length n, optional
            A weight of k is k copies and 0 is absence. Negative weights need an average loss that stays convex, and
            with an intercept a positive sum in each class; SVMs take them without one alone.

        Returns
        -------
        self
            Also after Ctrl-C, which leaves the best model up to then and raises KeyboardInterrupt.
        """
        check_parameters(self)
        if is_dask(X):
            return cast(Self, fit_classifier(self, X, y, sample_weight))
        X, y = self._training_data(X, y)
        own = example_weights(sample_weight, X)
        parts = self._parts(y, self._weights(y, own))
        fitted = partial(self._fitted, dtype=X.dtype)
        task = fit_task(self, X, y, own, len(parts))
        results = self._solve(X, parts, fitted, task)
        self._keep(results, fitted, single=len(results) == 1)
        task.end({})
        conclude(self, results)
        return self

    def decision_function(self, X: Any) -> Any:
        """``Xw + b`` for each class; for Dask's data a Dask array, for a store in the order of ``store.y``."""
        if isinstance(X, Store):
            found = scores(self, X)
            return found.ravel() if found.shape[1] == 1 else found
        if is_dask(X):
            several = len(self.classes_) if len(self.classes_) > 2 else None
            return by_chunks(self, "decision_function", X, np.float64, several)
        return super().decision_function(X)

    def predict(self, X: Any) -> Any:
        """The class of each example; for Dask's data a Dask array, for a store in the order of ``store.y``."""
        if is_dask(X):
            return by_chunks(self, "predict", X, self.classes_.dtype)
        return super().predict(X)

    def _training_data(self, X: Any, y: Any) -> tuple[Any, Any]:
        """X and y as the solver and the encoders take them; sets `classes_`."""
        X, y = training_data(self, X, y)
        self.classes_ = classes_of(y)
        return X, y

    def _weights(self, y: Any, weight: Floats | None) -> Floats | None:
        """Weights of examples times those of their classes; None where all of them are one."""
        if self.class_weight is None:
            return weight
        where = np.searchsorted(self.classes_, y)
        if isinstance(self.class_weight, str):  # "balanced": all classes weigh as much
            counts = np.bincount(where, weight, len(self.classes_)).astype(np.float64)
            factors = counts.sum() / (len(counts) * np.where(counts == 0, 1.0, counts))
        else:
            factors = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        if (factors == 1).all():
            return weight
        return np.asarray(factors[where] if weight is None else weight * factors[where], dtype=np.float64)

    def _parts(self, y: Any, weight: Floats | None) -> list[Part]:
        """The problems of a fit."""
        encoders = self._encoders(y, weight)
        lams, mu = self._lams(len(y), len(encoders)), self._mu(len(y))
        return [
            Part(self._loss(encode(y), weight), lam, encode, mu) for encode, lam in zip(encoders, lams, strict=True)
        ]

    def _encoders(self, y: Any, weight: Floats | None) -> list[Callable[[Any], Floats]]:
        """One problem for two classes, else one for each class against the rest."""
        require_every_class(self.classes_, y, weight)
        positives = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return [partial(one_against_rest, label) for label in positives]

    def _fitted(self, points: Sequence[Floats], dtype: Any) -> dict[str, Any]:
        coefficients, intercepts = split_intercept(points, self.n_features_in_, dtype)
        return {"coef_": coefficients, "intercept_": intercepts if self.fit_intercept else 0.0}

    def _hand_over(self, target: Any) -> Any:
        """`target`, a scikit-learn classifier, with this one's fitted attributes."""
        for name in ("coef_", "intercept_", "classes_", "n_features_in_", "feature_names_in_", "n_iter_"):
            # classes_ is a property of some versions of scikit-learn's RidgeClassifier, which knows them by itself.
            if hasattr(self, name) and not isinstance(getattr(type(target), name, None), property):
                setattr(target, name, getattr(self, name))
        return target

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def one_against_rest(label: Any, y: Any) -> Floats:
    """+1 where y is `label`, −1 elsewhere."""
    out = memory.empty(len(y))
    np.multiply(np.asarray(y) == label, 2.0, out=out)
    out -= 1.0
    return out
