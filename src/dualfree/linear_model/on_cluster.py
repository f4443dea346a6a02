"""Fits on Dask's data: the problems of an estimator on a cluster, and predictions a chunk at a time."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from dualfree.arrays import Floats
from dualfree.checkpoint import requested
from dualfree.distributed.block import Encoder
from dualfree.distributed.connection import connected
from dualfree.distributed.crew import Blocks, Crew
from dualfree.distributed.fit import Wishes
from dualfree.distributed.problem import ClusterProblem
from dualfree.distributed.solve import bare, classes_in, solve_spread, threads
from dualfree.distributed.sources import Collection
from dualfree.limits import Limits
from dualfree.linear_model.conclusion import conclude
from dualfree.linear_model.drop_in import method_of
from dualfree.losses import Squared
from dualfree.losses.base import Loss
from dualfree.optional import require
from dualfree.result import Result, Row, Status

_MAX_EPOCHS = 1000


def is_dask(X: Any) -> bool:
    """Whether X is one of Dask's collections."""
    return hasattr(X, "__dask_graph__")


def fit_classifier(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Fit a classifier on the chunks of X where they are; all labels are ever seen of the data here."""
    _require_plain(estimator)
    if estimator._mu(1) > 0:
        raise ValueError(f"l1_ratio is {estimator.l1_ratio!r}; for Dask's data it must be 0.")
    with connected() as client:
        blocks = _blocks(estimator, client, X, y, sample_weight, wants_labels=True)
        estimator.classes_ = classes = classes_in(blocks)
        if len(classes) < 2:
            raise ValueError(
                f"y holds one class only, {classes.tolist()[0]!r}; a classifier needs samples of at least two classes."
            )
        if estimator._outputs(classes) > 1:
            raise ValueError(
                f"y has {len(classes)} classes, and for Dask's data {type(estimator).__name__} takes two; LinearSVC "
                "and RidgeClassifier take more, one against the rest."
            )
        factors = _class_factors(estimator, blocks)
        positives = classes[1:] if len(classes) == 2 else classes
        kind = estimator._loss(np.array([-1.0, 1.0]), None)
        encoders = [Encoder(classes, label, factors) for label in positives]
        lams = estimator._lams(int(blocks.starts[-1]), len(encoders))
        parts = [(kind, encoder, float(lam)) for encoder, lam in zip(encoders, lams, strict=True)]
        results = _solve(estimator, blocks, parts)
    return _keep(estimator, results, partial(estimator._fitted, dtype=blocks.surveys[0].dtype), len(parts) == 1)


def fit_ridge(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Fit a ridge regression with one target on the chunks of X where they are."""
    _require_plain(estimator)
    if np.ndim(estimator.alpha) > 0:
        raise ValueError(f"alpha is {estimator.alpha!r:.60}; for Dask's data it must be one number.")
    with connected() as client:
        blocks = _blocks(estimator, client, X, y, sample_weight, wants_labels=False)
        part = (Squared([0.0, 0.0]), None, float(estimator.alpha) / int(blocks.starts[-1]))
        results = _solve(estimator, blocks, [part])
    return _keep(estimator, results, partial(estimator._fitted, dtype=blocks.surveys[0].dtype, single=True), True)


def _require_plain(estimator: Any) -> None:
    """Raise one sentence for what a cluster cannot do."""
    if not estimator._on_cluster:
        raise ValueError(f"X is one of Dask's collections, which {type(estimator).__name__} does not take; compute it.")
    for name in ("sampling", "step"):
        if getattr(estimator, name) is not None:
            raise ValueError(f"{name} is {getattr(estimator, name)!r:.60}; for Dask's data it must be None.")
    if any(hasattr(callback, "begin") for callback in estimator.callbacks or ()):
        raise ValueError("callbacks that look at the model need data in this process; for Dask's data give functions.")


def _blocks(estimator: Any, client: Any, X: Any, y: Any, weight: Any, wants_labels: bool) -> Blocks:
    threads(client)
    blocks = Blocks(client, Collection(X, y, weight), wants_labels)
    estimator.n_features_in_ = blocks.surveys[0].columns
    names = list(getattr(X, "columns", ()))
    if names and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    return blocks


def _class_factors(estimator: Any, blocks: Blocks) -> Floats | None:
    """What each class counts."""
    if estimator.class_weight is None:
        return None
    classes = estimator.classes_
    if isinstance(estimator.class_weight, str):  # "balanced": all classes weigh as much
        counts = np.zeros(len(classes))
        for one in blocks.surveys:
            counts[np.searchsorted(classes, one.labels)] += one.counts
        return np.asarray(counts.sum() / (len(counts) * np.where(counts == 0, 1.0, counts)))
    return np.array([float(estimator.class_weight.get(label, 1.0)) for label in classes.tolist()])


def _solve(estimator: Any, blocks: Blocks, parts: Sequence[tuple[Loss, Encoder | None, float]]) -> list[Result]:
    """Solve all parts in turn; after Ctrl-C no more of them begin."""
    limits = Limits(estimator.tol, 0.0, float(estimator.max_iter or _MAX_EPOCHS), np.inf, 1.0)
    results: list[Result] = []
    wished = estimator._checkpoint(None)
    path, every = requested(*wished.values())
    for number, (kind, encoder, lam) in enumerate(parts):
        stop = bool(results) and results[-1].status == Status.INTERRUPTED
        problem = ClusterProblem(Crew(blocks, bare(kind), encoder), kind, lam, estimator.fit_intercept)
        results.append(
            solve_spread(
                problem,
                method_of(estimator.solver),
                _all((lambda row: True,) if stop else estimator.callbacks or ()),
                Wishes(
                    limits,
                    bool(estimator.verbose),
                    estimator._seed(),
                    path,
                    every,
                    wished["resume"],
                    number if len(parts) > 1 else None,
                    alpha=False,
                ),
            )
        )
    return results


def _all(callbacks: Sequence[Callable[[Row], Any]]) -> Callable[[Row], bool] | None:
    return (lambda row: bool(sum(bool(callback(row)) for callback in callbacks))) if callbacks else None


def _keep(estimator: Any, results: list[Result], fitted: Any, single: bool) -> Any:
    estimator._keep(results, fitted, single=single)
    conclude(estimator, results)
    return estimator


def by_chunks(estimator: Any, method: str, X: Any, dtype: Any, columns: int | None = None) -> Any:
    """``getattr(estimator, method)`` of each chunk of X, as a Dask array that is computed when it is asked for."""
    names = list(X.columns) if hasattr(X, "columns") else None
    array = X if names is None else X.to_dask_array()
    if len(array.chunks[1]) > 1:
        array = array.rechunk({1: -1})
    call = partial(_call, estimator, method, names)
    if columns is None:
        return array.map_blocks(call, dtype=dtype, drop_axis=1, meta=np.empty(0, dtype=dtype))
    return array.map_blocks(
        call, dtype=dtype, chunks=(array.chunks[0], (columns,)), meta=np.empty((0, columns), dtype=dtype)
    )


def _call(estimator: Any, method: str, names: list[Any] | None, chunk: Any) -> Any:
    if names is not None:  # the estimator checks them
        chunk = require("pandas", "tables").DataFrame(chunk, columns=names)
    return getattr(estimator, method)(chunk)
