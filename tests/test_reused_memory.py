"""Memory of vectors that are no longer in use."""

import gc
import pickle

import numpy as np

from dualfree import memory


def test_a_vector_in_use_is_nobody_elses():
    first = memory.zeros(50_000)
    view = first[10_000:20_000].reshape(100, 100)
    where = first.ctypes.data
    del first
    others = [memory.zeros(50_000) for _ in range(3)]
    for other in others:
        other += 1.0
        assert other.ctypes.data != where
    assert (view == 0).all()


def test_memory_is_used_again_and_zeros_are_zeros():
    gc.collect()
    vector = memory.empty(50_001)
    vector[:] = np.nan
    where = vector.ctypes.data
    del vector
    again = memory.zeros(50_000)
    assert again.ctypes.data == where
    assert (again == 0).all()


def test_what_is_kept_has_an_end():
    vectors = [memory.zeros(1 << 20) for _ in range(20)]  # 160 MB
    del vectors
    gc.collect()
    kept = sum(piece.size for pieces in memory._kept.values() for piece, _ in pieces)
    assert kept == memory._bytes <= memory._MOST


def test_copies_and_pickles():
    vector = np.arange(20_000.0)
    copied = memory.copy(vector)
    assert not np.shares_memory(copied, vector)
    np.testing.assert_array_equal(copied, vector)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(copied)), vector)
    assert memory.empty(3).shape == (3,)
