// Sums of products of rows that have, or are taken to have, all their entries: by panels of columns that stay in the nearest cache, in
// blocks that stay in registers. BLAS could make them, but takes the threads that it likes, and the one of a wheel may know no newer
// instructions than those of ten years ago.
#pragma once
#include <cmath>
#include <deque>
#include <vector>

#include "kernels/blocks.hpp"
#include "kernels/visits.hpp"

namespace dualfree {

template <class Number>
class DenseGram {
#if defined(__AVX512F__)
    static constexpr Size register_bytes = 64, high = 8, vectors = 3;
#elif defined(__AVX__)
    static constexpr Size register_bytes = 32, high = 4, vectors = 3;
#else
    static constexpr Size register_bytes = 16, high = 4, vectors = 2;
#endif
    static constexpr Size wide = register_bytes / Size(sizeof(Number)), across = vectors * wide;  // columns of a vector, and of a panel
    static constexpr Size rows_at_once = 96;  // so that two panels of them fit into the nearest cache
    using Vector [[gnu::vector_size(register_bytes), gnu::aligned(alignof(Number)), gnu::may_alias]] = Number;

    static_assert(across % high == 0);
    static Vector& vector_at(Number* at) { return *reinterpret_cast<Vector*>(at); }
    static const Vector& vector_at(const Number* at) { return *reinterpret_cast<const Vector*>(at); }

    const Size d, panels;
    Number* const out;
    std::vector<Number> numbers;  // of the rows at hand, panel by panel

    Number* panel(Size p) { return numbers.data() + p * rows_at_once * across; }

    // out += sign times the products of `high` columns from `line` on with those of so many vectors from `column` on; above the diagonal.
    template <Size many>
    void multiply(Size count, Size line, Size column, Number sign) {
        const Number *left = panel(line / across) + line % across, *right = panel(column / across) + column % across;
        Vector sum[high][many] = {};
        for (Size i = 0; i < count; ++i, left += across, right += across) {
            Vector some[many];
            for (Size c = 0; c < many; ++c) some[c] = vector_at(right + c * wide);
            for (Size r = 0; r < high; ++r)
                for (Size c = 0; c < many; ++c) sum[r][c] += left[r] * some[c];
        }
        Number block[high][many * wide];  // a number of a register by its place would keep all of them in memory, in the loop too
        for (Size r = 0; r < high; ++r)
            for (Size c = 0; c < many; ++c) vector_at(block[r] + c * wide) = sum[r][c];
        const Size end = std::min(many * wide, d - column);
        for (Size r = 0; r < std::min(high, d - line); ++r) {
            Number* const at = out + (line + r) * d + column;
            Size k = std::max<Size>(0, line + r - column);
            if (k == 0)
                for (; k + wide <= end; k += wide) vector_at(at + k) += sign * vector_at(block[r] + k);
            for (; k < end; ++k) at[k] += sign * block[r][k];
        }
    }

    // All lines of one panel with all columns of another, which is the same or further to the right.
    void multiply_panels(Size above, Size p, Size count, Number sign) {
        const Size end = std::min(d, (p + 1) * across);
        for (Size line = above * across; line < std::min(d, (above + 1) * across); line += high) {
            const Size column = above == p ? line / wide * wide : p * across;  // what is left of it is below the diagonal
            switch ((end - column + wide - 1) / wide) {
                case 1: multiply<1>(count, line, column, sign); break;
                case 2: multiply<2>(count, line, column, sign); break;
                default: multiply<vectors>(count, line, column, sign);
            }
        }
    }

    template <class R>
    void write(const R& rows, Size i, double factor, Size at) {
        static thread_local std::vector<double> row;
        row.resize(std::size_t(panels * across));
        rows.write_to(i, row.data());
        std::fill(row.begin() + d, row.end(), 0.0);
        for (Size p = 0; p < panels; ++p) {
            const double* const from = row.data() + p * across;
            Number* const to = panel(p) + at * across;
#pragma omp simd
            for (Size k = 0; k < across; ++k) to[k] = Number(factor * from[k]);
        }
    }

  public:
    // The upper triangle of `sums`, a d by d array by rows, is what is added to.
    DenseGram(Size features, Number* sums)
        : d(features), panels((d + across - 1) / across), out(sums), numbers(std::size_t(panels * rows_at_once * across)) {}

    // += sum of weight_k A_i A_i^T, i = indices[k]; weights of both signs. The same bits for any number of threads.
    template <class R>
    void add(const R& rows, const Size* indices, Size count, const double* weights, int threads) {
        for (const double sign : {1.0, -1.0}) {
            std::vector<Size> listed;
            for (Size k = 0; k < count; ++k)
                if (sign * weights[k] > 0) listed.push_back(k);
            const Size all = Size(listed.size());
            const auto steps = std::size_t((all + rows_at_once - 1) / rows_at_once);
            constexpr Size a_piece = 8;  // rows to be written
            std::deque<Pieces> writing, multiplying;
            for (std::size_t s = 0; s < steps; ++s) writing.emplace_back(rows_at_once / a_piece), multiplying.emplace_back(panels * (panels + 1) / 2);
            with_helpers(useful_threads(threads, all * d * d / 64), [&] {
                for (std::size_t s = 0; s < steps; ++s) {
                    const Size first = Size(s) * rows_at_once, many = std::min(rows_at_once, all - first);
                    writing[s].take([&](Size piece) {
                        for (Size at = piece * a_piece; at < std::min(many, (piece + 1) * a_piece); ++at) {
                            const Size k = listed[std::size_t(first + at)];
                            if (first + at + near_ahead < all) rows.prefetch(indices[listed[std::size_t(first + at + near_ahead)]]);
                            write(rows, indices[k], std::sqrt(std::fabs(weights[k])), at);
                        }
                    });
                    writing[s].finish();
                    multiplying[s].take([&](Size piece) {
                        Size p = 0;
                        while ((p + 1) * (p + 2) / 2 <= piece) ++p;
                        multiply_panels(piece - p * (p + 1) / 2, p, many, Number(sign));
                    });
                    multiplying[s].finish();
                }
            });
        }
    }
};

}  // namespace dualfree
