// SGD with decreasing steps: w -= eta_t (phi_i'(z) A_i + lambda w), eta_t = eta / (1 + eta lambda t).
// w is kept as scale * w, so that the part of lambda, which touches every feature, costs one multiplication.
#pragma once
#include "kernels/visits.hpp"
#include "losses.hpp"
#include "rows.hpp"

namespace dualfree {

template <class R, class Loss>
struct Sgd {
    const R& rows;
    const Loss& loss;
    double step, lambda;
    double* w;

    void multiply(double scale) const {
        for (Size j = 0; j < rows.d; ++j) w[j] *= scale;
    }

    // `first` is the number of the first iteration: the step size depends on it.
    void run(const Size* indices, Size count, Size first) const {
        double scale = 1;
        for (Size t = 0; t < count; ++t) {
            prefetch_visit(rows, loss, indices, t, count);
            const Size i = indices[t];
            const double eta = step / (1 + step * lambda * double(first + t));
            const double slope = loss.derivative(i, scale * rows.dot(i, w));
            scale *= 1 - eta * lambda;
            rows.add_to(i, -eta * slope / scale, w);
            if (scale < least_scale) {
                multiply(scale);
                scale = 1;
            }
        }
        multiply(scale);
    }
};

}  // namespace dualfree
