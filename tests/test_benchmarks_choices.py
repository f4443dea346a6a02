"""The benchmark of `auto`'s choices: every shape can be made, and each cell knows who was the best."""

import doctest

import numpy as np
import pytest
from benchmarks import choices, shapes

from dualfree.losses import Logistic


def test_examples():
    assert doctest.testmod(shapes).failed == 0


@pytest.mark.parametrize("kind", [*shapes.DENSE, *shapes.SPARSE])
def test_every_kind_has_rows_of_length_one_at_most_and_both_labels(kind):
    shape = shapes.Shape(kind, 60, 20, 4 if kind in shapes.SPARSE else 0)
    X, y = shapes.make(shape)
    assert X.shape == (60, 20)
    squares = np.asarray((X.multiply(X) if shape.row else X * X).sum(axis=1)).ravel()
    assert squares.max() == pytest.approx(1.0)
    assert set(y) == {-1.0, 1.0}
    again, labels = shapes.make(shape)
    assert (again != X).sum() == 0
    np.testing.assert_array_equal(labels, y)
    other, _ = shapes.make(shape, seed=1)
    assert (other != X).sum() > 0


def test_a_cell_has_all_methods_that_can_run_and_a_best_one(tmp_path):
    shape = shapes.Shape("isotropic", 80, 10)
    X, y = shapes.make(shape)
    one = choices.measure(shape, X, Logistic(y), 1.0, 1e-3, repeats=1, limit=20.0)
    assert set(one.seconds) == set(choices.METHODS)
    assert one.best in ("dfsdca", "newton", "lbfgs")
    assert one.seconds[one.best] == min(one.seconds[name] for name in ("dfsdca", "newton", "lbfgs"))
    assert one.did.startswith("auto: ")
    choices.show([one], worst=1)
    choices.write([one], tmp_path / "choices.csv")
    heading, line = (tmp_path / "choices.csv").read_text().splitlines()
    assert len(heading.split(",")) == len(line.split(",")) == 11
    assert line.startswith("isotropic,80,10,0,1,0.001,")


def test_newton_is_left_out_where_features_are_many():
    shape = shapes.Shape("categories", 40, 6000, 4)
    X, y = shapes.make(shape)
    assert set(choices.measure(shape, X, Logistic(y), 1.0, 1e-3, 1, 20.0).seconds) == {"dfsdca", "lbfgs", "auto"}
