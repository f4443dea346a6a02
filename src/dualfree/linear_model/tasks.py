"""scikit-learn's callbacks, which it has from version 1.9: a fit as the tree of tasks that they see."""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from dualfree.arrays import Floats
from dualfree.linear_model.callbacks import Fit
from dualfree.result import History, Row

try:
    from sklearn import callback as _theirs
    from sklearn.callback import CallbackSupportMixin
except ImportError:
    _theirs = None

    class _NoCallbacks:
        """Stands for scikit-learn's mixin in versions that have none."""

    CallbackSupportMixin = _NoCallbacks

__all__ = ["CallbackSupportMixin", "Task", "fit_task", "weights_as_metadata", "with_callbacks"]

FitMethod = TypeVar("FitMethod", bound=Callable[..., Any])


def with_callbacks(fit: FitMethod) -> FitMethod:
    """`fit` with scikit-learn's promise that its callbacks are torn down however it ends."""
    return fit if _theirs is None else cast(FitMethod, _theirs.with_callbacks(fit))


class Task:
    """A node of the tree: the fit, a problem of it, an evaluation. Without callbacks it says nothing to nobody."""

    def __init__(self, estimator: Any, context: Any, data: Mapping[str, Any]) -> None:
        self._estimator, self._context, self._data = estimator, context, data

    def begin(self, name: str, subtasks: int | None = None, number: int | None = None, **data: Any) -> "Task":
        """A part of this task, of which it is said that it begins; None subtasks are an unknown number."""
        data = {**self._data, **data}
        if self._context is None:
            return self
        context = self._context.subcontext(name, task_id=number, max_subtasks=subtasks)
        return Task(self._estimator, context.call_on_fit_task_begin(estimator=self._estimator, **data), data)

    def end(self, fitted: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None) -> bool:
        """Say that the task ends, with the attributes of the model at this point; whether a callback wants to stop."""
        if self._context is None:
            return False
        return bool(
            self._context.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=fitted, **self._data
            )
        )

    def evaluations(self, fitted: Callable[[Floats], dict[str, Any]]) -> list["Evaluations"]:
        """What makes a task of each evaluation of this problem; nothing where nobody listens."""
        return [] if self._context is None else [Evaluations(self, fitted)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.end()


class Evaluations:
    """A callback of the solver that makes a task of each row, with the model as it is at that row."""

    def __init__(self, task: Task, fitted: Callable[[Floats], dict[str, Any]]) -> None:
        self._task, self._fitted, self._rows = task, fitted, History()

    def begin(self, fit: Fit) -> None:
        """Start to watch one problem."""
        self._fit = fit

    def __call__(self, row: Row) -> bool:
        self._rows.rows.append(row)
        task = self._task.begin("evaluation", subtasks=0)
        return task.end(lambda: self._fitted(self._fit.point.copy()) | {"history_": History(list(self._rows))})


def fit_task(
    estimator: Any, X: Any, y: Any, weight: Floats | None, subtasks: int | None, numbered: bool = False
) -> Task:
    """The root of the tree; `numbered` where its parts may run at the same time."""
    if not hasattr(estimator, "_init_callback_context"):
        return Task(estimator, None, {})
    context = estimator._init_callback_context(max_subtasks=subtasks, sequential_subtasks=not numbered)
    data = {"X": X, "y": y, "metadata": weights_as_metadata(weight)}
    context.call_on_fit_task_begin(estimator=estimator, **data)
    # Without callbacks the root is still made: it links this fit to the tree of a pipeline or a search around it.
    return Task(estimator, context if getattr(estimator, "_skl_callbacks", None) else None, data)


def weights_as_metadata(weight: Floats | None) -> dict[str, Any] | None:
    """What a callback passes to a scorer."""
    return None if weight is None else {"sample_weight": weight}
