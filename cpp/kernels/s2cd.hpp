// S2CD: a step moves one feature j of w, by the j-th partial derivative of one f_i. With lambda shared out among the
// examples that have feature j, f_i = phi_i(A_i^T w) + sum over its j of (share_j / 2) w_j^2, share_j = lambda n / omega_j,
// every f_i depends on the features of its row alone. Pairs (i, j) are drawn in proportion to
//     W_ij = omega_i l_i A_ij^2 + share_j,   omega_i the nonzeros of row i:
// f_i is smooth in the norm whose squares W_ij weighs.
#pragma once
#include "kernels/visits.hpp"
#include "losses.hpp"
#include "rng.hpp"
#include "rows.hpp"

namespace dualfree {

constexpr Word feature_stream = 2001;  // of the random numbers behind j, apart from those behind i

// `curvature` holds omega_i l_i; rows[i] and features[j] become the sums of W_ij over a row and over a feature.
template <class R>
void pair_weights(const R& rows, const double* l, double lambda, double* share, double* curvature, double* row_sums,
                  double* feature_sums) {
    for (Size i = 0; i < rows.n; ++i) {
        curvature[i] = 0;
        rows.for_each(i, [&](Size j, double) {
            share[j] += 1;
            curvature[i] += l[i];
        });
    }
    for (Size j = 0; j < rows.d; ++j) share[j] = share[j] > 0 ? lambda * double(rows.n) / share[j] : 0;
    for (Size i = 0; i < rows.n; ++i)
        rows.for_each(i, [&](Size j, double x) {
            const double weight = curvature[i] * x * x + share[j];
            row_sums[i] += weight;
            feature_sums[j] += weight;
        });
}

template <class R, class Loss>
struct S2cd {
    const R& rows;
    const Loss& loss;
    double step, total;  // `total` is the sum of all W_ij over n
    const double *share, *curvature, *row_sums;
    const double* table;   // phi_i' at the anchor
    const double* full;    // the partial derivatives of P at the anchor, each over the probability of its feature
    const double* anchor;
    double* w;

    // `first` is the number of the first iteration: j depends on (seed, iteration).
    void run(const Size* indices, Size count, Word seed, Word first) const {
        for (Size t = 0; t < count; ++t) {
            prefetch_visit(rows, loss, indices, t, count, table);
            const Size i = indices[t];
            const double delta = loss.derivative(i, rows.dot(i, w)) - table[i];
            const double target = unit(Stream(seed, feature_stream, first + Word(t)).next()) * row_sums[i];
            double sum = 0, x = 0, weight = 1;
            Size j = -1;
            rows.for_each(i, [&](Size k, double value) {
                if (sum > target) return;
                j = k;
                x = value;
                weight = curvature[i] * x * x + share[k];
                sum += weight;
            });
            if (j >= 0) w[j] -= step * (full[j] + total / weight * (delta * x + share[j] * (w[j] - anchor[j])));
        }
    }
};

}  // namespace dualfree
