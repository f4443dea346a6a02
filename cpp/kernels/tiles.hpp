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
void in_tiles(Size first, Size last, Visit&& visit, Size size = tile) {
    for (Size at = first; at < last; at += size) visit(at, std::min(size, last - at));
}

// Examples of a tile in a pass. Memory has nothing to do while losses are computed: where short rows come from there, and not
// from a cache, these turns must be short. Long rows, and those of a cache, would only pay for more turns.
template <class R>
Size examples_a_tile(const R& rows) {
    constexpr Size longest = 24, few = 32;
    const Size work = rows.work_before(rows.n);
    return work > cached_work && work <= (longest + 1) * rows.n ? few : tile;
}

struct Certified {
    double loss = 0;     // sum of phi_i(z_i)
    double fenchel = 0;  // sum of phi_i(z_i) + phi_i*(-a_i) + a_i z_i, each at least zero
};

// phi_i(z_i) + phi_i*(-a) + a z_i in general; below zero by rounding, NaN by overflow.
template <class Loss>
DUALFREE_INLINE double fenchel_term(const Loss& loss, Size i, double value, double a, double z) {
    const double slack = value + loss.conjugate(i, a) + a * z;
    return slack >= 0 ? slack : slack < 0 ? 0.0 : infinity;
}

// The sum of many f = linear + log(1 + grows), as the logarithm of a product. That is carried less one, so that small
// factors keep their digits, and a tile has few enough factors of at most 2.
struct SplitSum {
    static constexpr Size lanes = 8;
    double linear[lanes] = {}, product[lanes] = {};
    DUALFREE_INLINE void add(Size lane, const Split& parts) {
        linear[lane] += parts.linear;
        product[lane] += parts.grows * (1 + product[lane]);
    }
    double value() const {
        double total = 0, all = 0;
        for (Size lane = 0; lane < lanes; ++lane) {
            total += linear[lane];
            all += product[lane] * (1 + all);
        }
        return total + std::log1p(all);
    }
};

struct TileLoss {
    virtual ~TileLoss() = default;

    // The examples are `at`, at + 1, ..., or those that `listed` names; z holds their products.
    virtual double value_and_derivatives(Size at, const Size* listed, Size count, const double* z,
                                         double* derivatives) const = 0;

    // phi_i''(z_i), at a kink that of one side.
    virtual void curvatures(Size at, Size count, const double* z, double* out) const = 0;

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

    void curvatures(Size at, Size count, const double* z, double* out) const override {
        with_weights_known(loss, [&](const auto& l) {
#pragma omp simd
            for (Size k = 0; k < count; ++k) out[k] = l.curvature(at + k, z[k]);
        });
    }

    Certified certify(Size at, Size count, const double* z, const double* alpha, Pair* both) const override {
        return with_weights_known(loss, [&](const auto& l) {
            if constexpr (requires { l.divergence(Size(0), 0.0, 0.0); })
                return certify_near(l, at, count, z, alpha, both);
            else
                return certify_any(l, at, count, z, alpha, both);
        });
    }

  private:
    template <class L>
    static Certified certify_any(const L& l, Size at, Size count, const double* z, const double* alpha, Pair* both) {
        double total = 0, fenchel = 0;
#pragma omp simd reduction(+ : total, fenchel)
        for (Size k = 0; k < count; ++k) {
            const double a = l.project(at + k, alpha[at + k]);
            const Slope slope = l.value_and_derivative(at + k, z[k]);
            total += slope.value;
            fenchel += fenchel_term(l, at + k, slope.value, a, z[k]);
            both[k] = {slope.derivative, a};
        }
        return {total, fenchel};
    }

    // The same by fewer logarithms where all of a group are near their optimum, as most are when a run is nearly done.
    template <class L>
    static Certified certify_near(const L& l, Size at, Size count, const double* z, const double* alpha, Pair* both) {
        constexpr Size lanes = SplitSum::lanes;
        double a[tile], derivative[tile], linear[tile], grows[tile], term[tile], argument[tile];
#pragma omp simd
        for (Size k = 0; k < count; ++k) {
            const Split parts = l.split(at + k, z[k]);
            derivative[k] = parts.derivative, linear[k] = parts.linear, grows[k] = parts.grows;
        }
#pragma omp simd
        for (Size k = 0; k < count; ++k) a[k] = l.project(at + k, alpha[at + k]);
#pragma omp simd
        for (Size k = 0; k < count; ++k) {
            const Divergence found = l.divergence(at + k, a[k], derivative[k]);
            term[k] = found.value, argument[k] = found.argument;
        }
        SplitSum sum;
        double fenchel = 0;
        for (Size k = 0; k < count; k += lanes) {
            const Size end = std::min(count, k + lanes);
            double far = 0;
            for (Size j = k; j < end; ++j) {
                far += argument[j] <= artanh_reach ? 0.0 : 1.0;
                sum.add(j - k, {linear[j], grows[j], 0.0});
            }
            if (far > 0)
#pragma omp simd
                for (Size j = k; j < end; ++j)
                    term[j] = fenchel_term(l, at + j, l.value_and_derivative(at + j, z[j]).value, a[j], z[j]);
        }
#pragma omp simd reduction(+ : fenchel)
        for (Size k = 0; k < count; ++k) fenchel += term[k];
        for (Size k = 0; k < count; ++k) both[k] = {derivative[k], a[k]};
        return {sum.value(), fenchel};
    }

    template <class L, class Example>
    static double sum_of_values(const L& l, Example&& example, Size count, const double* z, double* derivatives) {
        double total = 0;
        if constexpr (requires { l.split(Size(0), 0.0); }) {
            constexpr Size lanes = SplitSum::lanes;
            SplitSum sum;
            Size k = 0;
            for (; k + lanes <= count; k += lanes) {
#pragma omp simd
                for (Size lane = 0; lane < lanes; ++lane) {
                    const Split parts = l.split(example(k + lane), z[k + lane]);
                    derivatives[k + lane] = parts.derivative;
                    sum.add(lane, parts);
                }
            }
            for (; k < count; ++k) {
                const Split parts = l.split(example(k), z[k]);
                derivatives[k] = parts.derivative;
                sum.add(0, parts);
            }
            return sum.value();
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
