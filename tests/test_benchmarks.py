"""The benchmark judges fairly: its objective is the package's, and every peer here minimises exactly that."""

import doctest
import subprocess
import sys
from pathlib import Path

import benchmarks.peers
import numpy as np
import pytest
from benchmarks import data, files, kernel, objective, optimum, scaling, threads
from benchmarks.objective import gradient, value, value_and_gradient
from benchmarks.peers import LOSSES, MODULES, Peer, Task, base, peers, peers_of
from benchmarks.peers.dualfree import problem_of
from benchmarks.race import pictures, rule, tables
from scipy.sparse import csr_matrix

import dualfree as df

DOCUMENTED = [benchmarks.peers, base, data, files, objective, optimum, pictures, rule, scaling, tables, threads]


def small(loss, sparse=False, lam_n=0.1):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 8)) * (rng.random((120, 8)) < 0.7)
    X /= np.linalg.norm(X, axis=1).max()
    y = np.where(X @ rng.standard_normal(8) + 0.2 * rng.standard_normal(120) > 0, 1.0, -1.0)
    return Task(csr_matrix(X) if sparse else X, y, loss, lam_n / 120)


each_loss = pytest.mark.parametrize("loss", LOSSES)
each_layout = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])


@each_loss
@each_layout
def test_the_objective_is_that_of_the_package(loss, sparse):
    task = small(loss, sparse)
    problem, w = problem_of(task), np.random.default_rng(0).standard_normal(task.d)
    assert value(task, w) == pytest.approx(problem.value(w), rel=1e-13)
    np.testing.assert_allclose(gradient(task, w)[0], problem.gradient(w), rtol=1e-10, atol=1e-14)
    assert value_and_gradient(task, w)[0] == pytest.approx(value(task, w), rel=1e-14)
    np.testing.assert_array_equal(value_and_gradient(task, w)[1], gradient(task, w)[0])


@each_loss
@each_layout
def test_two_methods_agree_on_the_optimum(loss, sparse):
    found = optimum.find_optimum(small(loss, sparse))
    assert found.disagreement <= 1e-11
    assert found.certified <= 1e-12


def test_not_finite_is_infinitely_bad():
    assert value(small("logistic"), np.full(8, np.nan)) == np.inf


@each_layout
@pytest.mark.parametrize("name", list(peers()))
@pytest.mark.filterwarnings("ignore")
def test_every_peer_here_minimises_the_same_objective(name, sparse):
    peer = peers()[name]
    if (reason := peer.missing()) is not None:
        pytest.skip(reason)
    for loss in peer.losses:
        task = small(loss, sparse, lam_n=2.0)
        if peer.skips(task) is not None:
            continue
        best = optimum.find_optimum(task).value
        w = peer.fit(task, peer.prepare(task), min(peer.grid[-1], 1e-9) if len(peer.grid) > 1 else peer.grid[0])
        assert np.asarray(w).size == task.d
        assert abs(value(task, w) - best) <= 1e-6 * best


def test_names_are_unique_and_losses_known():
    everybody = [peer for module in MODULES for peer in peers_of(module)]
    assert len({peer.name for peer in everybody}) == len(everybody)
    assert all(set(peer.losses) <= set(LOSSES) for peer in everybody)
    assert all(list(peer.grid) == sorted(peer.grid, reverse=True) for peer in everybody)


def test_a_missing_peer_says_why():
    absent = Peer("absent", "no_such_module_at_all", "no-such-thing", lambda task, data, tol: None)
    assert absent.missing() == "ModuleNotFoundError: No module named 'no_such_module_at_all'"
    assert absent.missing({"no-such-thing": "no wheel for this Python"}).endswith("(pip: no wheel for this Python)")


def test_what_a_peer_cannot_do_is_said():
    cholesky = peers()["sklearn newton-cholesky"]
    assert cholesky.skips(small("squared")) == "it has no squared loss"
    wide = Task(csr_matrix((3, 100_000)), np.ones(3), "logistic", 1.0)
    assert cholesky.skips(wide) == "its d × d matrix would take 80.0 GB"
    assert cholesky.skips(small("logistic")) is None


@pytest.mark.parametrize("name", ["breast-cancer", "digits", "wide-dense", "ill-conditioned"])
def test_data_are_scaled(name):
    found = data.load(name)
    assert np.linalg.norm(found.X, axis=1).max() == pytest.approx(1, abs=1e-12)
    assert found.X.flags.c_contiguous
    assert set(np.unique(found.y)) == {-1.0, 1.0}


def test_unknown_data():
    with pytest.raises(ValueError, match="There is no dataset or file called 'w9a'"):
        data.load("w9a")


def test_text_like_rows():
    X, y = data.text_like(500, 300, 12, block=100)
    assert X.has_sorted_indices
    assert X.has_canonical_format
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1.0)
    assert np.bincount(X.indices, minlength=300)[:10].sum() > np.bincount(X.indices, minlength=300)[100:110].sum()
    assert 0.3 < (y > 0).mean() < 0.7


@pytest.mark.parametrize("module", DOCUMENTED, ids=lambda module: module.__name__)
def test_examples(module):
    outcome = doctest.testmod(module)
    assert outcome.failed == 0
    assert outcome.attempted > 0


def test_the_kernel_benchmark_times_steps_that_converge():
    digits = data.load("digits")
    problem = df.Problem(digits.X, df.losses.Logistic(digits.y), 1 / len(digits.y))
    calls = kernel.contestants(problem)
    before = calls["evaluation"]()
    for _ in range(10):
        assert all(calls[step]() > 0 for step in kernel.STEPS)
    after = calls["evaluation"]()
    assert after.duality_gap < 1e-6 * before.duality_gap
    assert calls["pass"]().value == pytest.approx(after.value, rel=1e-14)


def test_benchopt_runs_it():
    pytest.importorskip("benchopt")
    folder = Path(__file__).parent.parent / "benchmarks" / "l2_linear"
    chosen = [
        "-d",
        "scikit-learn[dataset=breast-cancer]",
        "-o",
        "*[loss=logistic,lam_n=1.0]",
        "-s",
        "dualfree",
        "-s",
        "scipy",
    ]
    command = [sys.executable, "-m", "benchopt", "run", str(folder), *chosen, "-n", "2", "-r", "1", "--no-plot"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stdout.lower()
