// Any loss at listed examples, behind one call for many of them: kernels that meet losses this way are compiled for each
// kind of rows and not for each pair of rows and loss, and the loops over examples become SIMD all the same.
#pragma once
#include <memory>

#include "kernels/tiles.hpp"
#include "losses.hpp"
#include "rows.hpp"

namespace dualfree {

struct ListedLoss {
    virtual ~ListedLoss() = default;
    // At most `tile` examples.
    virtual void derivatives(const Size* listed, Size count, const double* z, double* out) const = 0;
    // Returns the sum of the values.
    virtual double expand(const Size* listed, Size count, const double* z, double* derivative,
                          double* curvature) const = 0;
    virtual double implicit(Size i, double z, double alpha, double c) const = 0;
};

template <class Loss>
struct ListedOf final : ListedLoss {
    Loss loss;
    explicit ListedOf(const Loss& l) : loss(l) {}

    void derivatives(const Size* listed, Size count, const double* z, double* out) const override {
        // Targets and weights are fetched apart from the arithmetic, which then is SIMD.
        const auto f = loss.f;
        double y[tile];
        for (Size k = 0; k < count; ++k) y[k] = loss.y[listed[k]];
#pragma omp simd
        for (Size k = 0; k < count; ++k) out[k] = f.derivative(z[k], y[k]);
        if (!loss.weight.any()) return;
        for (Size k = 0; k < count; ++k) out[k] *= loss.weight[listed[k]];
    }
    double expand(const Size* listed, Size count, const double* z, double* derivative,
                  double* curvature) const override {
        double total = 0;
        for (Size k = 0; k < count; ++k) {
            const Slope slope = loss.value_and_derivative(listed[k], z[k]);
            total += slope.value;
            derivative[k] = slope.derivative;
            curvature[k] = loss.curvature(listed[k], z[k]);
        }
        return total;
    }
    double implicit(Size i, double z, double alpha, double c) const override { return loss.implicit(i, z, alpha, c); }
};

inline std::unique_ptr<ListedLoss> listed(const AnyLoss& loss) {
    return std::visit(
        [](const auto& l) -> std::unique_ptr<ListedLoss> { return std::make_unique<ListedOf<std::decay_t<decltype(l)>>>(l); },
        loss);
}

}  // namespace dualfree
