"""Algorithm 2, corrected, and its misprint (erratum 1)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import dualfree as df
from dualfree.paper.erratum import nonzeros_of_chunks

counts = st.lists(st.integers(0, 40), min_size=1, max_size=60)


def algorithm_2(u, literal=False):
    """The paper's loop, line by line, with g, s and i as printed (from zero)."""
    g, s, i, m = [1], [u[0]], 0, max(u)
    for t in range(1, len(u)):
        if (g[i] if literal else s[i]) + u[t] <= m:
            g[i] += 1
            s[i] += u[t]
        else:
            i += 1
            g.append(1)
            s.append(u[t])
    return g, s


@given(counts)
def test_no_chunk_exceeds_the_longest_row_and_none_could_take_one_more(u):
    sizes = df.chunks(u)
    sums = nonzeros_of_chunks(u, sizes)
    assert sizes.sum() == len(u)
    assert (sizes > 0).all()
    assert sums.max() <= max(u)
    firsts = np.cumsum(sizes)[:-1]
    assert all(sums[k] + u[first] > max(u) for k, first in enumerate(firsts))


@given(counts)
def test_equals_the_paper_s_loop_corrected_and_as_printed(u):
    for literal in (False, True):
        g, s = algorithm_2(u, literal)
        sizes = df.chunks(u, literal=literal)
        assert sizes.tolist() == g
        assert nonzeros_of_chunks(u, sizes).tolist() == s


def test_the_misprint_lets_chunks_outgrow_m_without_limit():
    for m in (10, 100, 1000):
        u = [m, *[m // 2] * (10 * m)]
        largest = nonzeros_of_chunks(u, df.chunks(u, literal=True)).max()
        assert largest > m * m / 5
        assert nonzeros_of_chunks(u, df.chunks(u)).max() == m


@pytest.mark.parametrize("nnz", [[], [[1, 2]], [1.5], [-1]])
def test_what_is_not_a_vector_of_counts_is_refused(nnz):
    with pytest.raises(ValueError, match="nnz must be a non-empty vector of whole numbers"):
        df.chunks(nnz)


def test_the_chunk_sampling_uses_these_chunks():
    X = np.zeros((6, 4))
    for i, count in enumerate([4, 1, 2, 3, 1, 2]):
        X[i, :count] = 1
    problem = df.Problem(sparse.csr_array(X), df.losses.Squared(np.ones(6)), lam=1.0)
    assert df.samplings.Chunks(1).groups(problem).sizes.tolist() == [1, 2, 2, 1]
