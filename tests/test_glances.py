"""Glances at a run: sums over some examples, what they estimate, and how seldom all of them are asked."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree._native import kernels
from dualfree.methods.base import State
from dualfree.methods.drift import Drift
from dualfree.methods.glances import Glances

LAYOUTS = {
    "csr": sparse.csr_array,
    "float32": lambda X: sparse.csr_array(X, dtype=np.float32),
    "dense": lambda X: X,
    "one value": lambda X: sparse.csr_array((X != 0) * 0.5),
}


def make(layout="csr", n=203, d=9, loss=df.losses.Logistic, lam=0.01):
    rng = np.random.default_rng(0)
    X = LAYOUTS[layout](np.where(rng.random((n, d)) < 0.5, rng.normal(size=(n, d)), 0.0))
    problem = df.Problem(X, loss(np.sign(rng.normal(size=n))), lam)
    alpha = problem.loss.project(0.3 * rng.normal(size=n))
    return problem, State(problem.primal(alpha), alpha, drift=Drift(at=0))


@pytest.mark.parametrize("loss", [df.losses.Logistic, df.losses.SquaredHinge, df.losses.Huber])
@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@pytest.mark.parametrize(("first", "stride", "length"), [(0, 8, 8), (3, 40, 8), (200, 50, 16), (10, 11, 1)])
def test_sums_over_runs_are_those_of_their_examples(layout, loss, first, stride, length):
    problem, state = make(layout, loss=loss)
    at = np.array([i for i in range(problem.n) if i >= first and (i - first) % stride < length])
    z, loss_ = problem.margins(state.w), problem.loss
    values = loss_.values(z)
    terms = np.maximum(0.0, values + loss_.weighted_conjugate(state.alpha) + state.alpha * z)
    seen = problem.examples.fenchel_of_runs(loss_.native, state.w, state.alpha, first, stride, length)
    assert seen[2] == len(at)
    np.testing.assert_allclose(seen[:2], [values[at].sum(), terms[at].sum()], rtol=1e-11)


def test_runs_that_make_no_sense_are_refused():
    problem, state = make()
    for runs in ((-1, 8, 8), (0, 8, 0), (0, 4, 8), (0, 200, 129)):
        with pytest.raises(ValueError, match="runs must begin at 0 or later"):
            kernels.fenchel_of_runs(problem.examples.native, problem.loss.native, state.w, state.alpha, *runs)


def test_samples_tell_about_what_all_examples_do(monkeypatch):
    monkeypatch.setattr("dualfree.methods.glances._WORTH_WHILE", 0)
    problem, state = make(n=20_000)
    glances = Glances(problem)
    true = glances.at_all(state, 1)
    found = []
    for state.iteration in range(0, 40_000, 1000):
        state.drift.at = state.iteration
        found.append(glances.at_some(state))
    assert len({peek.gap for peek in found}) > 35  # other examples each time
    assert np.mean([peek.gap for peek in found]) == pytest.approx(true.gap, rel=0.02)
    assert np.mean([peek.value for peek in found]) == pytest.approx(true.value, rel=0.01)
    assert glances.at_all(state, 1).proven >= true.gap


@pytest.mark.parametrize("options", [{}, {"n_threads": 2, "method": "dfsdca-copies"}], ids=["one", "copies"])
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_all_examples_are_asked_once_or_little_more(monkeypatch, options, tol):
    rng = np.random.default_rng(1)
    n, d, each = 6000, 3000, 40
    X = sparse.csr_array(
        (rng.random(n * each), (np.repeat(np.arange(n), each), rng.integers(d, size=n * each))), (n, d)
    )
    X.sum_duplicates()
    X /= np.sqrt(X.multiply(X).sum(axis=1).max())
    problem = df.Problem(X, df.losses.Logistic(np.sign(X @ rng.normal(size=d))), 1 / n)
    asked = {"at_all": 0, "at_some": 0}
    for name in asked:
        real = getattr(Glances, name)

        def count(self, *arguments, name=name, real=real):
            asked[name] += 1
            return real(self, *arguments)

        monkeypatch.setattr(Glances, name, count)
    given = {"method": "auto", "sampling": "restless", **options}
    result = df.solve(problem, tol=tol, **given)
    assert result.status == "converged"
    assert result.certificate.relative_gap <= tol
    assert 1 <= asked["at_all"] <= 2
    assert asked["at_some"] >= asked["at_all"]


def test_small_problems_and_losses_in_python_are_not_sampled():
    problem, state = make()
    assert Glances(problem).at_some(state) is None

    class Mine(df.losses.Loss):
        def value(self, z, y):
            return 0.5 * (z - y) ** 2

        def derivative(self, z, y):
            return z - y

        def smoothness(self, y):
            return np.ones(len(y))

    own = df.Problem(np.eye(4), Mine(np.ones(4)), 0.1)
    assert Glances(own).at_all(State(np.zeros(4), np.zeros(4)), 1) is None
