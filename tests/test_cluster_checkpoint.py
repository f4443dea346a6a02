"""Checkpoints of fits on a cluster: the arguments of `dualfree.solve`, with the same meaning."""

import inspect
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dualfree as df
from dualfree.checkpoint import CheckpointError, Checkpoints
from dualfree.distributed.connection import SchedulerLostError
from dualfree.distributed.crew import Crew
from dualfree.distributed.fit import Wishes
from dualfree.distributed.solve import solve_spread, spread_out
from dualfree.limits import Limits
from dualfree.linear_model import LinearSVC, LogisticRegression
from helpers.inline_client import InlineClient
from small_problems import data, labels

pytest.importorskip("distributed")

ALWAYS = 1e-9  # seconds: a checkpoint before every round


def problem_of(n: int = 300, intercept: bool = False) -> df.Problem:
    X = data(n=n, d=20)
    return df.Problem(X, df.losses.Logistic(labels(X)), lam=0.1 / n, intercept=intercept)


def fitted(problem: df.Problem, method: str, partitions: int = 3, tol: float = 1e-8, **checkpoint: Any) -> df.Result:
    wishes = Wishes(Limits(tol, 0.0, 400.0, np.inf, 1.0), False, 5, **checkpoint)
    return solve_spread(spread_out(problem, InlineClient(), partitions), method, None, wishes)


@pytest.mark.parametrize(
    ("method", "intercept"), [("dfsdca", False), ("newton", False), ("newton", True), ("lbfgs", True)]
)
def test_from_every_checkpoint_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, intercept: bool
) -> None:
    problem = problem_of(intercept=intercept)
    whole = fitted(problem, method)
    copies, save = list[Path](), Checkpoints.save

    def kept(self: Checkpoints, run: Any) -> None:
        save(self, run)
        copies.append(tmp_path / f"copy-{len(copies)}")
        shutil.copy(self.path, copies[-1])

    monkeypatch.setattr(Checkpoints, "save", kept)
    fitted(problem, method, checkpoint=tmp_path / "run", checkpoint_every=ALWAYS)
    monkeypatch.undo()
    assert len(copies) >= 3
    for copy in [*copies[:: max(1, len(copies) // 4)], copies[-1]]:
        resumed = fitted(problem, method, checkpoint=copy, checkpoint_every=60.0, resume=True)
        np.testing.assert_array_equal(resumed.w, whole.w)
        np.testing.assert_array_equal(resumed.alpha, whole.alpha)
        assert [(row.epoch, row.value) for row in resumed.history] == [(row.epoch, row.value) for row in whole.history]


@pytest.mark.parametrize(("method", "moments"), [("dfsdca", (4, 18, 19, 20)), ("lbfgs", (4, 7))])
def test_the_scheduler_lost_at_any_moment_costs_no_bit(
    monkeypatch: pytest.MonkeyPatch, method: str, moments: tuple[int, ...]
) -> None:
    """Before a round, within it, or at an evaluation: the file that the error names goes on to the same answer."""
    problem = problem_of()
    whole, total = fitted(problem, method), Crew.total
    for moment in moments:
        asked = []

        def lost(self: Crew, futures: Any, asked: list[int] = asked, moment: int = moment) -> Any:
            asked.append(1)
            if len(asked) == moment:
                raise SchedulerLostError("the scheduler no longer answers")
            return total(self, futures)

        monkeypatch.setattr(Crew, "total", lost)
        monkeypatch.setattr("dualfree.distributed.crew.require_scheduler", _gone)
        with pytest.raises(SchedulerLostError, match=r"in (\S+), and checkpoint='(\S+)', resume=True goes on") as found:
            fitted(problem, method)
        monkeypatch.undo()
        path = Path(str(found.value).split("checkpoint='")[1].split("'")[0])
        resumed = fitted(problem, method, checkpoint=path, resume=True)
        np.testing.assert_array_equal(resumed.w, whole.w)
        shutil.rmtree(path.parent)


def _gone(client: Any) -> None:
    raise SchedulerLostError("the scheduler no longer answers")


def test_auto_stays_with_its_method_and_a_finished_run_goes_on(tmp_path: Path) -> None:
    problem, path = problem_of(), tmp_path / "run"
    rough = fitted(problem, "auto", tol=1e-2, checkpoint=path, checkpoint_every=60.0, resume=True)  # no file yet
    exact = fitted(problem, "auto", tol=1e-9, checkpoint=path, checkpoint_every=60.0, resume=True)
    assert exact.method == rough.method
    assert exact.history.rows[: len(rough.history)] == rough.history.rows
    assert exact.certificate.relative_gap <= 1e-9


def test_a_checkpoint_belongs_to_its_run(tmp_path: Path) -> None:
    problem, path = problem_of(), tmp_path / "run"
    fitted(problem, "dfsdca", checkpoint=path)
    for changed, options, what in (
        (problem_of(n=301), {"method": "dfsdca"}, "number of examples"),
        (problem, {"method": "dfsdca", "partitions": 4}, "number of partitions"),
        (problem, {"method": "lbfgs"}, "method"),
    ):
        with pytest.raises(CheckpointError, match=f"belongs to another run: its {what} is"):
            fitted(changed, checkpoint=path, resume=True, **options)
    with pytest.raises(CheckpointError, match="its sampling is None"):
        df.solve(problem, checkpoint=path, resume=True, seed=5)


def test_the_arguments_are_those_of_solve() -> None:
    here, there = (inspect.signature(solve).parameters for solve in (df.solve, df.distributed.solve))
    for name in ("checkpoint", "checkpoint_every", "resume"):
        assert there[name].default == here[name].default
        assert inspect.signature(LogisticRegression).parameters[name].default == here[name].default
    problem = problem_of()
    with pytest.raises(ValueError, match="give checkpoint=path too"):
        df.distributed.solve(problem, resume=True)
    with pytest.raises(TypeError, match="resume is 'run'; it must be True or False, and checkpoint names the file"):
        df.distributed.solve(problem, resume="run")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="checkpoint_every is 0"):
        df.distributed.solve(problem, checkpoint="run", checkpoint_every=0)
    with pytest.raises(ValueError, match="a folder that exists"):
        df.distributed.solve(problem, checkpoint="no/run")


def test_estimators_resume_on_dask_data(tmp_path: Path) -> None:
    """With real workers, which are threads of this process here."""
    da, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")
    X = data(n=300, d=20)
    y, path = np.digitize(X @ np.arange(20), [-10.0, 10.0]), tmp_path / "fit"
    rows: list[Any] = []
    with distributed.Client(processes=False, dashboard_address=None, n_workers=1):
        there = da.from_array(X, chunks=(100, 20)), da.from_array(y, chunks=100)
        settings = {"tol": 1e-2, "fit_intercept": False, "checkpoint": path, "resume": True}
        first = LinearSVC(**settings).fit(*there)
        assert sorted(file.name for file in tmp_path.iterdir()) == ["fit.0", "fit.1", "fit.2"]
        again = LinearSVC(**settings, callbacks=[rows.append]).fit(*there)
        with pytest.raises(ValueError, match="give checkpoint=path too"):
            LinearSVC(resume=True).fit(*there)
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert len(rows) == 3  # each problem was done already
