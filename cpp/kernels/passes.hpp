// Whole passes over the data: the sums behind the value, the gradient and the certificate. Here a loss is met a tile at a
// time, through one call, so that the passes are compiled for each kind of rows and not for each pair of rows and loss.
#pragma once
#include <cmath>

#include "kernels/blocks.hpp"
#include "kernels/by_length.hpp"
#include "kernels/inner.hpp"
#include "kernels/runs.hpp"
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

struct CertifiedSum {
    Sum loss, fenchel;
    void add(const Certified& part) {
        loss.add(part.loss);
        fenchel.add(part.fenchel);
    }
    Certified value() const { return {loss.value(), fenchel.value()}; }
};

inline Certified add_up(const std::vector<CertifiedSum>& parts) {
    CertifiedSum total;
    for (const CertifiedSum& part : parts) total.add(part.value());
    return total.value();
}

// The part of a pass below that has the rows first .. last - 1, in the order of their length.
template <class R>
Sum pass_by_length(const R& rows, const TileLoss& loss, Size first, Size last, const double* w, double* sums, double* margins,
                   double* derivatives) {
    ByLength<R> sorted(rows);
    Sum total;
    double z[ByLength<R>::most], derivative[ByLength<R>::most];
    in_tiles(first, last, [&](Size at, Size count) {
        sorted.sort(at, count);
        sorted.dot(w, z);
        in_tiles(0, count, [&](Size from, Size some) {
            total.add(loss.value_and_derivatives(at + from, nullptr, some, z + from, derivative + from));
        });
        sorted.add(derivative, sums);
        if (margins) std::copy(z, z + count, margins + at);
        if (derivatives) std::copy(derivative, derivative + count, derivatives + at);
    }, ByLength<R>::at_a_time(last - first));
    return total;
}

