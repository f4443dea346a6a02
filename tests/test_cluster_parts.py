"""The pieces of a fit on a cluster, without one: reports, cuts, local passes, certificates, losses of data."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import dualfree as df
from dualfree import reference
from dualfree.distributed import local
from dualfree.distributed.block import Block, make_block, make_loss
from dualfree.distributed.fit import Wishes
from dualfree.distributed.report import add, pack, report
from dualfree.distributed.solve import bare, solve_spread, spread_out
from dualfree.distributed.sources import even_cuts
from dualfree.limits import Limits
from dualfree.store import write_store
from helpers.inline_client import InlineClient
from helpers.stores import larger_than_memory, text_like
from small_problems import LOSSES, data

REFERENCES = {
    "logistic": reference.logistic(),
    "squared": reference.squared(),
    "squared-hinge": reference.squared_hinge(),
    "smoothed-hinge": reference.smoothed_hinge(0.5),
    "huber": reference.huber(0.3),
}


def blocks_of(problem: df.Problem, parts: int) -> list[tuple[int, Block, Any]]:
    """First row, block and loss of each of some partitions of equal size."""
    cuts = np.linspace(0, problem.n, parts + 1).astype(int)
    found = []
    for a, b in pairwise(cuts):
        block = Block(problem.examples.X[a:b], problem.loss.y[a:b], None)
        found.append((int(a), block, make_loss(block, bare(problem.loss), None)))
    return found


def wishes(tol: float = 1e-8, max_epochs: float = 1000) -> Wishes:
    return Wishes(Limits(tol, 0.0, max_epochs, np.inf, 1.0), False, 0)


@given(st.lists(st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.5, -2.0]), min_size=7, max_size=7), min_size=1, max_size=9))
def test_reports_add_up_however_they_are_packed(vectors: list[list[float]]) -> None:
    total = add([report([1.0, len(v)], np.array(v)) for v in vectors])
    assert total.total.tolist() == np.sum(vectors, axis=0).tolist()
    assert total.numbers.tolist() == [len(vectors), 7 * len(vectors)]
    assert all(pack(np.array(v)).nbytes <= 56 for v in vectors)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=50), st.integers(1, 12))
def test_cuts_leave_no_part_empty_and_none_much_too_heavy(nonzeros: list[int], parts: int) -> None:
    cuts = even_cuts(np.array(nonzeros), parts)
    work = np.array(nonzeros) + 20
    assert len(cuts) == min(parts, len(nonzeros)) + 1
    assert (np.diff(cuts) >= 1).all()
    assert (cuts[0], cuts[-1]) == (0, len(nonzeros))
    heaviest = max(work[a:b].sum() for a, b in pairwise(cuts))
    assert heaviest <= work.sum() / min(parts, len(nonzeros)) + len(nonzeros) * work.max()


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("sigma", [1.0, 3.0])
def test_a_local_pass_is_the_literal_one(name: str, sigma: float) -> None:
    X = data()
    problem = df.Problem(X, LOSSES[name](X), lam=0.02)
    literal = reference.ReferenceProblem(X, problem.loss.y, np.ones(problem.n), REFERENCES[name], lam=0.02)
    alpha = problem.loss.project(0.3 * problem.loss.y)
    w = problem.primal(alpha)
    for number, (first, block, loss) in enumerate(blocks_of(problem, 3)):
        n = block.X.shape[0]
        order = local.Order(1 / (problem.lam * problem.n), sigma, (1.0,), 0.5, 1.75, seed=5)
        share = local.local_pass(block, loss, number, local.settled(alpha[first : first + n]), 0.0, w, order)
        visits = first + local._visits(order, number, n)
        assert len(visits) == round(1.25 * n)
        moves, change = reference.local_moves(literal, visits.tolist(), sigma, alpha)
        np.testing.assert_allclose(share.taken(1.0) - share.alpha, moves[first : first + n], atol=1e-9)
        assert share.account is not None
        np.testing.assert_allclose(share.account.total, change, atol=1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_the_dual_along_the_moves_is_what_it_is_said_to_be(name: str) -> None:
    """And with a share of σ'/K, or with σ' = K, it never falls."""
    X = data(n=90, d=4, density=1.0)
    problem = df.Problem(X, LOSSES[name](X), lam=1e-3)
    parts, alpha = blocks_of(problem, 5), problem.loss.project(0.1 * problem.loss.y)
    for sigma in (1.0, 2.0, 5.0):
        shares = (1.0, 0.5, sigma / 5)
        order = local.Order(1 / (problem.lam * problem.n), sigma, shares, 0.0, 1.0, seed=1)
        w = problem.primal(alpha)
        done = [
            local.local_pass(block, loss, k, local.settled(alpha[a : a + len(loss.y)]), 0.0, w, order)
            for k, (a, block, loss) in enumerate(parts)
        ]
        total = add([share.account for share in done])
        move = total.total
        for t, conjugates in zip(shares, total.numbers, strict=True):
            after = problem.loss.project(np.concatenate([share.taken(t) for share in done]))
            gain = problem.dual_value(after) - problem.dual_value(alpha)
            quadratic = 2 * t * float(w @ move) + t * t * float(move @ move)
            assert -conjugates / problem.n - 0.5 * problem.lam * quadratic == pytest.approx(gain, abs=1e-10)
            if t == sigma / 5:
                assert gain > 0
        alpha = problem.loss.project(np.concatenate([share.taken(sigma / 5) for share in done]))


@pytest.mark.parametrize(
    ("method", "intercept"),
    [("dfsdca", False), ("newton", False), ("newton", True), ("lbfgs", False), ("lbfgs", True)],
)
@pytest.mark.parametrize("name", LOSSES)
def test_same_optimum_as_on_one_machine(name: str, intercept: bool, method: str) -> None:
    X = sparse.csr_matrix(data(n=200, d=9))
    weight = np.random.default_rng(3).integers(1, 4, 200).astype(float)
    plain = LOSSES[name](X.toarray())
    plain.weight = weight
    problem = df.Problem(X, plain, lam=0.05, intercept=intercept)
    best = df.solve(problem, tol=1e-12, max_epochs=5000).certificate.value
    result = solve_spread(spread_out(problem, InlineClient(), 3), method, None, wishes())
    assert result.status == "converged"
    assert -1e-11 * abs(best) <= problem.value(result.w) - best <= result.certificate.gap + 1e-11 * abs(best)
    if not intercept:
        assert problem.gap(result.w, problem.loss.project(result.alpha)) == pytest.approx(
            result.certificate.duality_gap, rel=1e-3, abs=1e-12
        )


def test_an_intercept_that_is_off_is_paid_for_in_the_gap() -> None:
    X = data(n=150, d=5)
    problem = df.Problem(X, LOSSES["logistic"](X), lam=0.01, intercept=True)
    best = df.solve(problem, tol=1e-13, max_epochs=10000).certificate.value
    spread = spread_out(problem, InlineClient(), 3)
    for tol in (10.0, 1e-1, 1e-2, 1e-4, 1e-8):
        spread.tol = 100 * tol
        spread._last = None
        for scale in (0.0, 1.0):
            point, seen, *_ = spread.look(scale * df.solve(problem, tol=1e-4).w + np.append(np.zeros(5), 0.7))
            assert seen.value - best <= seen.duality_gap + 1e-12
            assert seen.value == pytest.approx(problem.value(point), rel=1e-12)


@pytest.mark.parametrize("method", ["dfsdca", "newton", "lbfgs"])
def test_losses_of_data_change_no_bit(method: str) -> None:
    X = data(n=300, d=20)
    problem = df.Problem(X, LOSSES["logistic"](X), lam=1 / 300)
    plain = solve_spread(spread_out(problem, InlineClient(), 4), method, None, wishes())
    client = InlineClient(losing=lambda number: number in (3, 20, 50, 51, 90))
    result = solve_spread(spread_out(problem, client, 4), method, None, wishes())
    assert client.losses >= 3
    assert result.status == "converged"
    np.testing.assert_array_equal(result.w, plain.w)
    np.testing.assert_array_equal(result.alpha, plain.alpha)


@pytest.mark.parametrize("losing", [(), (4, 30, 60)])
def test_workers_read_a_store_larger_than_memory_themselves(tmp_path: Path, losing: tuple[int, ...]) -> None:
    X, y = text_like()
    write_store(tmp_path / "a.dfs", X, y, chunk_bytes=12_000)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    store = larger_than_memory(tmp_path / "a.dfs")
    loss = df.losses.Logistic(store.y, weight)
    client = InlineClient(losing=lambda number: number in losing)
    spread = spread_out(df.Problem(store, loss, lam=1 / len(y), intercept=True), client, 3)
    assert client.losses <= len(losing)
    nonzeros = [int(np.diff(X.indptr)[a:b].sum()) for a, b in pairwise(spread.crew.blocks.starts)]
    assert max(nonzeros) <= 1.2 * min(nonzeros)
    result = solve_spread(spread, "auto", None, wishes())
    inner = df.Problem(X, loss, lam=1 / len(y), intercept=True)
    best = df.solve(inner, tol=1e-10, method="newton").certificate.value
    assert result.status == "converged"
    assert abs(inner.value(result.w) - best) <= result.certificate.gap + 1e-11


def test_many_reports_are_added_up_in_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """By tasks of eight on the workers, so that a few come here however many partitions there are."""
    X = data(n=300, d=20)
    problem = df.Problem(X, LOSSES["logistic"](X), lam=1 / 300)
    client, gathered, groups = InlineClient(), list[int](), list[int]()
    gather, submit = client.gather, client.submit

    def watched(function: Any, *arguments: Any, **options: Any) -> Any:
        if function is add:
            groups.append(len(arguments[0]))
        return submit(function, *arguments, **options)

    monkeypatch.setattr(client, "gather", lambda futures: gathered.append(len(futures)) or gather(futures))
    monkeypatch.setattr(client, "submit", watched)
    spread = spread_out(problem, client, 100)
    gathered.clear()
    groups.clear()
    seen = spread.evaluate(np.full(20, 0.1), np.zeros(300))
    assert groups == [*[8] * 12, 4, 8, 5]
    assert gathered == [2]
    assert seen.value == pytest.approx(problem.value(np.full(20, 0.1)), rel=1e-12)


def test_a_cluster_that_loses_everything_always_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dualfree.distributed.crew._PAUSE", 0.0)
    X = data()
    problem = df.Problem(X, LOSSES["logistic"](X), lam=0.1)
    with pytest.raises(RuntimeError, match=r"20 times in a row.*smaller partitions"):
        spread_out(problem, InlineClient(losing=lambda number: True), 4)


def test_blocks_are_checked() -> None:
    X = np.arange(6).reshape(3, 2)
    assert make_block(X, [1, 2, 3]).X.dtype == np.float64
    with pytest.raises(ValueError, match="chunk them alike"):
        make_block(X, [1, 2])
    with pytest.raises(ValueError, match="must be a vector"):
        make_block(X, np.ones((3, 2)))
    with pytest.raises(TypeError, match="must hold numbers"):
        make_block(X.astype(str), [1, 2, 3])
