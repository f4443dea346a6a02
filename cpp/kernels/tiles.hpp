// A loss on a tile of examples: their products come first, then the losses of all of them as loops that become SIMD, then
// the sums, while the rows are still in the cache.
#pragma once
#include <cmath>
#include <memory>

#include "kernels/blocks.hpp"
#include "losses.hpp"
#include "rows.hpp"

namespace dualfree {

constexpr Size tile = 128;

template <class Visit>
void in_tiles(Size first, Size last, Visit&& visit) {
    for (Size at = first; at < last; at += tile) visit(at, std::min(tile, last - at));
}

struct Certified {
    double loss = 0;     // sum of phi_i(z_i)
    double fenchel = 0;  // sum of phi_i(z_i) + phi_i*(-a_i) + a_i z_i, each at least zero
};

struct TileLoss {
    virtual ~TileLoss() = default;

    // The examples are `at`, at + 1, ..., or those that `listed` names; z holds their products.
    virtual double value_and_derivatives(Size at, const Size* listed, Size count, const double* z,
                                         double* derivatives) const = 0;

    // What a certificate needs: a_i is alpha_i moved to the nearest point where phi_i*(-a) is finite (any such a gives a
    // valid lower bound, and rounding may have left alpha_i just outside). `both` gets phi_i'(z_i) and a_i.
    virtual Certified certify(Size at, Size count, const double* z, const double* alpha, Pair* both) const = 0;
};

template <class Loss>
struct TileOf final : TileLoss {
    Loss loss;
    explicit TileOf(const Loss& l) : loss(l) {}

    double value_and_derivatives(Size at, const Size* listed, Size count, const double* z,
                                 double* derivatives) const override {
        return with_weights_known(loss, [&](const auto& l) {
            return listed ? sum_of_values(l, [&](Size k) { return listed[k]; }, count, z, derivatives)
                          : sum_of_values(l, [&](Size k) { return at + k; }, count, z, derivatives);
        });
    }

    Certified certify(Size at, Size count, const double* z, const double* alpha, Pair* both) const override {
        return with_weights_known(loss, [&](const auto& l) {
            double total = 0, fenchel = 0;
#pragma omp simd reduction(+ : total, fenchel)
            for (Size k = 0; k < count; ++k) {
                const double a = l.project(at + k, alpha[at + k]);
                const Slope slope = l.value_and_derivative(at + k, z[k]);
                const double slack = slope.value + l.conjugate(at + k, a) + a * z[k];
                total += slope.value;
                fenchel += slack >= 0 ? slack : slack < 0 ? 0.0 : infinity;  // below zero by rounding, NaN by overflow
                both[k] = {slope.derivative, a};
            }
            return Certified{total, fenchel};
        });
    }

  private:
    template <class L, class Example>
    static double sum_of_values(const L& l, Example&& example, Size count, const double* z, double* derivatives) {
        double total = 0;
        if constexpr (requires { l.split(Size(0), 0.0); }) {
            constexpr Size lanes = 8;
            double linear[lanes] = {}, product[lanes] = {};  // the product less one, so that small factors keep their digits
            Size k = 0;
            for (; k + lanes <= count; k += lanes) {
#pragma omp simd
                for (Size lane = 0; lane < lanes; ++lane) {
                    const Split parts = l.split(example(k + lane), z[k + lane]);
                    derivatives[k + lane] = parts.derivative;
                    linear[lane] += parts.linear;
                    product[lane] += parts.grows * (1 + product[lane]);
                }
            }
            double all = 0;
            for (Size lane = 0; lane < lanes; ++lane) {
                total += linear[lane];
                all += product[lane] * (1 + all);
            }
            for (; k < count; ++k) {
                const Split parts = l.split(example(k), z[k]);
                derivatives[k] = parts.derivative;
                total += parts.linear;
                all += parts.grows * (1 + all);
            }
            return total + std::log1p(all);  // a tile has few enough factors of at most 2
        } else {
#pragma omp simd reduction(+ : total)
            for (Size k = 0; k < count; ++k) {
                const Slope slope = l.value_and_derivative(example(k), z[k]);
                derivatives[k] = slope.derivative;
                total += slope.value;
            }
            return total;
        }
    }
};

inline std::unique_ptr<TileLoss> in_tiles_of(const AnyLoss& loss) {
    return std::visit(
        [](const auto& l) -> std::unique_ptr<TileLoss> { return std::make_unique<TileOf<std::decay_t<decltype(l)>>>(l); },
        loss);
}

// Sum of phi_i*(-alpha_i): infinite where an alpha_i lies outside the domain.
template <class Loss>
double conjugate_sum(const Loss& loss, const double* alpha, Size n) {
    return with_weights_known(loss, [&](const auto& l) {
        Sum total;
        in_tiles(0, n, [&](Size at, Size count) {
            double part = 0;
#pragma omp simd reduction(+ : part)
            for (Size k = 0; k < count; ++k) part += l.conjugate(at + k, alpha[at + k]);
            total.add(part);
        });
        return total.value();
    });
}

}  // namespace dualfree
