"""Samplings that cannot be: each refused by a sentence, before any work starts where that is possible."""

import numpy as np
import pytest

import dualfree as df
from dualfree import samplings as s
from small_problems import EveryOther, problem

N = 60


def bad(error, sentence, make):
    """One case: a sampling that `make` builds and that must be refused."""
    return pytest.param(error, sentence, make, id=sentence[:50])


CASES = [
    bad(ValueError, r"p adds up to 0\.6; it must add up to 1", lambda: s.Serial(np.full(N, 0.01))),
    bad(
        ValueError,
        r"p\[3\] is 0; every probability must be above 0",
        lambda: s.Serial(np.r_[[1 / 59] * 3, 0, [1 / 59] * 56]),
    ),
    bad(ValueError, r"p\[0\] is 1\.5; .* at most 1", lambda: s.Independent(np.r_[1.5, np.full(59, 0.1)])),
    bad(ValueError, r"p\[0\] is -0\.1; every probability", lambda: s.Independent(np.r_[-0.1, np.full(59, 0.1)])),
    bad(ValueError, r"p\[0\] is nan; every entry must be finite", lambda: s.Independent(np.full(N, np.nan))),
    bad(ValueError, r"p is 0; it must be a finite number above 0", lambda: s.Independent(0)),
    bad(TypeError, r"p is 'x'; it must be a number", lambda: s.Independent("x")),
    bad(ValueError, r"p has 2 entries; it must have 60", lambda: s.Serial([0.5, 0.5])),
    bad(ValueError, r"c is 1; it must be above 1", lambda: s.RandomSerial(1)),
    bad(ValueError, r"theorem is 3; it must be between 1 and 2", lambda: s.Importance(theorem=3)),
    bad(ValueError, r"tau is 61; it must be between 1 and 60", lambda: s.Nice(61)),
    bad(ValueError, r"tau is 0; it must be at least 1", lambda: s.Nice(0)),
    bad(TypeError, r"tau is 2\.5; it must be a whole number", lambda: s.Nice(2.5)),
    bad(TypeError, r"tau is True; it must be a whole number", lambda: s.Nice(True)),
    bad(ValueError, r"tau is 9, but there are only 3 chunks", lambda: s.Chunks(9, chunks=3)),
    bad(ValueError, r"chunks has sizes that add up to 59; .* n = 60", lambda: s.Chunks(1, chunks=[30, 29])),
    bad(ValueError, r"chunks must be sizes between 1 and n = 60", lambda: s.Chunks(1, chunks=[60, 0])),
    bad(
        ValueError,
        r"chunks must be sizes between 1",
        lambda: s.Chunks(1, chunks=np.array([2**63, 2**63, 60], np.uint64)),
    ),
    bad(ValueError, r"chunks must be sizes .* got \[30\.5, 29\.5\]", lambda: s.Chunks(1, chunks=[30.5, 29.5])),
    bad(TypeError, r"chunks is 3\.5; it must be a whole number", lambda: s.Chunks(1, chunks=3.5)),
    bad(TypeError, r"chunks is 'many'; it must be a whole number", lambda: s.Chunks(1, chunks="many")),
    bad(ValueError, r"chunks must be a list of non-empty arrays", lambda: s.Chunks(1, chunks=[])),
    bad(ValueError, r"blocks is 61; it must be between 1 and 60", lambda: s.Partition(61)),
    bad(TypeError, r"blocks is True; it must be a whole number", lambda: s.Partition(True)),
    bad(ValueError, r"blocks holds example 59 0 times; .* exactly one group", lambda: s.Partition([np.arange(59)])),
    bad(ValueError, r"blocks holds example 0 2 times; .* exactly one group", lambda: s.Partition([np.arange(60), [0]])),
    bad(ValueError, r"blocks names example 60; .* 0\.\.59", lambda: s.Partition([np.arange(61)])),
    bad(ValueError, r"blocks names example -1; .* 0\.\.59", lambda: s.Partition([np.arange(-1, 59)])),
    bad(ValueError, r"q adds up to 1\.1; it must add up to 1", lambda: s.Partition(2, q=[0.5, 0.6])),
    bad(ValueError, r"q has 3 entries; it must have 2", lambda: s.Partition(2, q=[0.5, 0.3, 0.2])),
    bad(ValueError, r"tau is 31, but the smallest part has only 30", lambda: s.Distributed(2, 31)),
    bad(ValueError, r"p adds up to 6 in bucket 0; .* 1 in every bucket", lambda: s.Buckets(2, p=np.full(N, 0.2))),
    bad(ValueError, r"sets never holds example 59; every example", lambda: s.SetList([np.arange(59)])),
    bad(ValueError, r"sets names example 60; .* 0\.\.59", lambda: s.SetList([np.arange(61)])),
    bad(ValueError, r"sets holds \[0, 0\], which names an example twice", lambda: s.SetList([[0, 0]])),
    bad(ValueError, r"sets holds \[-1\]; each set must be", lambda: s.SetList([[-1]])),
    bad(ValueError, r"sets holds array.*; each set must be", lambda: s.SetList([np.array([2**63 + 5], np.uint64)])),
    bad(ValueError, r"sets holds \[\]; each set must be", lambda: s.SetList([[]])),
    bad(TypeError, r"sets is 5; it must be a list of index arrays", lambda: s.SetList(5)),
    bad(TypeError, r"chunks is array\(5\); it must be a whole number", lambda: s.Chunks(1, chunks=np.array(5))),
    bad(ValueError, r"sets is empty; it must hold at least one", lambda: s.SetList([])),
    bad(ValueError, r"sampling is 'nise:8'; it must be one of: uniform, .*nice:NUMBER", lambda: "nise:8"),
    bad(ValueError, r"sampling is 'nice'; it must be one of", lambda: "nice"),
    bad(ValueError, r"sampling is 'nice:x'; what follows a colon must be a number", lambda: "nice:x"),
    bad(ValueError, r"sampling is ''; it must be one of", lambda: ""),
    bad(TypeError, r"sampling is 8; it must be one of dualfree\.samplings, such as Nice\(8\)", lambda: 8),
    bad(TypeError, r"sampling is <class .*Nice'>; it must be one of", lambda: s.Nice),
]


