"""Fits on a Dask cluster of this machine: against dask-ml, two workers against one, and what a round costs.

`python -m benchmarks.cluster dask-ml`, `... workers --copies 50`, `... costs`. Needs ``dualfree[cluster]``, and the
first also ``dask-ml``.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer
from scipy import sparse

import dualfree as df
from benchmarks.machine import console, print_machine
from benchmarks.projection import Costs, project
from dualfree.distributed import passes
from dualfree.distributed.connection import local_cluster
from dualfree.distributed.fit import Wishes
from dualfree.distributed.solve import solve_spread, spread_out
from dualfree.limits import Limits
from dualfree.linear_model import LogisticRegression
from dualfree.methods.dfsdca import DfSDCA
from dualfree.optional import require

app = typer.Typer(add_completion=False, help=__doc__)
_SOLVERS = ("admm", "lbfgs", "newton", "gradient_descent", "proximal_grad")  # all of dask-ml's
_ITERATIONS = (1, 2, 3, 5, 8, 12, 20, 35, 60, 100)


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """A client of so many worker processes of one thread."""
    distributed = require("distributed", "cluster")
    with local_cluster(workers) as made, distributed.Client(made) as client:
        yield client


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came out."""
    begun = time.perf_counter()
    found = call()
    return time.perf_counter() - begun, found


