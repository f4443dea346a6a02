"""The loop: why it ends, what it returns, and that every sampling, step and loss gets there."""

import itertools
import re

import numpy as np
import pytest

import dualfree as df
from small_problems import LOSSES, SAMPLINGS, SHAPES, invariant_error, problem


@pytest.mark.parametrize("loss", [*LOSSES, *SHAPES])
@pytest.mark.parametrize("step", ["theorem-2", "implicit", "per-example"])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_every_sampling_step_and_loss_reaches_1e_8(sampling, step, loss):
    small = problem(loss)
    result = df.solve(small, sampling=SAMPLINGS[sampling](small.n), step=step, tol=1e-8, max_epochs=3000)
    assert result.status == "converged", result.message
    assert result.certificate.relative_gap <= 1e-8
    assert np.linalg.norm(small.gradient(result.w)) ** 2 / (2 * small.lam) <= 1e-5 * result.certificate.value
    assert invariant_error(small, result) < 1e-10


def test_converged_says_so_with_its_numbers():
    result = df.solve(problem())
    assert result.status is df.Status.CONVERGED
    assert re.match(
        r"The certificate is within the tolerance\. P\(w\) = .* Asked: .*; spent: .* epochs", result.message
    )


def test_max_epochs_is_reached_and_named():
    result = df.solve(problem(), tol=0, max_epochs=3)
    assert result.status == "max_epochs"
    assert result.epochs == 3
    assert "max_epochs" in result.message


def test_a_fraction_of_an_epoch():
    small = problem()
    result = df.solve(small, tol=0, max_epochs=0.25)
    assert result.iterations == small.n // 4
    assert result.epochs == pytest.approx(0.25)


def test_time_limit_ends_a_run_that_would_not_end():
    result = df.solve(problem(), tol=0, max_epochs=1e9, time_limit=0.1, evaluate_every=1e8)
    assert result.status == "time_limit"
    assert "time_limit" in result.message
    assert result.epochs < 1e8  # it did end: the full run would take days


def test_time_limit_holds_while_tuning():
    result = df.solve(problem(), step="tuned", tol=0, max_epochs=1e9, time_limit=1e-9)
    assert result.status == "time_limit"
    assert len(result.tuning.trials) == 1


def test_a_true_answer_of_the_callback_stops():
    seen = []

    def callback(row):
        seen.append(row)
        return row.epoch >= 2

    result = df.solve(problem(), tol=0, callback=callback)
    assert result.status == "stopped"
    assert "callback" in result.message
    assert [row.epoch for row in seen] == [0, 1, 2]
    assert seen == result.history.rows


def test_an_error_in_the_callback_is_not_swallowed():
    def callback(row):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        df.solve(problem(), callback=callback)


@pytest.mark.parametrize("loss", ["squared", "squared-hinge"])
def test_divergence_is_seen_and_the_best_answer_returned(loss):
    X = np.ones((50, 3))  # all examples alike: half of them at once with a full step overshoots fifty-fold
    rough = problem(loss, X=X, lam=1e-3)
    result = df.solve(rough, sampling=df.samplings.Nice(25), step=0.5, tol=1e-12)
    assert result.status == "diverged"
    assert "smaller step" in result.message
    assert np.isfinite(result.w).all()
    assert result.certificate.gap == result.history.gap.min()


def test_relative_and_absolute_tolerance():
    small = problem("squared")
    relative = df.solve(small, tol=1e-3)
    assert relative.certificate.gap <= 1e-3 * abs(relative.certificate.value)
    absolute = df.solve(small, tol=0, absolute_tol=1e-3)
    assert 0 < absolute.certificate.gap <= 1e-3
    # The looser of the two decides.
    both = df.solve(small, tol=1e-12, absolute_tol=1e6)
    assert both.epochs == 0


