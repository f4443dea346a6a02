"""Memory: X is never copied, and everything else is O(n + d).

The budget, beyond X and y themselves: 25 numbers of 8 bytes for each example, 25 for each feature, and 10 MB for
buffers of fixed size (a piece of draws, pages of the allocator, modules that are imported on first use). The data are
large enough that one copy of X would break it.
"""

import gc
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree.methods import METHODS

N, D, PER_ROW = 60_000, 2_000, 120
FIXED = 10_000_000


def budget(n, d):
    return 25 * 8 * (n + d) + FIXED


MEASURE = textwrap.dedent(
    """
    import sys
    import numpy as np
    from scipy import sparse
    import dualfree as df

    def peak():
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

    def sparse_data(n, d, per_row, rng):
        indices = np.sort(rng.integers(0, d // per_row, size=(n, per_row), dtype=np.int32), axis=1)
        indices += np.arange(per_row, dtype=np.int32) * np.int32(d // per_row)
        indptr = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
        return sparse.csr_array((rng.random(n * per_row), indices.ravel(), indptr), shape=(n, d))

    kind, shape, n, d, per_row = *sys.argv[1:3], *map(int, sys.argv[3:6])
    rng = np.random.default_rng(0)
    # Runs on little data first: imports and lazily made tables are not what is measured.
    warm = df.Problem(np.eye(50), df.losses.Squared(np.ones(50)), lam=0.1)
    for sampling in sys.argv[6:]:
        df.solve(warm, sampling=sampling, max_epochs=1)
    X = sparse_data(n, d, per_row, rng) if kind == "csr" else rng.random((n, per_row))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    def make():
        if shape == "rows":
            return df.Problem(X, df.losses.Logistic(y), lam=1 / n)
        if shape == "multi-output":
            return df.Problem(X, df.losses.Softmax(np.arange(n) % 3), lam=1 / n)
        return df.Problem(df.Blocks(X, np.arange(0, n + 1, 3)), df.losses.ConditionalLogit(np.zeros(n // 3)), lam=3 / n)

    for sampling in sys.argv[6:]:
        # The peak is reset by writing 5 here (Linux); generating the data may have needed more than X itself.
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")
        before = peak()
        df.solve(make(), sampling=sampling, tol=0, max_epochs=2)
        print(peak() - before)
    """
)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak from /proc, which Linux alone has")
@pytest.mark.parametrize("kind", ["csr", "dense"])
@pytest.mark.parametrize("shape", ["rows", "multi-output", "blocks"])
def test_peak_of_the_whole_process(kind, shape):
    samplings = ["shuffled", "nice:32", "chunks:4"]
    arguments = [kind, shape, str(N), str(D), str(PER_ROW), *samplings]
    run = subprocess.run([sys.executable, "-c", MEASURE, *arguments], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    size = N * PER_ROW * (12 if kind == "csr" else 8)
    outputs = 3 if shape == "multi-output" else 1
    most = budget(outputs * N, outputs * D)
    assert size > most  # or the test could not tell
    peaks = list(map(int, run.stdout.split()))
    assert len(peaks) == len(samplings)
    assert max(peaks) < most


@pytest.mark.parametrize("shape", ["rows", "multi-output", "blocks"])
@pytest.mark.parametrize("kind", ["csr", "dense", "fortran", "float32"])
def test_arrays_that_numpy_makes(kind, shape):
    """What Python itself allocates: well below one copy of X, with the fixed part left out."""
    n, d, outputs = 20_000, 200, 2 if shape == "multi-output" else 1
    rng = np.random.default_rng(0)
    X = rng.random((n, d), dtype=np.float32 if kind == "float32" else np.float64)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    data = {"csr": sparse.csr_array, "fortran": np.asfortranarray}.get(kind, lambda a: a)(X)
    df.solve(df.Problem(np.eye(50), df.losses.Squared(np.ones(50)), lam=0.1), max_epochs=1)
    if shape == "multi-output":
        loss = df.losses.Softmax(y)
    else:
        loss = df.losses.Logistic(y) if shape == "rows" else df.losses.ConditionalLogit(np.zeros(n // 2))
    tracemalloc.start()
    try:
        examples = df.Blocks(data, np.arange(0, n + 1, 2)) if shape == "blocks" else data
        df.solve(df.Problem(examples, loss, lam=1 / n), tol=0, max_epochs=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 25 * 8 * outputs * (n + d)
    assert peak < X.nbytes / 2


def test_batches_of_empty_rows_stay_small():
    """Rows without nonzeros are visits too: a piece of large batches must not fill the memory with indices."""
    n = 20_000
    empty = df.Problem(sparse.csr_array((n, 3)), df.losses.Squared(np.ones(n)), lam=0.1)
    tracemalloc.start()
    try:
        df.solve(empty, sampling="nice:10000", tol=0, max_epochs=1000, step="theorem-2", evaluate_every=1000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < FIXED


@pytest.mark.parametrize("how", [*METHODS, "auto", "auto-copies", "restless", "adaptive", "importance"])
def test_a_fit_leaves_nothing_for_the_garbage_collector(how):
    """A ring of references would keep X, and the memory that the next fit could use again, until it comes by."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    settings = {"method": how} if how in (*METHODS, "auto", "auto-copies") else {"sampling": how}

    def fit():
        return df.solve(df.Problem(X, df.losses.Squared(X[:, 0]), lam=0.1), max_epochs=3, **settings)

    fit()  # what is made once is made
    gc.collect()
    gc.disable()
    try:
        fit()
        assert gc.collect() == 0
    finally:
        gc.enable()
