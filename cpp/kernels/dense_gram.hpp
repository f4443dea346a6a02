// Sums of products of rows that have, or are taken to have, all their entries: by panels of columns that stay in the nearest cache, in
// blocks that stay in registers. BLAS could make them, but takes the threads that it likes, and the one of a wheel may know no newer
// instructions than those of ten years ago.
#pragma once
#include <cmath>
#include <deque>
#include <vector>

#include "kernels/blocks.hpp"
#include "kernels/lines.hpp"
#include "kernels/visits.hpp"

namespace dualfree {

template <class Number>
class DenseGram {
    // A block has so many lines and vectors that its sums, a line of vectors and a number stay in registers.
    static constexpr Size high = lines_wide == 8 ? 8 : 4, vectors = lines_wide == 2 ? 2 : 3;
    static constexpr Size wide = numbers_of_vector<Number>, across = vectors * wide;  // columns of a vector, and of a panel
    static constexpr Size rows_at_once = 96;  // so that two panels of them fit into the nearest cache
    static constexpr Size rows_a_piece = 8;        // that one thread writes
    using Vector = VectorOf<Number>;

    static_assert(across % high == 0);

    const Size d, stride, panels;
    Number* const out;
    Number* const numbers;  // of the rows at hand, panel by panel

    // Memory of this thread, which other threads may use meanwhile; not `KeptMemory`, which who adds up blocks has.
    static Number* room_for(Size size) {
        static thread_local std::vector<Number> room;
        if (Size(room.size()) < size) room.resize(std::size_t(size));
        return room.data();
    }

    Number* panel(Size p) { return numbers + p * rows_at_once * across; }

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
            Number* const at = out + (line + r) * stride + column;
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

    template <class Row>
    void write(const Row& row_of, Size k, Size at) {
        static thread_local std::vector<double> row;
        row.resize(std::size_t(panels * across));
        const double factor = row_of(k, row.data());
        std::fill(row.begin() + d, row.end(), 0.0);
        for (Size p = 0; p < panels; ++p) {
            const double* const from = row.data() + p * across;
            Number* const to = panel(p) + at * across;
#pragma omp simd
            for (Size k = 0; k < across; ++k) to[k] = Number(factor * from[k]);
        }
    }

  public:
    static constexpr Size step = rows_at_once;

    // The upper triangle of `sums`, as many lines as features and so far apart, is what is added to.
    DenseGram(Size features, Size apart, Number* sums)
        : d(features), stride(apart), panels((d + across - 1) / across), out(sums), numbers(room_for(panels * rows_at_once * across)) {}

    // += sign times the sum of r_k r_k^T for `all` rows, of which `row_of(k, to)` writes one, and returns a factor for it.
    template <class Row>
    void add(Size all, const Row& row_of, Number sign, int threads) {
        const Size steps = (all + rows_at_once - 1) / rows_at_once;
        std::deque<Pieces> writing, multiplying;
        for (Size s = 0; s < steps; ++s) writing.emplace_back(rows_at_once / rows_a_piece), multiplying.emplace_back(panels * (panels + 1) / 2);
        with_helpers(threads, [&] {
            for (Size s = 0; s < steps; ++s) {
                const Size first = s * rows_at_once, end = std::min(all, first + rows_at_once);
                Pieces &write_rows = writing[std::size_t(s)], &multiply_rows = multiplying[std::size_t(s)];
                write_rows.take([&](Size piece) {
                    const Size at = piece * rows_a_piece;
                    for (Size k = at; k < at + rows_a_piece && first + k < end; ++k) write(row_of, first + k, k);
                });
                write_rows.finish();
                multiply_rows.take([&](Size piece) {  // pairs of panels, the second of which is not left of the first
                    Size p = 0;
                    while ((p + 1) * (p + 2) / 2 <= piece) ++p;
                    multiply_panels(piece - p * (p + 1) / 2, p, end - first, sign);
                });
                multiply_rows.finish();
            }
        });
    }
};

// Where each block of the listed rows begins, of which a thread makes all products: with few features, a panel of these is too
// little for threads to wait for each other. With many features, which are panels enough, there is one block.
inline std::vector<Size> gram_blocks(Size all, Size d) {
    constexpr Size few = 256, rows_a_block = 512;
    return cut_evenly(all, d > few ? 1 : std::clamp<Size>(all / rows_a_block, 1, most_square_blocks(d)));
}

// The upper triangle of `out`, a d by d array by rows, += sum of weight_k A_i A_i^T, i = indices[k]; weights of both signs. The same bits
// for any number of threads.
template <class Number, class R>
void dense_gram(const R& rows, Size d, const Size* indices, Size count, const double* weights, Number* out, int threads) {
    constexpr Size products_an_entry = 64;  // that take about as long as an entry of a pass
    for (const double sign : {1.0, -1.0}) {
        std::vector<Size> listed;
        for (Size k = 0; k < count; ++k)
            if (sign * weights[k] > 0) listed.push_back(k);
        const Size all = Size(listed.size());
        const int useful = useful_threads(threads, all * d * d / products_an_entry);
        const std::vector<Size> start = gram_blocks(all, d);
        const int within = start.size() == 2 ? useful : 1;
        in_blocks(start, useful, d * d, out, [&](Size first, Size last, Number* sums) {
            const auto row_of = [&](Size k, double* to) {
                const Size at = listed[std::size_t(first + k)], ahead = first + k + near_ahead;
                if (ahead < last) rows.prefetch(indices[listed[std::size_t(ahead)]]);
                rows.write_to(indices[at], to);
                return std::sqrt(std::fabs(weights[at]));
            };
            DenseGram<Number>(d, d, sums).add(last - first, row_of, Number(sign), within);
            return last - first;
        });
    }
}

}  // namespace dualfree
