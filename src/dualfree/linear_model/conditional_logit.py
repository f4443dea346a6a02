"""Conditional logit: which row of each group is chosen."""

from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from dualfree.arrays import Floats, Indices
from dualfree.examples import Blocks
from dualfree.linear_model.base import CHECKPOINTS, POSITIVE, LinearEstimator, Part
from dualfree.linear_model.conclusion import conclude
from dualfree.linear_model.data import training_data, usable_rows
from dualfree.linear_model.drop_in import check_parameters
from dualfree.losses import ConditionalLogit as ConditionalLogitLoss


class ConditionalLogit(LinearEstimator):
    """McFadden's conditional logit with an L2 penalty, certified: for choices among alternatives, and matched studies.

    Every group of rows is one choice, and one of its rows was chosen: row k of a group with probability
    ``exp(x_kᵀw) / Σ_j exp(x_jᵀw)``. Minimises ``C Σ_groups (log Σ_j exp(x_jᵀw) − x_chosenᵀw) + ‖w‖²/2``. There is no
    intercept: it would cancel.

    Parameters
    ----------
    C : float
        Inverse of the strength of the penalty; a large one comes close to the unpenalised model.
    tol, random_state, max_iter, verbose, solver, sampling, step, n_threads
        As in `LogisticRegression`; a sampling draws groups.
    checkpoint, checkpoint_every, resume
        As in `LogisticRegression`.

    Attributes
    ----------
    coef_ : array of length d
        w.
    n_features_in_, feature_names_in_, n_iter_, certificate_, history_
        As in `LogisticRegression`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat(np.arange(200), 4)  # 200 choices among four alternatives
    >>> X = rng.normal(size=(800, 2))
    >>> utility = X @ [1.0, -2.0] + rng.gumbel(size=800)
    >>> y = (utility.reshape(200, 4) == utility.reshape(200, 4).max(axis=1, keepdims=True)).ravel()
    >>> model = ConditionalLogit(C=100).fit(X, y, groups)
    >>> model.coef_.round(1).tolist(), model.predict_proba(X[:4], groups[:4]).sum().round(6).item()
    ([0.9, -1.7], 1.0)
    """

    fit_intercept = False
    warm_start = False
    callbacks = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: allowed
            for name, allowed in LinearEstimator._parameter_constraints.items()
            if name not in ("fit_intercept", "warm_start", "callbacks")
        },
        "C": [POSITIVE],
        **CHECKPOINTS,
    }

    _from_disk = False
    _as_given = False  # rows of a group come together

    def __init__(
        self,
        *,
        C: float = 1.0,
        tol: float = 1e-6,
        random_state: Any = None,
        max_iter: int | None = 1000,
        verbose: int = 0,
        solver: str = "auto",
        sampling: Any = None,
        step: Any = None,
        n_threads: int | None = 1,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
    ) -> None:
        self.C = C
        self.tol = tol
        self.random_state = random_state
        self.max_iter = max_iter
        self.verbose = verbose
        self.solver = solver
        self.sampling = sampling
        self.step = step
        self.n_threads = n_threads
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.resume = resume

    def fit(self, X: Any, y: Any, groups: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, CSR matrix or frame of shape (rows, d)
            Alternatives. Not copied where the rows of every group follow each other, and sorted by group otherwise.
        y : array of length rows
            1 or True for the row that was chosen, 0 for the others of its group.
        groups : array of length rows
            Which group each row belongs to: any labels.

        Returns
        -------
        self
        """
        check_parameters(self)
        X, y = training_data(self, X, y)
        order, start = _grouped(groups, X.shape[0])
        chosen = _chosen(np.asarray(y)[order], start, np.asarray(groups)[order])
        blocks = Blocks(X if (order == np.arange(len(order))).all() else X[order], start)
        part = Part(ConditionalLogitLoss(chosen), 1 / (self.C * blocks.n), lambda target: np.asarray(target))
        result = self._solve_part(blocks, part, None)
        self._keep([result], lambda points: {"coef_": points[0].astype(X.dtype)}, single=True)
        conclude(self, [result])
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The utility ``x_kᵀw`` of each row."""
        check_is_fitted(self)
        X = usable_rows(validate_data(self, X, accept_sparse="csr", reset=False))
        return np.asarray(X @ self.coef_)

    def predict_proba(self, X: Any, groups: Any) -> NDArray[Any]:
        """The probability of each row to be the chosen one of its group."""
        utility = self.decision_function(X).astype(np.float64)
        order, start = _grouped(groups, len(utility))
        sizes, sorted_utility = np.diff(start), utility[order]
        raised = np.exp(sorted_utility - np.repeat(np.maximum.reduceat(sorted_utility, start[:-1]), sizes))
        out = np.empty(len(utility))
        out[order] = raised / np.repeat(np.add.reduceat(raised, start[:-1]), sizes)
        return out

    def predict(self, X: Any, groups: Any) -> NDArray[Any]:
        """1 for the likeliest row of each group (of equal ones the first), 0 for the others."""
        probabilities = self.predict_proba(X, groups)
        order, start = _grouped(groups, len(probabilities))
        best = [order[a + int(np.argmax(probabilities[order[a:b]]))] for a, b in pairwise(start)]
        out = np.zeros(len(probabilities), dtype=np.int64)
        out[best] = 1
        return out

    def score(self, X: Any, y: Any, groups: Any) -> float:
        """The share of groups whose chosen row is predicted."""
        hits = np.asarray(self.predict(X, groups), dtype=bool) & np.asarray(y, dtype=bool)
        return float(hits.sum() / len(np.unique(np.asarray(groups))))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _grouped(groups: Any, rows: int) -> tuple[Indices, Indices]:
    """An order in which the rows of every group follow each other, in the order they came, and where groups begin."""
    labels = np.asarray(groups)
    if labels.shape != (rows,):
        raise ValueError(f"groups has shape {labels.shape}; it must have one label for each of the {rows} rows of X.")
    _, first, number = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first[number], kind="stable")  # groups in the order of their first rows
    changes = np.flatnonzero(np.diff(number[order])) + 1
    return order, np.concatenate([[0], changes, [rows]]).astype(np.int64)


def _chosen(y: Any, start: Indices, groups: Any) -> Floats:
    """The place of the chosen row in each group."""
    marked = np.asarray(y).astype(np.float64)
    if not np.isin(marked, (0.0, 1.0)).all():
        raise ValueError("y must be 1 for the chosen row of each group and 0 for the others.")
    counts = np.add.reduceat(marked, start[:-1])
    if (counts != 1).any():
        at = int(np.argmax(counts != 1))
        raise ValueError(f"group {groups[start[at]]} has {counts[at]:.0f} chosen rows; every group needs exactly one.")
    return np.asarray(np.flatnonzero(marked) - start[:-1], dtype=np.float64)
