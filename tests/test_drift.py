"""The bound on what rounding has done to w, and certificates that rest on it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree.methods.copies import CopiesPlan
from dualfree.methods.dfsdca import DfSDCA
from dualfree.methods.drift import Drift


def exact_distance(problem, X, w, alpha):
    """‖w − (1/λn) Σ A_i α_i‖ without rounding."""
    lam_n = Fraction(problem.lam) * problem.n
    total = Fraction(0)
    for j in range(X.shape[1]):
        combined = sum((Fraction(float(X[i, j])) * Fraction(float(alpha[i])) for i in range(X.shape[0])), Fraction(0))
        total += (Fraction(float(w[j])) - combined / lam_n) ** 2
    return math.sqrt(total)


@pytest.mark.parametrize("loss", [df.losses.Logistic, df.losses.Squared, df.losses.SquaredHinge])
@pytest.mark.parametrize("lam", [1.0, 1e-5])
@pytest.mark.parametrize(
    "options",
    [
        {"method": "auto", "sampling": "restless"},
        {"method": "auto", "sampling": "nice:4"},
        {"method": "auto", "step": "theorem-2"},
        {"method": "dfsdca-copies", "n_threads": 3},
    ],
)
def test_the_bound_is_above_what_rounding_did(monkeypatch, loss, lam, options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * 10.0 ** rng.integers(-3, 4, size=6)
    problem = df.Problem(X, loss(np.sign(rng.normal(size=40))), lam)
    seen = {}

    original = DfSDCA.glance

    def glance(self, state):
        reach = float(problem.norms.max()) / (problem.lam * problem.n)
        bound, found = state.drift.bound(state.iteration, reach), original(self, state)
        seen[state.iteration] = bound, exact_distance(problem, X, state.w, state.alpha), found
        return found

    monkeypatch.setattr(DfSDCA, "glance", glance)
    monkeypatch.setattr("dualfree.lookout.Lookout.due", lambda self, moved, epoch: True)
    monkeypatch.setattr("dualfree.lookout.Lookout.watch", lambda self, epoch: None)
    monkeypatch.setattr("dualfree.methods.copies.plan_copies", lambda *_: CopiesPlan(3, 2, 3, 1.0))
    df.solve(problem, **options, tol=1e-14, max_epochs=30)
    assert len(seen) > 10
    for bound, distance, found in seen.values():
        assert distance <= bound < math.inf
        assert found.proven >= found.gap + 0.5 * problem.lam * distance**2
    assert any(distance > 0 for _, distance, _ in seen.values())


def words(n=2000, d=6000, each=30):
    rng = np.random.default_rng(2)
    X = sparse.csr_array(
        (rng.random(n * each), (np.repeat(np.arange(n), each), rng.integers(d, size=n * each))), shape=(n, d)
    )
    X.sum_duplicates()
    return X, np.sign(X @ rng.normal(size=d))


@pytest.mark.parametrize("loss", [df.losses.Logistic, df.losses.Squared, df.losses.SmoothedHinge])
def test_a_glance_is_enough_for_a_proof(loss):
    X, y = words()
    problem = df.Problem(X, loss(y), lam=0.1 / len(y))
    result = df.solve(problem, method="auto")
    proof = result.certificate
    assert (result.method, proof.kind) == ("auto: dfsdca", "duality gap")
    assert proof.gradient_norm == math.inf
    assert proof.duality_gap == pytest.approx(problem.gap(result.w, result.alpha), rel=1e-6)
    assert proof.duality_gap >= problem.evaluate(result.w, result.alpha).duality_gap * (1 - 1e-12)
    assert proof.relative_gap <= 1e-6
    often = df.solve(problem, method="dfsdca", sampling="restless", evaluate_every=1.0)
    assert math.isfinite(often.certificate.gradient_norm)


def test_what_is_not_accounted_for_is_not_taken_for_granted():
    drift = Drift(at=0)
    drift.add(0, 10, 10, 1.0)
    assert drift.bound(10, 1.0) < 1e-12
    drift.add(20, 30, 10, 1.0)
    assert drift.bound(30, 1.0) == math.inf
    assert Drift().bound(0, 1.0) == math.inf
    assert Drift(at=5, visits=10**14).bound(5, 1.0) == math.inf
    X, y = words()
    problem = df.Problem(X, df.losses.Logistic(y), lam=0.1 / len(y))
    first = df.solve(problem, method="auto", tol=1e-2)
    again = df.solve(problem, method="auto", warm_start=first)  # w is a sum of some thousand terms to begin with
    assert np.isfinite([row.gap for row in again.history]).all()
    assert math.isfinite(again.certificate.gradient_norm)
    assert again.certificate.relative_gap <= 1e-6


def test_an_alpha_outside_of_its_domain_is_seen():
    X, y = words()
    problem = df.Problem(X, df.losses.Logistic(y), lam=1 / len(y))
    alpha = 0.5 * y
    alpha[7] = 1.25 * y[7]
    margins = np.empty(len(y))
    *_, outside = problem.examples.fenchel(problem.loss.native, problem.primal(alpha), alpha, margins)
    assert outside == pytest.approx(0.25)


def test_a_resumed_run_knows_the_account(tmp_path):
    X, y = words()
    problem = df.Problem(X, df.losses.Logistic(y), lam=0.1 / len(y))
    whole = df.solve(problem, method="auto", checkpoint=tmp_path / "a")
    df.solve(problem, method="auto", checkpoint=tmp_path / "b", max_epochs=2.5)
    resumed = df.solve(problem, method="auto", checkpoint=tmp_path / "b", resume=True)
    assert whole.certificate.gradient_norm == math.inf
    assert (resumed.certificate, resumed.w.tobytes()) == (whole.certificate, whole.w.tobytes())
