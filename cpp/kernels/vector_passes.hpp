// Whole passes over examples with several outputs: values, gradients, certificates, and the sums behind an intercept.
#pragma once
#include <vector>

#include "kernels/passes.hpp"
#include "kernels/vectors.hpp"

namespace dualfree {

// Sum of phi_i(z_i), and of A_i grad phi_i(z_i) into `gradient`; margins holds all z_i where they are wanted.
inline double vector_loss_and_gradient(const VectorExamples& examples, const VectorLoss& loss, const double* w, double* gradient,
                                double* margins, int threads) {
    return add_up(over_blocks(examples, threads, examples.weights, gradient, [&](Size first, Size last, double* sums) {
        Sum total;
        std::vector<double> z(std::size_t(examples.most)), slope(std::size_t(examples.most));
        for (Size i = first; i < last; ++i) {
            const Place p = examples.place(i);
            examples.products(i, w, z.data());
            total.add(loss.value_and_gradient(p, z.data(), slope.data()));
            examples.add(i, 1.0, slope.data(), sums);
            if (margins) std::copy(z.data(), z.data() + p.m, margins + p.at);
        }
        return total;
    }));
}

// The Fenchel slack of one example, at least zero: below it by rounding, NaN by overflow. `a` receives alpha in the domain.
inline double fenchel_slack(const VectorLoss& loss, Place p, double value, const double* z, const double* alpha, double* a) {
    loss.project(p, alpha, a);
    double slack = value + loss.conjugate(p, a);
    for (Size k = 0; k < p.m; ++k) slack += a[k] * z[k];
    return slack >= 0 ? slack : slack < 0 ? 0.0 : infinity;
}

// One pass for everything a certificate needs, as for rows; `sums` is the gradient, and then the combination.
inline Certified vector_certify(const VectorExamples& examples, const VectorLoss& loss, const double* w, const double* alpha, double* sums,
                         int threads) {
    struct Parts {
        Sum loss, fenchel;
    };
    const auto found = over_blocks(examples, threads, 2 * examples.weights, sums, [&](Size first, Size last, double* block) {
        Parts parts;
        const std::size_t most = std::size_t(examples.most);
        std::vector<double> z(most), slope(most), a(most);
        for (Size i = first; i < last; ++i) {
            const Place p = examples.place(i);
            examples.products(i, w, z.data());
            const double value = loss.value_and_gradient(p, z.data(), slope.data());
            parts.loss.add(value);
            parts.fenchel.add(fenchel_slack(loss, p, value, z.data(), alpha + p.at, a.data()));
            examples.add(i, 1.0, slope.data(), block);
            examples.add(i, 1.0, a.data(), block + examples.weights);
        }
        return parts;
    });
    Sum total, fenchel;
    for (const Parts& parts : found) {
        total.add(parts.loss.value());
        fenchel.add(parts.fenchel.value());
    }
    return {total.value(), fenchel.value()};
}

inline void vector_margins(const VectorExamples& examples, const double* w, double* out, int threads) {
    over_rows(examples, threads, [&](Size first, Size last) {
        for (Size i = first; i < last; ++i) examples.products(i, w, out + examples.place(i).at);
    });
}

// Of the listed examples alone, their outputs one after the other.
inline void vector_margins_of(const VectorExamples& examples, const Size* indices, Size count, const double* w, double* out) {
    for (Size k = 0; k < count; out += examples.place(indices[k]).m, ++k) examples.products(indices[k], w, out);
}

inline void vector_combine(const VectorExamples& examples, const double* coefficients, double* out, int threads) {
    over_blocks(examples, threads, examples.weights, out, [&](Size first, Size last, double* sums) {
        for (Size i = first; i < last; ++i) examples.add(i, 1.0, coefficients + examples.place(i).at, sums);
        return 0;
    });
}

inline void vector_combine_of(const VectorExamples& examples, const Size* indices, Size count, const double* coefficients, double* out) {
    for (Size k = 0; k < count; coefficients += examples.place(indices[k]).m, ++k)
        examples.add(indices[k], 1.0, coefficients, out);
}

}  // namespace dualfree
