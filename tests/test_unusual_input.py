"""Data that are unusual and not wrong (read-only, memory-mapped, unsorted, 64-bit indices, odd strides) just work."""

import numpy as np
import pytest
from scipy import sparse

import dualfree as df
from dualfree.losses import Squared
from small_problems import data, targets

X = data()


def csr():
    return sparse.csr_array(X)


def expected():
    return df.solve(df.Problem(X, Squared(targets(X)), lam=0.1), tol=1e-10).w


def unsorted():
    c = csr()
    for i in range(60):
        row = slice(c.indptr[i], c.indptr[i + 1])
        c.indices[row], c.data[row] = c.indices[row][::-1].copy(), c.data[row][::-1].copy()
    c.has_sorted_indices = False
    return c


def wide_indices():
    c = csr()
    c.indices, c.indptr = c.indices.astype(np.int64), c.indptr.astype(np.int64)
    return c


def read_only():
    frozen = X.copy()
    frozen.flags.writeable = False
    return frozen


def read_only_csr():
    c = csr()
    for array in (c.data, c.indices, c.indptr):
        array.flags.writeable = False
    return c


def explicit_zeros():
    c = sparse.csr_array(np.where(X == 0, 1.0, X))
    c.data[X.ravel() == 0] = 0.0
    return c


UNUSUAL = {
    "unsorted columns": unsorted,
    "int64 indices": wide_indices,
    "read-only": read_only,
    "read-only CSR": read_only_csr,
    "explicit zeros": explicit_zeros,
    "CSR matrix of the old kind": lambda: sparse.csr_matrix(X),
    "Fortran order": lambda: np.asfortranarray(X),
    "every other row": lambda: np.repeat(X, 2, axis=0)[::2],
    "negative strides": lambda: X[::-1, ::-1].copy()[::-1, ::-1],
    "np.matrix": lambda: X.view(np.matrix),
}


@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_unusual_data_give_the_same_answer(name):
    result = df.solve(df.Problem(UNUSUAL[name](), Squared(targets(X)), lam=0.1), tol=1e-10)
    np.testing.assert_allclose(result.w, expected(), rtol=1e-12)


def mapped(path, array):
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def test_memory_maps_everywhere(tmp_path):
    dense, y = mapped(tmp_path / "x.npy", X), mapped(tmp_path / "y.npy", targets(X))
    start = mapped(tmp_path / "a.npy", np.full(60, 0.1))
    c = csr()
    c.data, c.indices = mapped(tmp_path / "d.npy", c.data), mapped(tmp_path / "i.npy", c.indices)
    c.indptr = mapped(tmp_path / "p.npy", c.indptr)
    for maps in (dense, c):
        result = df.solve(df.Problem(maps, Squared(y), lam=0.1), tol=1e-10, warm_start=start)
        np.testing.assert_allclose(result.w, expected(), atol=1e-5)
        newton = df.solve(df.Problem(maps, Squared(y), lam=0.1), method="newton", tol=1e-10)
        np.testing.assert_allclose(newton.w, expected(), atol=1e-4)
    assert (start == 0.1).all()