@app.command("dask-ml")
def against_dask_ml(
    n: Annotated[int, typer.Option(help="Rows.")] = 400_000,
    d: Annotated[int, typer.Option(help="Features.")] = 50,
    limit: Annotated[float, typer.Option(help="Seconds for each of dask-ml's solvers.")] = 60.0,
) -> None:
    """Logistic regression, no intercept, C = 1, the same Dask arrays in two chunks: seconds to 1e-4 relative."""
    da = require("dask.array", "cluster")
    theirs = require("dask_ml.linear_model", "cluster").LogisticRegression
    print_machine()
    rng = np.random.default_rng(0)
    here = rng.normal(size=(n, d))
    labels = np.where(here @ rng.normal(size=d) / np.sqrt(d) + 0.7 * rng.normal(size=n) > 0, 1, 0)
    problem = df.Problem(here, df.losses.Logistic(labels), 1 / n)
    best = df.solve(problem, method="newton", tol=1e-10).certificate.value

    def accuracy(w: Any) -> float:
        return problem.value(np.ravel(w)) / best - 1

    with cluster(2) as client:
        X, y = client.persist([da.from_array(here, chunks=(n // 2, d)), da.from_array(labels, chunks=n // 2)])
        model = LogisticRegression(C=1.0, tol=1e-4, fit_intercept=False)
        runs = [timed(lambda: model.fit(X, y)) for _ in range(4)][1:]  # the first one also starts the workers' Python
        ours = sorted(seconds for seconds, _ in runs)[1]
        console.print(f"dualfree: {ours:.3f} s, relative {accuracy(model.coef_):.1e}, n_iter {model.n_iter_}")
        for solver in _SOLVERS:
            console.print(f"dask-ml {solver}: {_theirs(theirs, solver, X, y, accuracy, limit, ours)}")


def _theirs(kind: Any, solver: str, X: Any, y: Any, accuracy: Callable[[Any], float], limit: float, ours: float) -> str:
    """The first number of iterations that is accurate enough, and its seconds."""
    begun, reached = time.perf_counter(), np.inf
    for iterations in _ITERATIONS:
        model = kind(C=1.0, solver=solver, max_iter=iterations, tol=1e-12, fit_intercept=False)
        try:
            seconds, _ = timed(partial(model.fit, X, y))
        except Exception as error:  # a solver of theirs that today's NumPy or scikit-learn breaks
            return f"failed ({type(error).__name__}: {str(error)[:80]})"
        reached = accuracy(model.coef_)
        if reached <= 1e-4:
            return (
                f"{seconds:.3f} s with max_iter={iterations}, relative {reached:.1e}: {seconds / ours:.1f} times ours"
            )
        if time.perf_counter() - begun > limit:
            break
    return f"not within 1e-4 with max_iter={iterations} after {limit:g} s in all; relative {reached:.1e}"


def replicated(copies: int) -> tuple[Any, Any]:
    """So many copies of rcv1, one below the other; each worker reads its own."""
    X, y = df.datasets.load("rcv1")
    X = sparse.csr_matrix(X / np.sqrt(X.multiply(X).sum(axis=1).max()))
    return sparse.vstack([X] * copies, format="csr"), np.tile(y, copies)


@app.command()
def workers(
    copies: Annotated[int, typer.Option(help="Copies of rcv1, an even number.")] = 50,
    tol: Annotated[float, typer.Option(help="Certified relative gap.")] = 1e-4,
    repeats: Annotated[int, typer.Option(help="Fits of each; the median counts.")] = 3,
) -> None:
    """Two workers with a half each against one with all of rcv1 replicated, λ = 1/n, logistic, by method="auto"."""
    delayed = require("dask", "cluster").delayed
    print_machine()
    X, _ = df.datasets.load("rcv1")
    n = copies * X.shape[0]
    found = {}
    for count in (1, 2):
        with cluster(count) as client:
            parts = [delayed(replicated, nout=2, pure=False)(copies // count) for _ in range(count)]
            there = df.distributed.Partitioned([p[0] for p in parts], [p[1] for p in parts], df.losses.Logistic, 1 / n)
            making, spread = timed(partial(spread_out, there, client, None))
            runs = []
            for _ in range(repeats):
                wishes = Wishes(Limits(tol, 0.0, 200, np.inf, 1.0), False, 0)
                runs.append(timed(partial(solve_spread, spread, "auto", None, wishes)))
            found[count] = sorted(seconds for seconds, _ in runs)[repeats // 2]
            result = runs[-1][1]
            spent = f"{result.epochs:.3g} epochs, {result.iterations} rounds"
            console.print(
                f"{count} worker{'s' * (count > 1)}: {found[count]:.2f} s ({result.method}, {spent}, relative gap "
                f"{result.certificate.relative_gap:.1e}; making the data {making:.0f} s)"
            )
    console.print(f"{X.nnz * copies:,} nonzeros; two workers are {found[1] / found[2]:.2f} times as fast as one")


@app.command()
def costs(repeats: Annotated[int, typer.Option(help="Rounds of each kind; the fastest counts.")] = 60) -> None:
    """What a round costs by partitions and features, a nonzero of a pass and of a step, and what follows for 1,000."""
    print_machine()
    with cluster(2) as client:
        by_count = {K: _round(client, K, 100, repeats) for K in (2, 8, 32, 64)}
        by_features = {d: _round(client, 2, d, repeats) for d in (100, 50_000, 200_000)}
    for K, seconds in by_count.items():
        console.print(f"round of {K} partitions, 100 features: {1e3 * seconds:.1f} ms")
    for d, seconds in by_features.items():
        console.print(f"round of 2 partitions, {d:,} features: {1e3 * seconds:.1f} ms")
    a_partition = (by_count[64] - by_count[2]) / 62
    a_byte = (by_features[200_000] - by_features[100]) / (8 * 199_900)
    a_step, a_pass = _nonzero()
    console.print(f"a nonzero: {1e9 * a_step:.2f} ns in a step of dfSDCA, {1e9 * a_pass:.2f} ns in a pass")
    found = Costs(by_count[2], max(a_partition, 0.0), max(a_byte, 0.0), a_step, a_pass)
    console.print(project(found, workers=1000, nonzeros=1e11, features=1_000_000))


def _round(client: Any, partitions: int, features: int, repeats: int) -> float:
    """Seconds of a round with hardly any work: the one that other programs disturbed least."""
    X = sparse.eye_array(2 * partitions, features, format="csr")
    problem = df.Problem(X, df.losses.Squared(np.ones(2 * partitions)), 1.0)
    spread = spread_out(problem, client, partitions)
    crew, w = spread.crew, np.random.default_rng(0).normal(size=features)
    seconds = [
        timed(lambda: crew.total(crew.each(passes.value_and_gradient, crew.share(w))))[0] for _ in range(repeats + 2)
    ]
    return min(seconds[2:])


def _nonzero() -> tuple[float, float]:
    """Seconds of processor time for a nonzero of an epoch of dfSDCA and of a pass, on text-like rows."""
    from benchmarks.data import text_like

    X, y = text_like(500_000, 100_000, 60)
    problem = df.Problem(X, df.losses.Logistic(y), 1 / len(y))
    bound = df.samplings.Shuffled().bind(problem)
    method = DfSDCA(problem, bound, DfSDCA.step_rule(bound))
    state = method.start(np.zeros(problem.n))
    steps, whole = [], []
    for epoch in range(3):
        draws, begun = bound.draw(epoch * problem.n, problem.n), time.process_time()
        method.advance(state, draws)
        steps.append(time.process_time() - begun)
        begun = time.process_time()
        problem.gradient(state.w)
        whole.append(time.process_time() - begun)
    return min(steps) / X.nnz, min(whole) / X.nnz


if __name__ == "__main__":
    app()
