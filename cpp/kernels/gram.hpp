// The second-order sums of the listed examples, for Newton's method.
#pragma once
#include "rows.hpp"

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

// The upper triangle of out += sum of weight_k A_i A_i^T, i = indices[k], a d by d array by rows.
template <class Values, class Index>
void upper_gram(const CsrRows<Values, Index>& rows, const Size* indices, Size count, const double* weights, double* out) {
    for (Size k = 0; k < count; ++k) {
        if (weights[k] == 0) continue;
        if (k + 8 < count) rows.prefetch(indices[k + 8]);
        add_products(rows, indices[k], weights[k], out, rows.d);
    }
}

}  // namespace dualfree
