"""The picture of all methods: each runs, or says why not, and is drawn."""

import doctest

import numpy as np
from benchmarks import methods
from benchmarks.data import Data

from dualfree.methods import METHODS
from small_problems import data, labels


def test_examples():
    assert doctest.testmod(methods).failed == 0


def test_every_method_has_a_curve_and_a_row(tmp_path):
    X = data(n=40, d=6)
    runs = [methods.measure("small", Data(X, labels(X), "synthetic"), epochs=4, seconds=20)]
    assert set(runs[0].curves) | set(runs[0].left_out) == set(METHODS)
    assert not runs[0].left_out
    for curve in runs[0].curves.values():
        assert curve.suboptimality[0] <= 1 + 1e-9  # Newton's method begins with a point of its own
        assert min(curve.suboptimality) < curve.suboptimality[0]
    rows = methods.rows_of(runs)
    assert [row[1] for row in rows] == list(METHODS)
    methods.draw(runs, tmp_path / "methods.png")
    assert (tmp_path / "methods.png").stat().st_size > 10_000


def test_who_cannot_run_says_why():
    X = np.eye(6, 5001)
    one = methods.measure("wide", Data(X, np.array([1.0, -1, 1, -1, 1, -1]), "synthetic"), epochs=1, seconds=20)
    assert "at most 5000 weights" in one.left_out["newton"]