@pytest.mark.parametrize(("error", "sentence", "make"), CASES)
def test_refused_with_a_sentence_before_any_step(error, sentence, make):
    with pytest.raises(error, match=sentence):
        df.solve(problem(), sampling=make(), callback=pytest.fail)


def test_bound_to_another_problem():
    bound = s.Nice(4).bind(problem())
    with pytest.raises(
        ValueError, match=r"sampling is Nice\(tau=4\) bound to another problem.*bind it to this problem"
    ):
        df.solve(problem(), sampling=bound)


class Drawn(EveryOther):
    """Draws what it is told to."""

    def __init__(self, drawn):
        self.drawn = drawn

    def draw(self, problem, rng):
        return self.drawn


@pytest.mark.parametrize(
    ("drawn", "error", "sentence"),
    [
        ([60], ValueError, r"Drawn\.draw returned example 60; examples are numbered 0\.\.59"),
        ([3, -1], ValueError, r"Drawn\.draw returned example -1; examples are numbered 0\.\.59"),
        ([2**63 + 1], ValueError, r"Drawn\.draw returned example 9223372036854775809; examples are numbered"),
        ([5, 5], ValueError, r"Drawn\.draw returned an example twice"),
        (
            [0.0, 1.0],
            TypeError,
            r"Drawn\.draw returned float64 of shape \(2,\); it must be a vector of example numbers",
        ),
        ([True, False], TypeError, r"Drawn\.draw returned bool of shape"),
        ([[0, 1]], TypeError, r"Drawn\.draw returned int64 of shape \(1, 2\)"),
        ([[0], [1, 2]], TypeError, r"Drawn\.draw returned \[\[0\], \[1, 2\]\]; it must be a vector"),
        (None, TypeError, r"Drawn\.draw returned object of shape"),
        (range(31), ValueError, r"Drawn\.draw returned 31 examples; Drawn\.largest\(problem\) promises at most 30"),
    ],
)
def test_a_draw_that_returns_garbage(drawn, error, sentence):
    with pytest.raises(error, match=sentence):
        df.solve(problem(), sampling=Drawn(drawn), step="theorem-2")


