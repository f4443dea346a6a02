"""Stores that do not fit into their memory limit, small as they are."""

import numpy as np
from scipy import sparse

import dualfree as df
from dualfree.store import opened
from dualfree.store.reader import BUFFERS, largest_chunk


def larger_than_memory(path, *, chunks=4, local_passes=1, outputs=1):
    """Open a store with a limit that leaves room for windows of so many chunks, and not for all of them."""
    page = df.open_store(path).page
    windows = BUFFERS * chunks * largest_chunk(page)
    fit = opened._example_bytes(True, outputs) * page.n + outputs * opened._FEATURE_BYTES * page.d
    store = df.open_store(path, memory_limit=opened._libraries() + fit + windows + 50_000, local_passes=local_passes)
    assert not store.fits_for(outputs)
    return store


def text_like(n=3000, d=400, per_row=20, seed=0, dense=False):
    """Rows of unit norm with popular and rare features, and labels that they explain in part."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, d))
    columns = (d * rng.random((n, per_row)) ** 3).astype(int)
    X[np.arange(n)[:, None], columns] = rng.random((n, per_row)) + 0.1
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X @ rng.normal(size=d) + 0.1 * rng.normal(size=n) > 0, 1.0, -1.0)
    return (X if dense else sparse.csr_array(X)), y
