// Any loss at listed examples, behind one call for many of them: kernels that meet losses this way are compiled for each
// kind of rows and not for each pair of rows and loss, and the loops over examples become SIMD all the same.
#pragma once
#include <memory>

#include "losses.hpp"
#include "rows.hpp"

namespace dualfree {

struct ListedLoss {
    virtual ~ListedLoss() = default;
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
#pragma omp simd
        for (Size k = 0; k < count; ++k) out[k] = loss.derivative(listed[k], z[k]);
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
