// dfSDCA and SDCA with a penalty mu |w|_1: the state is the combination c = sum of A_i alpha_i / (lambda n), and the point is
//     w_j = soft(c_j, mu / lambda) = c_j - clamp(c_j, -mu / lambda, mu / lambda),
// which is computed on the way for the features of a row alone: a step costs the row's nonzeros, as without the penalty.
// The constant feature of an intercept is not thresholded.
#pragma once
#include <algorithm>

#include "kernels/dfsdca.hpp"
#include "rows.hpp"

namespace dualfree {

DUALFREE_INLINE double soft(double c, double threshold) { return c - std::clamp(c, -threshold, threshold); }

template <class Values, class Index>
double thresholded_dot(const CsrRows<Values, Index>& rows, Size i, const double* c, double threshold) {
    const Size last = rows.start[i + 1];
    double s0 = 0, s1 = 0;
    Size k = rows.start[i];
    for (; k + 2 <= last; k += 2) {
        s0 += double(rows.values[k]) * soft(c[rows.columns[k]], threshold);
        s1 += double(rows.values[k + 1]) * soft(c[rows.columns[k + 1]], threshold);
    }
    if (k < last) s0 += double(rows.values[k]) * soft(c[rows.columns[k]], threshold);
    const double sum = s0 + s1;
    return rows.constant != 0 ? sum + rows.offset + rows.constant * c[rows.d - 1] : sum;
}

template <class Value>
double thresholded_dot(const DenseRows<Value>& rows, Size i, const double* c, double threshold) {
    const Value* row = rows.values + i * rows.row_stride;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Size j = 0; j < rows.width; ++j) sum += double(row[j * rows.column_stride]) * soft(c[j], threshold);
    return rows.constant != 0 ? sum + rows.offset + rows.constant * c[rows.width] : sum;
}

// Rows whose product is with the thresholded point; all else, moves of c among it, is as it was.
template <class R>
struct Thresholded : R {
    double threshold;
    Thresholded(const R& rows, double t) : R(rows), threshold(t) {}
    double dot(Size i, const double* c) const { return thresholded_dot(static_cast<const R&>(*this), i, c, threshold); }
};

// Any step of any loss behind one call: the loop is then compiled for each kind of rows alone.
struct AnyStep {
    const BatchSteps& steps;
    const double* alpha;
    const double* scale;
    Size stride;
    template <class Loss>
    double delta(const Loss&, Size i, double z, double) const {
        steps(&i, 1, alpha, &z);
        return z;
    }
    double response(Size) const { return 0; }
};

template <class R>
double proximal(const R& rows, double threshold, const AnyDerivative& loss, const AnyStep& step, double inverse,
                const Batches& batches, double* alpha, double* c, int threads) {
    const Thresholded<R> thresholded(rows, threshold);
    if (!batches.start)
        return dfsdca_serial(thresholded, loss, step, inverse, batches.indices, batches.count, alpha, c).moved;
    return DfsdcaBatches<Thresholded<R>>{thresholded, step.steps, inverse, alpha, c}.run(batches, threads);
}

}  // namespace dualfree
