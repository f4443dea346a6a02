"""Every instruction set that this processor runs gives the same answers."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import dualfree as df
from dualfree import _native
from dualfree._native import kernels
from helpers.problems import LAYOUTS, LOSSES, random_twins, with_layout

SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_instruction_sets import answers
from dualfree._native import ISA, kernels
print(json.dumps([ISA, kernels.level, answers()]))
"""


def answers():
    """Points after some epochs, ESO parameters and draws, for all losses, layouts and floats."""
    found = {}
    for name in sorted(LOSSES):
        for layout in LAYOUTS:
            for dtype in (np.float32, np.float64):
                fast, _ = random_twins(name, seed=2, n=40, d=19)
                X = with_layout(fast.examples.X.astype(dtype), layout)
                problem = df.Problem(X, fast.loss, fast.lam)
                for sampling in ("importance", "nice:7", "independent:0.2", "restless"):
                    result = df.solve(problem, sampling=sampling, tol=0, max_epochs=5, seed=4)
                    key = f"{name}/{layout}/{dtype.__name__}/{sampling}"
                    found[key] = [*result.w.tolist(), *result.alpha.tolist(), result.certificate.gap]
    found["v"] = df.samplings.Distributed(4, 3).bind(problem).v.tolist()
    found["draws"] = df.samplings.Independent(0.3).bind(problem).draw(0, 50, seed=9).indices.tolist()
    found["rounds"] = [rounds_of(n) for n in (1, 15, 16, 17, 5003)]
    found["sums of products"] = sums_of_products()
    return found


def sums_of_products():
    """Of rows of 59 numbers, taken as dense ones."""
    X, out = np.random.default_rng(5).normal(size=(300, 59)), np.zeros(59 * 59)
    rows = df.Problem(X, df.losses.Squared(np.ones(300)), 1.0).examples.native
    kernels.dense_gram(rows, np.arange(300), np.linspace(-1, 2, 300), out)
    return out.tolist()


def rounds_of(n):
    """Visits of some rounds; unrests are powers of two, whose sums are exact in any order."""
    unrest = 2.0 ** np.random.default_rng(n).integers(-12, 3, n)
    order, visits = np.empty(n + 1, dtype=np.int64), []
    for k in range(20):
        kernels.draw_restless(9, k, unrest, n // 8, False, 0.0, order)
        visits.extend(order[: n // 8].tolist())
    return visits


@pytest.mark.parametrize("level", _native.SUPPORTED)
def test_same_answers_on_every_instruction_set(level):
    here = os.path.dirname(__file__)
    environment = {**os.environ, "DUALFREE_ISA": level}
    command = [sys.executable, "-c", SCRIPT, here]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    chosen, compiled, theirs = json.loads(done.stdout)
    assert (chosen, compiled) == (level, level)
    ours = answers()
    for key in ("draws", "rounds"):
        assert theirs.pop(key) == ours.pop(key)
    for key, values in ours.items():
        np.testing.assert_allclose(theirs[key], values, rtol=1e-10, atol=1e-10, err_msg=key)


def test_an_unknown_instruction_set_is_refused_in_words():
    environment = {**os.environ, "DUALFREE_ISA": "sse1"}
    command = [sys.executable, "-c", "import dualfree"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    able = ", ".join(_native.SUPPORTED)
    assert f"DUALFREE_ISA is 'sse1', but this build on this processor runs only: {able}." in done.stderr
