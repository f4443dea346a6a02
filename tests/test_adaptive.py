"""AdaSDCA's probabilities: their formula, their draws, what a step with them gains, and who takes them."""

import numpy as np
import pytest

import dualfree as df
from dualfree import reference
from dualfree._native import kernels
from helpers.problems import LOSSES, random_twins
from small_problems import problem as small_problem

Adaptive = df.samplings.Adaptive


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_probabilities_equal_the_reference(loss, weighted):
    fast, slow = random_twins(loss, weighted=weighted)
    rng = np.random.default_rng(1)
    w, alpha = rng.normal(size=fast.d), rng.normal(size=fast.n)
    alpha[fast.l == 0] = 0.0  # such a loss has nothing to move
    bound = Adaptive().bind(fast)
    np.testing.assert_allclose(bound.now, reference.adaptive_probabilities(slow, np.zeros(fast.d), np.zeros(fast.n)))
    bound.refresh(w, alpha)
    np.testing.assert_allclose(bound.now, reference.adaptive_probabilities(slow, w, alpha), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("lam", [0.3, 0.03, 0.003])
def test_one_step_gains_what_is_proven(loss, lam):
    """The expectation over i is a sum that can be written down: no seeds, no statistics."""
    problem = small_problem(loss, lam=lam)
    n, smooth, v = problem.n, problem.l, problem.norms**2
    alpha = df.solve(problem, tol=0, max_epochs=1).alpha
    for start in (np.zeros(n), 0.5 * problem.loss.project(alpha)):
        w = problem.primal(start)
        bound = Adaptive().bind(problem)
        bound.refresh(w, start)
        kappa = np.abs(start + problem.derivatives(w))
        theta = (kappa**2 / smooth).sum() / (kappa * np.sqrt(1 / smooth + v / (n * lam))).sum() ** 2
        theta = min(theta, bound.now[kappa > 0].min())
        before, gained = problem.dual_value(start), 0.0
        for i in range(n):
            moved, there = start.copy(), w.copy()
            kernels.dfsdca(problem.examples.native, problem.loss.native, 0.0, v / (lam * n), 1 / (lam * n),
                           np.array([i]), None, moved, there)  # fmt: skip
            gained += bound.now[i] * (problem.dual_value(moved) - before)
        assert gained >= theta * problem.gap(w, start) * (1 - 1e-9)


def test_draws_follow_the_present_probabilities():
    problem = small_problem("logistic")
    bound = Adaptive().bind(problem)
    bound.refresh(np.full(problem.d, 3.0), np.linspace(0, 1, problem.n) * problem.loss.y)
    drawn = np.concatenate([bound.draw(epoch * problem.n, problem.n, seed=2).indices for epoch in range(1000)])
    wanted = bound.now * len(drawn)
    seen = np.bincount(drawn, minlength=problem.n)
    used = wanted > 5
    chi_square = ((seen - wanted)[used] ** 2 / wanted[used]).sum()
    assert chi_square < used.sum() + 5 * np.sqrt(2 * used.sum())


def test_a_draw_depends_on_seed_and_iteration_and_not_on_the_pieces():
    problem = small_problem("logistic")
    for sampling in (Adaptive(), Adaptive(shrink=10)):
        bound = sampling.bind(problem)
        whole = bound.draw(0, 150, seed=7).indices
        pieces = [bound.draw(first, 30, seed=7).indices for first in range(0, 150, 30)]
        assert (whole == np.concatenate(pieces)).all()
        assert (whole != bound.draw(0, 150, seed=8).indices).any()
        assert bound.draw(10, 0).count == 0


def test_shrinking_is_the_literal_process():
    weights, shrink, n = np.array([5.0, 0.0, 1.0, 3.0, 0.5]), 4.0, 400
    u = (kernels.random_words(9, 6, 3, n) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    left, expected = weights.copy(), []
    for value in u:
        expected.append(int(np.searchsorted(np.cumsum(left), value * left.sum(), side="right")))
        left[expected[-1]] /= shrink
    assert kernels.draw_shrinking(9, 3, weights, shrink, n).tolist() == expected
    assert 1 not in expected


def test_shrinking_spreads_the_visits():
    problem = small_problem("logistic", lam=1e-4)
    counts = [np.bincount(s.bind(problem).draw(0, problem.n).indices).max() for s in (Adaptive(), Adaptive(shrink=10))]
    assert counts[1] < counts[0]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("sampling", [Adaptive(), Adaptive(shrink=10), "adaptive"], ids=repr)
def test_dfsdca_takes_them_too(sampling, loss, intercept):
    plain = small_problem(loss, lam=0.01)
    problem = df.Problem(plain.examples.X, plain.loss, plain.lam, intercept=intercept)
    result = df.solve(problem, sampling=sampling, tol=1e-9, max_epochs=500)
    assert result.status == "converged", result.message
    assert not result.bound.covered
    assert (
        df.solve(problem, method="adasdca", sampling=sampling, tol=1e-9, max_epochs=500).w.tolist() == result.w.tolist()
    )
    per_example = df.solve(problem, sampling=sampling, step="per-example", tol=1e-6, max_epochs=1000)
    assert per_example.status == "converged"


def test_probabilities_are_taken_anew_each_epoch(monkeypatch):
    problem, times = small_problem("logistic"), []
    kind = type(Adaptive().bind(problem))
    refresh = kind.refresh

    def counted(self, *arguments):
        times.append(arguments)
        refresh(self, *arguments)

    monkeypatch.setattr(kind, "refresh", counted)
    df.solve(problem, sampling=Adaptive(), tol=0, max_epochs=5, evaluate_every=2.5)
    assert len(times) == 1 + 5  # once when it is bound, and at the start of each epoch


def test_what_is_refused():
    problem = small_problem("logistic")
    for step in ("theorem-1", "theorem-2", 0.001, "tuned"):
        with pytest.raises(ValueError, match=r"change during the run, and .*take step='implicit' or 'per-example'"):
            df.solve(problem, sampling="adaptive", step=step)
    with pytest.raises(ValueError, match=r"method='adasdca' is defined for sampling='adaptive', not for Nice\(tau=2\)"):
        df.solve(problem, method="adasdca", sampling="nice:2")
    with pytest.raises(ValueError, match=r"shrink is 1; it must be above 1"):
        Adaptive(shrink=1)
    mixed = df.losses.Squared(np.ones(3), weight=np.array([1.0, 1.0, -1.0]))
    with pytest.raises(ValueError, match=r"sampling='adaptive' needs every φ_i to be convex"):
        df.solve(df.Problem(np.eye(3), mixed, 3.0), sampling="adaptive")
    with pytest.raises(ValueError, match="method='saga' is defined for sampling="):
        df.solve(problem, method="saga", sampling="adaptive")


class InPython(df.losses.Loss):
    def value(self, z, y):
        return 0.5 * (z - y) ** 2

    def derivative(self, z, y):
        return z - y

    def smoothness(self, y):
        return np.ones_like(y)


def test_a_loss_in_python_may_have_them():
    X = np.random.default_rng(0).normal(size=(30, 4))
    assert df.solve(df.Problem(X, InPython(X @ np.ones(4)), 0.1), method="adasdca", tol=1e-8).status == "converged"