// Sum of phi_i(z_i), and of phi_i'(z_i) A_i into `gradient`; margins[i] = z_i and derivatives[i] = phi_i'(z_i) where they are
// wanted.
template <class R>
double loss_and_gradient(const R& rows, const TileLoss& loss, const double* w, double* gradient, double* margins,
                         double* derivatives, int threads) {
    const Runs<R> runs(rows);
    const Size size = examples_a_tile(rows);
    const bool by_length = goes_by_length(rows);
    return add_up(over_blocks(rows, threads, rows.d, gradient, [&](Size first, Size last, double* sums) {
        if constexpr (may_go_by_length<R>)
            if (by_length) return pass_by_length(rows, loss, first, last, w, sums, margins, derivatives);
        Sum total;
        double z[tile], derivative[tile];
        in_tiles(first, last, [&](Size at, Size count) {
            runs.dot(at, count, w, z);
            total.add(loss.value_and_derivatives(at, nullptr, count, z, derivative));
            runs.add(at, count, derivative, sums);
            if (margins) std::copy(z, z + count, margins + at);
            if (derivatives) std::copy(derivative, derivative + count, derivatives + at);
        }, size);
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
// `sums` gathers, for each feature, the gradient of the losses and the combination sum A_i a_i. If the products A_i^T w are
// known, they come as `margins`.
template <class R>
Certified certify(const R& rows, const TileLoss& loss, const double* w, const double* alpha, const double* margins,
                  Pair* sums, int threads) {
    const Runs<R> runs(rows);
    const Size size = examples_a_tile(rows);
    const auto found = over_blocks(rows, threads, rows.d, sums, [&](Size first, Size last, Pair* block) {
        CertifiedSum parts;
        double z[tile];
        Pair both[tile];
        in_tiles(first, last, [&](Size at, Size count) {
            if (!margins) runs.dot(at, count, w, z);
            parts.add(loss.certify(at, count, margins ? margins + at : z, alpha, both));
            runs.add(at, count, both, block);
        }, size);
        return parts;
    });
    return add_up(found);
}

struct Glanced {
    CertifiedSum parts;
    double outside = 0;  // sum of |a_i - alpha_i|
};

// The two numbers alone, without a sum over features: all there is to know of (w, alpha) where w is the combination.
template <class R>
Glanced fenchel(const R& rows, const TileLoss& loss, const double* w, const double* alpha, double* margins, int threads) {
    const Runs<R> runs(rows);
    const Size size = examples_a_tile(rows);
    const auto found = over_blocks(rows, threads, 0, static_cast<double*>(nullptr), [&](Size first, Size last, double*) {
        Glanced block;
        Pair both[tile];
        in_tiles(first, last, [&](Size at, Size count) {
            runs.dot(at, count, w, margins + at);
            block.parts.add(loss.certify(at, count, margins + at, alpha, both));
            for (Size k = 0; k < count; ++k) block.outside += std::fabs(both[k].second - alpha[at + k]);
        }, size);
        return block;
    });
    Glanced total;
    for (const Glanced& block : found) {
        total.parts.add(block.parts.value());
        total.outside += block.outside;
    }
    return total;
}

// The same for any rows, compiled once, in bindings/passes.cpp.
Glanced glance_at(const Rows& rows, const AnyLoss& loss, const double* w, const double* alpha, double* margins, int threads);

// The same of runs of examples, `length` from each of first, first + stride, ... on, and how many these are.
template <class R>
std::pair<Certified, Size> fenchel_of_runs(const R& rows, const TileLoss& loss, Size first, Size stride, Size length,
                                           const double* w, const double* alpha) {
    CertifiedSum sum;
    Size seen = 0;
    double z[tile];
    Pair both[tile];
    for (Size at = first; at < rows.n; at += stride) {
        const Size count = std::min(length, rows.n - at);
        for (Size k = 0; k < count; ++k) z[k] = rows.dot(at + k, w);
        sum.add(loss.certify(at, count, z, alpha, both));
        seen += count;
    }
    return {sum.value(), seen};
}

struct Squares {
    double w = 0, gradient = 0, apart = 0;
};

// What `certify` gathered, turned into the gradient of P and the combination (1 / lambda n) sum A_i a_i, in place; the
// squared norms of w, of the gradient, and of what w is off the combination, with eight sums side by side.
inline Squares settle(Pair* sums, const double* w, Size d, double n, double lambda) {
    constexpr Size lanes = 8;
    Squares parts[lanes], all;
    const double scale = lambda * n;  // divided by, not multiplied with its inverse, which may overflow
    for (Size j = 0; j < d; ++j) {
        Squares& part = parts[j % lanes];
        sums[j] = {sums[j].first / n + lambda * w[j], sums[j].second / scale};
        const double apart = w[j] - sums[j].second;
        part.w += w[j] * w[j];
        part.gradient += sums[j].first * sums[j].first;
        part.apart += apart * apart;
    }
    for (const Squares& part : parts) {
        all.w += part.w;
        all.gradient += part.gradient;
        all.apart += part.apart;
    }
    return all;
}

// The same where there is no alpha: the sum over all examples of their gradients becomes the gradient of P.
inline Squares settle(double* sum, const double* w, Size d, double n, double lambda) {
    constexpr Size lanes = 8;
    Squares parts[lanes], all;
    for (Size j = 0; j < d; ++j) {
        Squares& part = parts[j % lanes];
        sum[j] = sum[j] / n + lambda * w[j];
        part.w += w[j] * w[j];
        part.gradient += sum[j] * sum[j];
    }
    for (const Squares& part : parts) {
        all.w += part.w;
        all.gradient += part.gradient;
    }
    return all;
}

// margins[i] = A_i^T w
template <class R>
void margins(const R& rows, const double* w, double* out, int threads) {
    const Runs<R> runs(rows);
    over_rows(rows, threads, [&](Size first, Size last) {
        in_tiles(first, last, [&](Size at, Size count) { runs.dot(at, count, w, out + at); });
    });
}

template <class R>
void margins_of(const R& rows, const Size* indices, Size count, const double* w, double* out) {
    for (Size k = 0; k < count; ++k) out[k] = rows.dot(indices[k], w);
}

// out += sum of A_i coefficient_i, over all examples or over the listed ones
template <class R>
void combine(const R& rows, const double* coefficients, double* out, int threads) {
    const Runs<R> runs(rows);
    over_blocks(rows, threads, rows.d, out, [&](Size first, Size last, double* sums) {
        in_tiles(first, last, [&](Size at, Size count) { runs.add(at, count, coefficients + at, sums); });
        return 0;
    });
}

// Two combinations in one pass, interleaved.
template <class R>
void combine_pair(const R& rows, const double* first, const double* second, Pair* out, int threads) {
    const Runs<R> runs(rows);
    over_blocks(rows, threads, rows.d, out, [&](Size begin, Size end, Pair* sums) {
        in_tiles(begin, end, [&](Size at, Size count) {
            Pair both[tile];
            for (Size k = 0; k < count; ++k) both[k] = {first[at + k], second[at + k]};
            runs.add(at, count, both, sums);
        });
        return 0;
    });
}

template <class R>
void combine_of(const R& rows, const Size* indices, Size count, const double* coefficients, double* out) {
    for (Size k = 0; k < count; ++k) rows.add_to(indices[k], coefficients[k], out);
}

}  // namespace dualfree
