// The second-order sums of the listed examples, for Newton's method.
#pragma once
#include "rows.hpp"

namespace dualfree {

// out += sum of weight_k A_i A_i^T, i = indices[k], a d by d array. Each product of two of a row's entries is made once and
// put on the one side or the other of the diagonal, as the columns happen to lie; the caller adds the two sides.
template <class Values, class Index>
void half_gram(const CsrRows<Values, Index>& rows, const Size* indices, Size count, const double* weights, double* out) {
    const Size d = rows.d;
    for (Size k = 0; k < count; ++k) {
        if (weights[k] == 0) continue;
        const Size first = rows.start[indices[k]], last = rows.start[indices[k] + 1];
        if (k + 8 < count) rows.prefetch(indices[k + 8]);
        for (Size one = first; one < last; ++one) {
            double* line = out + rows.columns[one] * d;
            const double scale = weights[k] * double(rows.values[one]);
            for (Size other = one; other < last; ++other)
                line[rows.columns[other]] += scale * double(rows.values[other]);
            if (rows.constant != 0) line[d - 1] += scale * rows.constant;
        }
        if (rows.constant != 0) out[d * d - 1] += weights[k] * rows.constant * rows.constant;
    }
}

}  // namespace dualfree
