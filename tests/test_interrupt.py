"""Ctrl-C: a real SIGINT in the middle of a run returns the best answer so far."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from compiled_losses import LogCosh
from small_problems import data, invariant_error, problem, targets


@pytest.fixture
def interrupt_later():
    """Sends SIGINT to this process after a while; a signal that has not come when the test ends is called off."""
    timers = []

    def later(seconds):
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        timers.append(timer)
        timer.start()

    yield later
    for timer in timers:
        timer.cancel()


def large_problem():
    rng = np.random.default_rng(0)
    X = sparse.random_array((20_000, 500), density=0.02, format="csr", rng=rng)
    return df.Problem(X, df.losses.Logistic(np.sign(rng.normal(size=20_000))), lam=1e-3)


def check(of, result):
    assert result.status == "interrupted"
    assert "Interrupted (Ctrl-C)" in result.message
    assert np.isfinite(result.w).all()
    assert result.certificate.gap == result.history.gap.min()
    assert invariant_error(of, result) < 1e-10


@pytest.mark.parametrize("sampling", ["shuffled", "nice:16"])
def test_while_kernels_run(interrupt_later, sampling):
    large = large_problem()
    interrupt_later(0.3)
    # One evaluation at the start, and no other for as long as anybody would wait.
    result = df.solve(large, tol=0, max_epochs=1e6, evaluate_every=1e6, sampling=sampling)
    check(large, result)
    assert result.certificate.value < result.history[0].value
    assert len(result.history) == 2


def test_while_a_loss_in_python_runs(interrupt_later):
    X = data(2000)
    slow = df.Problem(X, LogCosh(targets(X)), lam=1e-4)
    interrupt_later(0.3)
    check(slow, df.solve(slow, tol=0, max_epochs=1e6, evaluate_every=1e6))


def test_from_the_callback():
    small = problem()

    def callback(row):
        if row.epoch == 2:
            os.kill(os.getpid(), signal.SIGINT)

    result = df.solve(small, tol=0, max_epochs=1e6, callback=callback)
    check(small, result)
    assert result.epochs >= 2


def test_between_alpha_and_w_the_invariant_is_restored(monkeypatch):
    """The worst moment: a Python loss has written α and not yet w."""
    X = data()
    slow = df.Problem(X, LogCosh(targets(X)), lam=0.01)
    combine, calls = slow.examples.combine, []

    def interrupted_combine(*arguments, **named):
        calls.append(None)
        if len(calls) == 30:
            raise KeyboardInterrupt
        return combine(*arguments, **named)

    monkeypatch.setattr(slow.examples, "combine", interrupted_combine)
    check(slow, df.solve(slow, tol=0, max_epochs=1e6, sampling="nice:5"))


def test_after_it_has_converged_it_counts_as_converged():
    def callback(row):
        if row.epoch == 5:
            raise KeyboardInterrupt

    assert df.solve(problem(), tol=1e-3, evaluate_every=5, callback=callback).status == "converged"


def test_in_a_process_of_its_own():
    """As a user does it: a script, a signal from outside, and the script goes on to print its answer."""
    script = textwrap.dedent(
        """
        import numpy as np, dualfree as df
        rng = np.random.default_rng(0)
        X = rng.normal(size=(20_000, 50))
        problem = df.Problem(X, df.losses.Logistic(np.sign(rng.normal(size=20_000))), lam=1e-3)
        def callback(row):
            print("going", flush=True)
        result = df.solve(problem, tol=0, max_epochs=1e6, callback=callback)
        print(result.status, result.certificate.gap < result.history[0].gap, flush=True)
        """
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(3):
            assert process.stdout.readline() == "going\n"
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert rest.splitlines()[-1] == "interrupted True"
    assert process.returncode == 0
