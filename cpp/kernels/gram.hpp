// The second-order sums of the listed examples, for Newton's method.
#pragma once
#include "kernels/blocks.hpp"

namespace dualfree {

// The upper triangle of out += weight A_i A_i^T, an array whose lines are `stride` apart.
template <class Values, class Index>
DUALFREE_INLINE void add_products(const CsrRows<Values, Index>& rows, Size i, double weight, double* out, Size stride) {
    const Size first = rows.start[i], last = rows.start[i + 1], constant = rows.d - 1;
    for (Size one = first; one < last; ++one) {
        const Size column = rows.columns[one];
        double* line = out + column * stride;
        const double scale = weight * double(rows.values[one]);
        if (rows.sorted) {
            rows.add_entries(one, last, scale, line);
        } else {
            for (Size other = one; other < last; ++other) {
                const Size beside = rows.columns[other];
                (beside >= column ? line[beside] : out[beside * stride + column]) += scale * double(rows.values[other]);
            }
        }
        if (rows.constant != 0) line[constant] += scale * rows.constant;
    }
    if (rows.constant != 0) out[constant * stride + constant] += weight * rows.constant * rows.constant;
}

// The upper triangle of out += sum of weight_k A_i A_i^T, i = indices[k], a d by d array by rows. The same bits for any number of
// threads.
template <class Values, class Index>
void upper_gram(const CsrRows<Values, Index>& rows, const Size* indices, Size count, const double* weights, double* out, int threads) {
    constexpr Size products_an_entry = 3;  // that take about as long as an entry of a pass
    constexpr Size worth = 32;             // products of a block for each number of its array
    const Size square = rows.d * rows.d;
    Size products = 0;
    for (Size k = 0; k < count; ++k) {
        const Size length = rows.start[indices[k] + 1] - rows.start[indices[k]];
        products += length * (length + 1) / 2;
    }
    const Size blocks = std::clamp<Size>(products / (worth * square), 1, most_square_blocks(rows.d));
    in_blocks(cut_evenly(count, blocks), useful_threads(threads, products / products_an_entry), square, out,
              [&](Size first, Size last, double* sums) {
        for (Size k = first; k < last; ++k) {
            if (weights[k] == 0) continue;
            if (k + 8 < last) rows.prefetch(indices[k + 8]);
            add_products(rows, indices[k], weights[k], sums, rows.d);
        }
        return last - first;
    });
}

}  // namespace dualfree
