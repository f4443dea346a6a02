"""The loop on odd data: warm starts, float32, empty rows, one example, weights of zero, very long runs."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree.losses import Huber, Logistic, SmoothedHinge, Squared, SquaredHinge
from small_problems import LOSSES, SHAPES, data, invariant_error, labels, problem, targets

SHAPE = pytest.mark.parametrize("loss", ["logistic", *SHAPES])  # one loss for each shape of example


@pytest.mark.parametrize("loss", [*LOSSES, *SHAPES])
@pytest.mark.parametrize("size", [0.5, 50.0])
def test_warm_start_from_any_alpha(loss, size):
    small = problem(loss)
    start = size * np.random.default_rng(3).normal(size=small.examples.total)  # mostly outside the conjugate's domain
    result = df.solve(small, warm_start=start, tol=1e-9)
    assert result.status == "converged"
    np.testing.assert_allclose(result.w, df.solve(small, tol=1e-9).w, atol=1e-3)
    assert invariant_error(small, result) < 1e-10


@SHAPE
def test_warm_start_leaves_its_array_alone(loss):
    small = problem(loss)
    start = np.full(small.examples.total, 0.25)
    df.solve(small, warm_start=start)
    assert (start == 0.25).all()


@SHAPE
def test_warm_start_at_the_optimum_ends_at_once(loss):
    small = problem(loss)
    first = df.solve(small, tol=1e-8)
    again = df.solve(small, tol=1e-8, warm_start=first)
    assert again.epochs == again.iterations == 0
    assert again.status == "converged"
    assert (again.alpha == first.alpha).all()


@SHAPE
def test_warm_start_along_a_path_of_lambdas(loss):
    strong, weak = problem(loss, lam=0.1), problem(loss, lam=0.01)
    first = df.solve(strong)
    warm = df.solve(weak, warm_start=first, tol=1e-10)
    assert warm.status == "converged"
    np.testing.assert_allclose(warm.w, df.solve(weak, tol=1e-10).w, atol=1e-4)


@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize("loss", ["squared", *SHAPES])
def test_float32_data_give_the_answer_of_those_very_numbers(loss, kind):
    X = data(180).astype(np.float32)
    single = problem(loss, kind=kind, X=X)
    double = problem(loss, kind=kind, X=X.astype(np.float64))
    options = {"tol": 1e-12, "max_epochs": 500}
    np.testing.assert_allclose(df.solve(single, **options).w, df.solve(double, **options).w, rtol=1e-5, atol=1e-6)


@SHAPE
@pytest.mark.parametrize("sampling", ["shuffled", "importance", "nice:6", "chunks:2", "independent:0.2", "buckets:4"])
def test_empty_rows_and_a_column_of_zeros(sampling, loss):
    X = data(180 if loss == "conditional-logit" else 60)
    X[::4] = 0
    X[:9] = 0  # whole blocks among them
    X[:, 3] = 0
    result = df.solve(problem(loss, lam=0.01, X=X), sampling=sampling, max_epochs=1000)
    assert result.status == "converged"
    assert not result.w[3].any()


def test_all_rows_empty():
    result = df.solve(df.Problem(sparse.csr_array((6, 3)), Squared(np.arange(6.0)), lam=1.0), tol=1e-9)
    assert result.status == "converged"
    assert not result.w.any()


@pytest.mark.parametrize("sampling", ["shuffled", "uniform", "nice:1", "chunks:1", "partition:1", "buckets:1"])
def test_one_example_one_feature(sampling):
    # P(w) = (2w − 3)²/2 + w²/2 has its optimum at 6/5.
    one = df.Problem(np.array([[2.0]]), Squared([3.0]), lam=1.0)
    assert df.solve(one, sampling=sampling, tol=1e-12).w == pytest.approx([1.2])


@pytest.mark.parametrize("step", ["implicit", "theorem-2", "per-example"])
@pytest.mark.parametrize("make", [Logistic, SquaredHinge, SmoothedHinge, Squared, Huber])
def test_weight_zero_is_the_same_as_leaving_an_example_out(make, step):
    X = data()
    y = labels(X) if make in (Logistic, SquaredHinge, SmoothedHinge) else targets(X)
    weight = np.where(np.arange(len(y)) % 3 == 2, 0.0, 1.5)
    weight[:2] = 1.5
    kept = weight > 0
    options = {"tol": 1e-13, "max_epochs": 5000, "step": step}
    whole = df.Problem(X, make(y, weight=weight), lam=0.02)
    part = df.Problem(X[kept], make(y[kept]), lam=0.02 * len(y) / (1.5 * kept.sum()))
    start = np.ones(len(y))  # also where the weight is zero, where it must be forgotten
    result = df.solve(whole, warm_start=start, **options)
    assert result.status == "converged"
    np.testing.assert_allclose(result.w, df.solve(part, **options).w, atol=1e-5)


def test_all_weights_zero():
    X = data()
    result = df.solve(df.Problem(X, Squared(targets(X), weight=np.zeros(len(X))), lam=0.1))
    assert result.status == "converged"
    assert result.epochs == 0


@SHAPE
@pytest.mark.parametrize("sampling", ["shuffled", "nice:10"])
def test_a_long_run_keeps_the_invariant(sampling, loss):
    small, epochs = problem(loss, lam=1e-5), 20_000 if loss == "logistic" else 4_000
    result = df.solve(small, sampling=sampling, tol=0, max_epochs=epochs, evaluate_every=epochs / 4)
    assert invariant_error(small, result) < 1e-10


def test_negative_weights_with_a_convex_average():
    X = np.repeat(data(20, 4), 3, axis=0)
    weight = np.tile([1.0, 1.0, -0.5], 20)
    mixed = df.Problem(X, Squared(targets(X), weight=weight), lam=0.05)
    result = df.solve(mixed, tol=1e-8, max_epochs=5_000)
    assert result.status == "converged"
    assert (result.step, result.sampling) == ("theorem-1", "Uniform()")
    assert result.certificate.average_convex  # by the eigenvalues of its curvature
    assert "assumed" not in result.message
    hessian = X.T @ (weight[:, None] * X) / 60 + 0.05 * np.eye(4)
    np.testing.assert_allclose(result.w, np.linalg.solve(hessian, X.T @ (weight * mixed.loss.y) / 60), atol=1e-3)
