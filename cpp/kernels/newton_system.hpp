// The equations of a step of Newton's method, for few features.
#pragma once
#include <algorithm>
#include <cmath>

#include "kernels/cholesky.hpp"
#include "losses.hpp"

namespace dualfree {

// The sum of curvature_i A_i A_i^T, its upper triangle by lines, and then its Cholesky factor in the same place.
class NewtonSystem {
    Size d, stride;
    double *lines, *last;  // the last column too, from before there was a factor

    double* line(Size k) const { return lines + k * stride; }

public:
    NewtonSystem(Size features, LinesRoom& room)
        : d(features), stride(line_length(features)), lines(room.take(stride * stride)), last(room.take(stride)) {}

    static Size room(Size features) { return line_length(features) * (line_length(features) + 1); }

    double* hessian() { return lines; }
    void clear() { std::fill(lines, lines + stride * stride, 0.0); }

    // The square of g without its last entry, at the best value of the last feature, by the last Hessian.
    double square_without_last(const double* g) const {
        if (!(last[d - 1] > 0)) return infinity;
        const double move = g[d - 1] / last[d - 1];
        double square = 0;
        for (Size j = 0; j < d - 1; ++j) square += (g[j] - move * last[j]) * (g[j] - move * last[j]);
        return square;
    }

    // The factor of hessian / n + lambda I, I for the first `penalised` features; false where it has none.
    bool factorise(double n, double lambda, Size penalised) {
        for (Size k = 0; k < d; ++k) last[k] = line(k)[d - 1];
        for (Size k = 0; k < d; ++k)
            for (Size j = k / lines_high * lines_high; j < stride; j += lines_wide) wide_at(line(k) + j) /= n;
        for (Size k = 0; k < penalised; ++k) line(k)[k] += lambda;
        return Cholesky<double>(d, stride, lines).factorise(1);
    }

    // out = (hessian / n + lambda I)^-1 g, by that factor.
    void solve(const double* g, double* out) const {
        std::copy(g, g + d, out);
        cholesky_solve(lines, d, stride, out);
    }

};

}  // namespace dualfree
