// The second-order sums of the listed examples, for Newton's method.
#pragma once
#include "rows.hpp"

namespace dualfree {

// The upper triangle of out += sum of weight_k A_i A_i^T, i = indices[k], a d by d array by rows.
template <class Values, class Index>
void upper_gram(const CsrRows<Values, Index>& rows, const Size* indices, Size count, const double* weights, double* out) {
    const Size d = rows.d;
    for (Size k = 0; k < count; ++k) {
        if (weights[k] == 0) continue;
        const Size first = rows.start[indices[k]], last = rows.start[indices[k] + 1];
        if (k + 8 < count) rows.prefetch(indices[k + 8]);
        for (Size one = first; one < last; ++one) {
            const Size column = rows.columns[one];
            double* line = out + column * d;
            const double scale = weights[k] * double(rows.values[one]);
            if (rows.sorted) {
                rows.add_entries(one, last, scale, line);
            } else {
                for (Size other = one; other < last; ++other) {
                    const Size beside = rows.columns[other];
                    (beside >= column ? line[beside] : out[beside * d + column]) += scale * double(rows.values[other]);
                }
            }
            if (rows.constant != 0) line[d - 1] += scale * rows.constant;
        }
        if (rows.constant != 0) out[d * d - 1] += weights[k] * rows.constant * rows.constant;
    }
}

}  // namespace dualfree
