// The Cholesky factor of a symmetric matrix, and what it solves. LAPACK could make it, but its BLAS takes the threads that it likes, and
// these wait for its next call by spinning, for tens of milliseconds, on cores that our threads need.
#pragma once
#include <algorithm>
#include <cmath>

#include "kernels/dense_gram.hpp"

namespace dualfree {

// U with U^T U = the matrix, in the place of its upper triangle, by lines, each filled up to whole vectors; below the diagonal there is
// anything. There are as many lines as a multiple of `lines_high` needs.
template <class Number>
class Cholesky {
    static constexpr Size high = lines_high, wide = numbers_of_vector<Number>, block = DenseGram<Number>::step;
    static constexpr Size many = 1500;            // features, from which on a block takes longer than to start threads
    static constexpr Size columns_a_piece = 128;  // of a block, which stay in a near cache
    static_assert(block % high == 0 && block % wide == 0 && columns_a_piece % wide == 0);

    const Size d, stride;
    Number* const lines;

    Number* line(Size k) const { return lines + k * stride; }

    // The lines of a block in columns from .. to: first what the lines above in the block take from some, then these from each other.
    // In its `own` columns the pivots come up, and if one is not positive there is no factor.
    template <bool own>
    bool eliminate(Size first, Size end, Size from, Size to) const {
        for (Size group = first; group < end; group += high) {
            if (own) from = group / wide * wide;
            add_line_products(group - first, line(first) + group, line(first), stride, from, to, Number(-1), line(group));
            for (Size k = group; k < std::min(end, group + high); ++k) {
                Number* const pivot = line(k);
                if (own && !(pivot[k] > 0)) return false;
                const Number root = own ? std::sqrt(pivot[k]) : pivot[k], inverse = 1 / root;
                for (Size j = from; j < to; j += wide) vector_at(pivot + j) *= inverse;
                if (own) pivot[k] = root;
                for (Size i = k + 1; i < std::min(end, group + high); ++i) {
                    const Number share = pivot[i];
                    for (Size j = from; j < to; j += wide) vector_at(line(i) + j) -= share * vector_at(pivot + j);
                }
            }
        }
        return true;
    }

  public:
    Cholesky(Size size, Size apart, Number* upper) : d(size), stride(apart), lines(upper) {}

    // False where a leading minor is not positive. The same bits for any number of threads.
    bool factorise(int threads) const {
        if (d < many) threads = 1;
        for (Size first = 0; first < d; first += block) {
            const Size end = std::min(d, first + block), aside = std::min(stride, first + block);
            if (!eliminate<true>(first, end, first, aside)) return false;
            if (end == d) break;
            Pieces columns((stride - aside + columns_a_piece - 1) / columns_a_piece);
            with_helpers(threads, [&] {
                columns.take([&](Size p) {
                    const Size from = aside + p * columns_a_piece;
                    eliminate<false>(first, end, from, std::min(stride, from + columns_a_piece));
                });
            });
            const auto row_of = [&](Size k, double* to) {
                std::copy(line(first + k) + end, line(first + k) + d, to);
                return 1.0;
            };
            DenseGram<Number>(d - end, stride, line(end) + end).add(block, row_of, Number(-1), threads);
        }
        return true;
    }
};

// v becomes the solution for v, by such a factor.
template <class Number>
void cholesky_solve(const Number* lines, Size d, Size stride, double* v) {
    for (Size k = 0; k < d; ++k) {
        const Number* const line = lines + k * stride;
        const double x = v[k] /= line[k];
#pragma omp simd
        for (Size j = k + 1; j < d; ++j) v[j] -= x * line[j];
    }
    for (Size k = d - 1; k >= 0; --k) {
        const Number* const line = lines + k * stride;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (Size j = k + 1; j < d; ++j) sum += v[j] * line[j];
        v[k] = (v[k] - sum) / line[k];
    }
}

}  // namespace dualfree