def test_a_draw_may_be_empty():
    assert df.solve(problem(), sampling=Drawn([]), step="theorem-2", max_epochs=2).status == "max_epochs"


class Promises(EveryOther):
    """Promises a largest set."""

    def __init__(self, size):
        self.size = size

    def largest(self, problem):
        return self.size


@pytest.mark.parametrize(
    ("size", "error", "sentence"),
    [
        (0, ValueError, r"Promises\.largest\(problem\) is 0; it must be at least 1"),
        (3.5, TypeError, r"Promises\.largest\(problem\) is 3\.5; it must be a whole number"),
        (10, ValueError, r"largest\(problem\) is 10, but the probabilities add up to 30"),
    ],
)
def test_a_largest_set_that_cannot_be(size, error, sentence):
    with pytest.raises(error, match=sentence):
        Promises(size).bind(problem())


class Unfinished(s.Sampling):
    """Defines nothing."""


def test_a_sampling_must_define_its_parts():
    with pytest.raises(TypeError, match=r"Unfinished does not define probabilities\(problem\)"):
        Unfinished().bind(problem())


class WrongESO(EveryOther):
    """Returns parameters that no sampling has."""

    def eso(self, problem):
        return np.r_[-1.0, np.ones(problem.n - 1)]


def test_negative_eso_parameters():
    with pytest.raises(ValueError, match=r"v\[0\] is -1; ESO parameters cannot be negative"):
        WrongESO().bind(problem())


class OwnDrawer(EveryOther):
    """Hands raw draws to the kernels, past every check in Python."""

    def __init__(self, draws):
        self.draws = draws

    def drawer(self, problem, p):
        return lambda seed, first, count: self.draws


@pytest.mark.parametrize(
    ("draws", "sentence"),
    [
        (s.Draws(np.array([60])), r"indices names example 60"),
        (s.Draws(np.array([-7])), r"indices names example -7"),
        (s.Draws(np.arange(4), np.array([0, 9])), r"batch_start must go from 0 to the number of indices"),
        (s.Draws(np.arange(4), np.array([0, 3, 2, 4])), r"batch_start must .* never decrease"),
        (s.Draws(np.arange(4), np.array([], dtype=np.int64)), r"batch_start must go from 0"),
    ],
)
def test_kernels_do_not_follow_wild_indices(draws, sentence):
    with pytest.raises(ValueError, match=sentence):
        df.solve(problem(), sampling=OwnDrawer(draws), step="theorem-2")


def test_a_sampling_changed_after_binding_does_not_reach_the_kernels():
    small, nice = problem(), s.Nice(4)
    bound = nice.bind(small)
    nice.tau = 10**6
    assert bound.draw(0, 3).indices.max() < small.n


@pytest.mark.parametrize("name", ["uniform", "shuffled", "nice:7", "distributed:4:3", "buckets:6", "independent:0.2"])
@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ((-1, 3, 0), ValueError, r"first is -1; it must be between 0"),
        ((0, -1, 0), ValueError, r"count is -1; it must be between 0"),
        ((0, 2**62, 0), ValueError, r"count is 4611686018427387904; it must be between 0"),
        ((0, 3, -1), ValueError, r"seed is -1; it must be between 0"),
        ((0, 2.5, 0), TypeError, r"count is 2\.5; it must be a whole number"),
    ],
)
def test_draws_that_cannot_be(name, arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        s.by_name(name).bind(problem()).draw(*arguments)


@pytest.mark.parametrize("name", ["uniform", "importance", "shuffled", "nice:7", "chunks:2", "buckets:6"])
def test_no_draws_at_all(name):
    drawn = s.by_name(name).bind(problem()).draw(5, 0)
    assert drawn.count == 0
    assert len(drawn.indices) == 0
