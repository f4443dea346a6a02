// Whole passes over the data: the sums behind the value, the gradient and the certificate.
#pragma once
#include <cmath>

#include "losses.hpp"
#include "rows.hpp"

namespace dualfree {

// A sum that carries its rounding error along (Neumaier), so that 1e8 terms keep all their digits.
struct Sum {
    double total = 0, lost = 0;
    void add(double x) {
        const double next = total + x;
        if (std::isfinite(next)) lost += std::fabs(total) >= std::fabs(x) ? (total - next) + x : (x - next) + total;
        total = next;
    }
    double value() const { return total + lost; }
};

// Sum of phi_i(z_i), and of phi_i'(z_i) A_i into `gradient`.
template <class R, class Loss>
double loss_and_gradient(const R& rows, const Loss& loss, const double* w, double* gradient) {
    Sum total;
    for (Size i = 0; i < rows.n; ++i) {
        const auto [value, derivative] = loss.value_and_derivative(i, rows.dot(i, w));
        total.add(value);
        rows.add_to(i, derivative, gradient);
    }
    return total.value();
}

struct Certified {
    double loss;     // sum of phi_i(z_i)
    double fenchel;  // sum of phi_i(z_i) + phi_i*(-a_i) + a_i z_i, each at least zero
};

// One pass for everything a certificate needs. a_i is alpha_i moved to the nearest point where phi_i*(-a) is
// finite: any such a gives a valid lower bound, and rounding may have left alpha_i just outside.
// P(w) - D(a) = fenchel / n + lambda / 2 * |w - combination / (lambda n)|^2: no cancellation of large terms.
// `sums` gathers, for each feature, the gradient of the losses and the combination sum A_i a_i.
template <class R, class Loss>
Certified certify(const R& rows, const Loss& loss, const double* w, const double* alpha, Pair* sums) {
    Sum total, fenchel;
    for (Size i = 0; i < rows.n; ++i) {
        const double z = rows.dot(i, w), a = loss.project(i, alpha[i]);
        const auto [value, derivative] = loss.value_and_derivative(i, z);
        total.add(value);
        const double slack = value + loss.conjugate(i, a) + a * z;  // below zero by rounding, NaN by overflow
        fenchel.add(slack >= 0 ? slack : slack < 0 ? 0 : infinity);
        rows.add_to(i, Pair{derivative, a}, sums);
    }
    return {total.value(), fenchel.value()};
}

// Sum of phi_i*(-alpha_i): infinite where an alpha_i lies outside the domain.
template <class Loss>
double conjugate_sum(const Loss& loss, const double* alpha, Size n) {
    Sum total;
    for (Size i = 0; i < n; ++i) total.add(loss.conjugate(i, alpha[i]));
    return total.value();
}

// out += sum of weight_i A_i A_i^T, a d by d array; for few features.
template <class R>
void weighted_gram(const R& rows, const double* weights, double* out) {
    for (Size i = 0; i < rows.n; ++i) {
        if (weights[i] == 0) continue;
        rows.for_each(i, [&](Size j, double x) {
            double* line = out + j * rows.d;
            const double scale = weights[i] * x;
            rows.add_to(i, scale, line);
        });
    }
}

// margins[i] = A_i^T w
template <class R>
void margins(const R& rows, const double* w, double* out) {
    for (Size i = 0; i < rows.n; ++i) out[i] = rows.dot(i, w);
}

template <class R>
void margins_of(const R& rows, const Size* indices, Size count, const double* w, double* out) {
    for (Size k = 0; k < count; ++k) out[k] = rows.dot(indices[k], w);
}

// out += sum of A_i coefficient_i, over all examples or over the listed ones
template <class R>
void combine(const R& rows, const double* coefficients, double* out) {
    for (Size i = 0; i < rows.n; ++i) rows.add_to(i, coefficients[i], out);
}

// Two combinations in one pass, interleaved.
template <class R>
void combine_pair(const R& rows, const double* first, const double* second, Pair* out) {
    for (Size i = 0; i < rows.n; ++i) rows.add_to(i, Pair{first[i], second[i]}, out);
}

template <class R>
void combine_of(const R& rows, const Size* indices, Size count, const double* coefficients, double* out) {
    for (Size k = 0; k < count; ++k) rows.add_to(indices[k], coefficients[k], out);
}

}  // namespace dualfree
