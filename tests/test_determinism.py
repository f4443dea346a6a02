"""One seed, one answer: bit for bit, in every process, whatever the pieces in which the work is done."""

import hashlib
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dualfree as df
from small_problems import SAMPLINGS, SHAPES, problem

OPTIONS = {"tol": 0, "max_epochs": 4}


def bits(result):
    """Everything of a result that a seed decides: all but the clock."""
    history = result.history
    parts = (result.w, result.alpha, history.epoch, history.value, history.gap, history.gradient_norm)
    return b"".join(part.tobytes() for part in parts)


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize("loss", ["logistic", *SHAPES])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_same_seed_same_bits_and_other_seed_other_bits(sampling, loss, kind):
    def run(seed):
        small = problem(loss, kind=kind)
        return bits(df.solve(small, sampling=SAMPLINGS[sampling](small.n), step="theorem-2", seed=seed, **OPTIONS))

    assert run(5) == run(5)
    assert run(5) != run(6)


@pytest.mark.parametrize("seed", [0, 2**32, 2**63, 2**64 - 1, np.uint64(7)])
@pytest.mark.parametrize("sampling", ["shuffled", "uniform", "custom"])
def test_seeds_of_all_sizes(sampling, seed):
    small = problem()
    result = df.solve(small, sampling=SAMPLINGS[sampling](small.n), step="theorem-2", seed=seed, **OPTIONS)
    assert result.seed == int(seed)


@pytest.mark.parametrize("loss", ["logistic", *SHAPES])
@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_evaluations_do_not_change_the_path(sampling, loss):
    def run(every):
        small = problem(loss)
        chosen = SAMPLINGS[sampling](small.n)
        return df.solve(small, sampling=chosen, tol=0, max_epochs=6, evaluate_every=every)

    often, seldom = run(0.5), run(6)
    assert often.iterations == seldom.iterations
    # Not w: the best point is returned, and more evaluations see more points.
    assert often.history[-1].value == pytest.approx(seldom.history[-1].value, rel=1e-12)
    assert often.history[-1].gradient_norm == pytest.approx(seldom.history[-1].gradient_norm, rel=1e-6)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_draws_do_not_depend_on_the_pieces(sampling):
    small = problem()
    bound = SAMPLINGS[sampling](small.n).bind(small)
    whole = bound.draw(0, 30, seed=3).indices
    pieces = [bound.draw(first, count, seed=3).indices for first, count in ((0, 7), (7, 1), (8, 22))]
    assert whole.tolist() == np.concatenate(pieces).tolist()


@pytest.mark.parametrize("step", ["implicit", "tuned"])
def test_a_result_survives_pickling(step):
    result = df.solve(problem(), step=step, sampling="uniform")
    again = pickle.loads(pickle.dumps(result))
    assert bits(again) == bits(result)
    assert again.status is result.status
    assert (again.certificate, again.bound, again.message) == (result.certificate, result.bound, result.message)
    assert again.tuning == result.tuning
    assert again.history == result.history


def test_results_compare_by_identity():
    first, second = df.solve(problem()), df.solve(problem())
    assert first != second
    assert len({first, second}) == 2


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from test_determinism import digest
print(digest())
"""


def digest():
    problems = (problem(), problem("softmax"), problem("conditional-logit"))
    names = ("shuffled", "nice:7", "buckets:6")
    runs = (df.solve(small, sampling=name, seed=11, **OPTIONS) for small in problems for name in names)
    return hashlib.sha256(b"".join(bits(run) for run in runs)).hexdigest()


def test_another_process_gets_the_same_bits():
    here = str(Path(__file__).parent)
    run = subprocess.run([sys.executable, "-c", SCRIPT, here], capture_output=True, text=True, check=False)
    assert run.stdout.strip() == digest(), run.stderr
