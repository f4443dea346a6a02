"""A fit in less memory than the data: under a hard limit of the address space, and as seen from outside."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import sparse

from dualfree.store import write_store

N, D, PER_ROW = 30_000, 20_000, 200
DATA = 12 * N * PER_ROW  # 72 MB
ALLOWED = 36_000_000

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc, which Linux alone has")

LIMITED = textwrap.dedent(
    """
    import resource, sys
    import numpy as np
    import dualfree as df
    from dualfree.linear_model import LogisticRegression

    def known(name):
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))

    path, allowed = sys.argv[1], int(sys.argv[2])
    # A small fit first: threads, lazily made tables and the buffers of BLAS are not what is measured. On some
    # processors BLAS needs no buffer for a product as small as those of this fit.
    np.ones((300, 300)) @ np.ones((300, 300))
    LogisticRegression(solver="dfsdca").fit(np.eye(60), np.arange(60) % 3).score(np.eye(60), np.arange(60) % 3)
    # Each of the threads that read has a stack of 8 MB, most of which is never touched.
    most = known("VmSize") + allowed + 2 * 8_400_000
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    before = known("VmRSS")
    store = df.open_store(path, memory_limit=before + allowed)
    assert not store.fits
    """
)
FIT = """
result = df.solve(df.Problem(store, df.losses.Logistic(store.y), lam=1 / store.shape[0]), tol=1e-4)
print(result.status, result.certificate.relative_gap)
"""
CLASSES = """
classes = np.arange(store.shape[0]) % 3
model = LogisticRegression(C=0.01, tol=1e-2).fit(store, classes)
shares = model.predict_proba(store)
right = np.abs(shares.sum(axis=1) - 1).max() < 1e-12 and model.score(store, classes) > 0.4
print(right, model.certificate_.relative_gap)
"""
CHECK = textwrap.dedent(
    """
    print(known("VmHWM") - before)
    try:
        store.matrix()
    except MemoryError:
        print("the limit is hard")
    """
)


@pytest.fixture
def store(tmp_path):
    rng = np.random.default_rng(0)
    step = D // PER_ROW
    columns = rng.integers(0, step, size=(N, PER_ROW), dtype=np.int32) + np.arange(PER_ROW, dtype=np.int32) * step
    values = rng.random(N * PER_ROW) / np.sqrt(PER_ROW)
    X = sparse.csr_array(
        (values, columns.ravel(), np.arange(0, N * PER_ROW + 1, PER_ROW, dtype=np.int32)), shape=(N, D)
    )
    y = np.where(X @ rng.normal(size=D) > 0, 1.0, -1.0)
    write_store(tmp_path / "a.dfs", X, y)
    return tmp_path / "a.dfs"


@pytest.mark.parametrize(("work", "said", "tol"), [(FIT, "converged", 1e-4), (CLASSES, "True", 1e-2)])
def test_a_fit_in_half_the_memory_of_its_data(store, work, said, tol):
    """Of one output; and of three, with predictions."""
    assert ALLOWED <= DATA / 2
    # One arena for all threads: glibc reserves 64 MB of address space for each thread otherwise, without using them.
    environment = {"MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1", "PATH": ""}
    command = [sys.executable, "-c", LIMITED + work + CHECK, str(store), str(ALLOWED)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stderr
    status, gap, taken, rest = run.stdout.split(maxsplit=3)
    assert status == said
    assert float(gap) <= tol
    assert int(taken) <= ALLOWED
    assert rest == "the limit is hard\n"