def test_evaluate_every_sets_the_rows_of_the_history():
    result = df.solve(problem(), tol=0, max_epochs=2, evaluate_every=0.5)
    assert result.history.epoch.tolist() == [0, 0.5, 1, 1.5, 2]
    sparse_rows = df.solve(problem(), tol=0, max_epochs=5, evaluate_every=2)
    assert sparse_rows.history.epoch.tolist() == [0, 2, 4, 5]
    each = df.solve(problem(), tol=0, max_epochs=0.1, evaluate_every=1e-12)
    assert each.history.iteration.tolist() == list(range(7))


def test_history_columns_and_data_frame():
    history = df.solve(problem(), tol=0, max_epochs=3).history
    columns = ["epoch", "iteration", "seconds", "value", "gap", "gradient_norm"]
    frame = history.to_dataframe()
    assert list(frame.columns) == columns
    assert frame["gap"].tolist() == history.gap.tolist()
    assert len(history) == len(frame) == 4
    assert (np.diff(history.seconds) >= 0).all()
    with pytest.raises(AttributeError, match="no column 'gradient'"):
        _ = history.gradient


def test_the_best_answer_is_returned_not_the_last():
    # A step at the edge of stability rises and falls; what comes back is the lowest certificate seen.
    X = np.ones((50, 3))
    result = df.solve(problem("squared", X=X, lam=1e-2), sampling="nice:25", step=0.5, tol=0, max_epochs=20)
    assert result.certificate.gap == result.history.gap.min()


def test_the_bound_stands_beside_what_happened():
    covered = df.solve(problem(), sampling="uniform", step="theorem-2")
    assert covered.bound.theorem == 2
    assert covered.bound.covered
    assert covered.bound.theta == covered.theta
    # The theorem promises an expectation; these runs need far less than it allows.
    assert 0 < covered.iterations <= covered.bound.iterations
    assert not df.solve(problem(), sampling="shuffled", step="theorem-2").bound.covered
    assert not df.solve(problem(), sampling="uniform", step="implicit").bound.covered


def test_tuned_step_comes_from_the_grid_and_reports_its_trials():
    small = problem(lam=1e-3)
    result = df.solve(small, sampling="uniform", step="tuned", max_epochs=500)
    thetas = [theta for theta, _ in result.tuning.trials]
    assert result.theta in thetas
    assert result.theta == min(result.tuning.trials, key=lambda trial: trial[1])[0]
    assert result.tuning.epochs == 3 * len(thetas)
    assert all(later == pytest.approx(2 * earlier) for earlier, later in itertools.pairwise(thetas[:-1]))
    assert result.status == "converged"


def test_tuned_step_without_convexity_starts_from_theorem_1():
    loss = df.losses.Squared(np.ones(20), weight=np.r_[-0.1, np.ones(19)])
    result = df.solve(df.Problem(np.eye(20), loss, lam=1.0), step="tuned")
    assert result.status == "converged"
    assert result.bound.theorem == 1


@pytest.mark.parametrize("text", ["uniform", "nice:8", "chunks:2", "distributed:4:2", "buckets:5", "independent:0.1"])
def test_samplings_by_their_names(text):
    result = df.solve(problem(), sampling=text, max_epochs=500)
    assert result.status == "converged"
    assert result.sampling == repr(df.samplings.by_name(text))


def test_a_bound_sampling_is_taken_as_it_is():
    small = problem()
    bound = df.samplings.Nice(4).bind(small)
    assert (df.solve(small, sampling=bound).w == df.solve(small, sampling="nice:4").w).all()


def test_progress_goes_to_standard_error_and_only_when_asked(capfd):
    df.solve(problem(), tol=0, max_epochs=2)
    assert capfd.readouterr() == ("", "")
    sets = df.samplings.SetList([[0, 1], np.arange(2, 60)])  # brackets in a title are not markup
    df.solve(problem(), tol=0, max_epochs=2, progress=True, sampling=sets)
    out, err = capfd.readouterr()
    assert out == ""
    assert "SetList" in err
    assert "epoch 2.0/2" in err
    assert "gap" in err


def test_repr_of_a_result_is_one_line():
    shown = repr(df.solve(problem()))
    assert shown.startswith("<Result converged: P = ")
    assert "\n" not in shown
