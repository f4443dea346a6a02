// Whole passes over the data: the sums behind the value, the gradient and the certificate. Here a loss is met a tile at a
// time, through one call, so that the passes are compiled for each kind of rows and not for each pair of rows and loss.
#pragma once
#include <cmath>

#include "kernels/blocks.hpp"
#include "kernels/tiles.hpp"
#include "rows.hpp"

namespace dualfree {

inline Pair& operator+=(Pair& one, const Pair& other) {
    one.first += other.first;
    one.second += other.second;
    return one;
}

inline double add_up(const std::vector<Sum>& parts) {
    Sum total;
    for (const Sum& part : parts) total.add(part.value());
    return total.value();
}

// Sum of phi_i(z_i), and of phi_i'(z_i) A_i into `gradient`; margins[i] = z_i and derivatives[i] = phi_i'(z_i) where they are
// wanted.
template <class R>
double loss_and_gradient(const R& rows, const TileLoss& loss, const double* w, double* gradient, double* margins,
                         double* derivatives, int threads) {
    return add_up(over_blocks(rows, threads, rows.d, gradient, [&](Size first, Size last, double* sums) {
        Sum total;
        double z[tile], derivative[tile];
        in_tiles(first, last, [&](Size at, Size count) {
            for (Size k = 0; k < count; ++k) z[k] = rows.dot(at + k, w);
            total.add(loss.value_and_derivatives(at, nullptr, count, z, derivative));
            for (Size k = 0; k < count; ++k) rows.add_to(at + k, derivative[k], sums);
            if (margins) std::copy(z, z + count, margins + at);
            if (derivatives) std::copy(derivative, derivative + count, derivatives + at);
        });
        return total;
    }));
}

// The same over the listed examples alone, on one thread.
template <class R>
double loss_and_gradient_of(const R& rows, const TileLoss& loss, const Size* indices, Size number, const double* w,
                            double* gradient) {
    Sum total;
    double z[tile], derivative[tile];
    in_tiles(0, number, [&](Size at, Size count) {
        for (Size k = 0; k < count; ++k) z[k] = rows.dot(indices[at + k], w);
        total.add(loss.value_and_derivatives(0, indices + at, count, z, derivative));
        for (Size k = 0; k < count; ++k) rows.add_to(indices[at + k], derivative[k], gradient);
    });
    return total.value();
}

// One pass for everything a certificate needs.
// P(w) - D(a) = fenchel / n + lambda / 2 * |w - combination / (lambda n)|^2: no cancellation of large terms.
// `sums` gathers, for each feature, the gradient of the losses and the combination sum A_i a_i.
template <class R>
Certified certify(const R& rows, const TileLoss& loss, const double* w, const double* alpha, Pair* sums, int threads) {
    struct Parts {
        Sum loss, fenchel;
    };
    const auto found = over_blocks(rows, threads, rows.d, sums, [&](Size first, Size last, Pair* block) {
        Parts parts;
        double z[tile];
        Pair both[tile];
        in_tiles(first, last, [&](Size at, Size count) {
            for (Size k = 0; k < count; ++k) z[k] = rows.dot(at + k, w);
            const Certified seen = loss.certify(at, count, z, alpha, both);
            parts.loss.add(seen.loss);
            parts.fenchel.add(seen.fenchel);
            for (Size k = 0; k < count; ++k) rows.add_to(at + k, both[k], block);
        });
        return parts;
    });
    Sum total, fenchel;
    for (const Parts& parts : found) {
        total.add(parts.loss.value());
        fenchel.add(parts.fenchel.value());
    }
    return {total.value(), fenchel.value()};
}

// margins[i] = A_i^T w
template <class R>
void margins(const R& rows, const double* w, double* out, int threads) {
    over_rows(rows, threads, [&](Size first, Size last) {
        for (Size i = first; i < last; ++i) out[i] = rows.dot(i, w);
    });
}

template <class R>
void margins_of(const R& rows, const Size* indices, Size count, const double* w, double* out) {
    for (Size k = 0; k < count; ++k) out[k] = rows.dot(indices[k], w);
}

// out += sum of A_i coefficient_i, over all examples or over the listed ones
template <class R>
void combine(const R& rows, const double* coefficients, double* out, int threads) {
    over_blocks(rows, threads, rows.d, out, [&](Size first, Size last, double* sums) {
        for (Size i = first; i < last; ++i) rows.add_to(i, coefficients[i], sums);
        return 0;
    });
}

// Two combinations in one pass, interleaved.
template <class R>
void combine_pair(const R& rows, const double* first, const double* second, Pair* out, int threads) {
    over_blocks(rows, threads, rows.d, out, [&](Size begin, Size end, Pair* sums) {
        for (Size i = begin; i < end; ++i) rows.add_to(i, Pair{first[i], second[i]}, sums);
        return 0;
    });
}

template <class R>
void combine_of(const R& rows, const Size* indices, Size count, const double* coefficients, double* out) {
    for (Size k = 0; k < count; ++k) rows.add_to(indices[k], coefficients[k], out);
}

}  // namespace dualfree
