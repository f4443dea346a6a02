"""Theorem 2 for examples with several outputs: the potential falls as promised, in the mean over seeds."""

import numpy as np
import pytest

import dualfree as df
from dualfree.paper import theorems


def softmax_problem(n=48, d=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < np.linspace(0.9, 0.3, d))
    X *= rng.uniform(0.3, 1.0, size=(n, 1)) / np.sqrt((X**2).sum(axis=1).max())
    return df.Problem(X, df.losses.Softmax(rng.integers(3, size=n)), lam=1 / n)


def choice_problem(n=48, d=4):
    rng = np.random.default_rng(1)
    start = np.concatenate([[0], np.cumsum(rng.integers(2, 5, size=n))])
    X = rng.normal(size=(start[-1], d)) * (rng.random((start[-1], d)) < 0.6) / 3
    return df.Problem(df.Blocks(X, start), df.losses.ConditionalLogit(np.zeros(n)), lam=1 / n)


PROBLEMS = {"softmax": softmax_problem(), "choice": choice_problem()}
SAMPLINGS = [
    "uniform",
    "importance",
    "τ-nice, τ = 6",
    "2 of 8 chunks",
    "3 parts, 2 of each",
    "one of each of 6 buckets",
]


@pytest.fixture(scope="module")
def optima():
    return {name: theorems.optimum(problem) for name, problem in PROBLEMS.items()}


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_theorem_2_in_expectation(name, sampling, optima):
    problem = PROBLEMS[name]
    w, alpha = optima[name]
    assert np.abs(problem.gradient(w)).max() < 1e-8
    bound = theorems.convex_samplings(problem.n)[sampling].bind(problem)
    decay = theorems.simulate(sampling, bound, (w.ravel(), alpha), theorem=2, seeds=60)
    assert decay.kept
    assert (decay.mean - 3 * decay.standard_error <= decay.promised * (1 + 1e-12)).all()
