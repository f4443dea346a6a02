// The implicit steps of some examples at once, for kernels that know all their products before the first step.
#pragma once
#include <cmath>
#include <memory>

#include "losses.hpp"

namespace dualfree {

constexpr int most_together = 32;

// The roots of `implicit_sigmoid` at once, as SIMD: `x` holds each s and receives the root, `u` holds each t and is used up.
// False: some did not come soon enough, and x is of no use.
inline bool implicit_sigmoids(int count, const double* c, double* u, double* x) {
    for (int round = 0; round < 4; ++round) {
        double worst = 0, outside = 0;
#pragma omp simd reduction(max : worst, outside)
        for (int k = 0; k < count; ++k) {
            const double move = householder_move(x[k], u[k], c[k]), shift = c[k] * move;
            x[k] += move;
            u[k] += shift;
            const double left = std::fabs(shift * shift * shift * move) * (1 + c[k]);
            const double out = std::fabs(shift) <= 4 && x[k] >= 0 && x[k] <= 1 ? 0.0 : 1.0;
            worst = left > worst ? left : worst;
            outside = out > outside ? out : outside;
        }
        if (outside > 0) return false;
        if (worst <= 1e-13) return true;
    }
    return false;
}

inline void implicit_together(const Logistic& f, int count, const double* z, const double* a, const double* c,
                              const double* y, double* out) {
    double margin[most_together], root[most_together];
    for (int k = 0; k < count; ++k) margin[k] = y[k] * z[k], root[k] = y[k] * a[k];
    const bool done = implicit_sigmoids(count, c, margin, root);
    for (int k = 0; k < count; ++k) out[k] = done ? y[k] * root[k] : f.implicit(z[k], a[k], c[k], y[k]);
}

// scale[2 i] + caution scale[2 i + 1] is v_i / (lambda n): the norm of example i, and what it shares with the others.
struct Curvatures {
    const double* scale;
    double of(Size i, double caution) const { return scale[2 * i] + caution * scale[2 * i + 1]; }
};

// `z` are the products of the listed examples with w, `alpha` what their alpha is; `delta` receives their steps.
struct ShardSteps {
    const double* y;
    Curvatures curvatures;
    ShardSteps(const double* targets, Curvatures c) : y(targets), curvatures(c) {}
    virtual ~ShardSteps() = default;
    virtual void operator()(const Size* batch, int count, const double* z, const double* alpha, double caution,
                            double* delta) const = 0;
};

template <class Loss>
struct ShardStepsOf final : ShardSteps {
    Loss loss;
    ShardStepsOf(const Loss& l, Curvatures c) : ShardSteps(l.y, c), loss(l) {}
    void operator()(const Size* batch, int count, const double* z, const double* alpha, double caution,
                    double* delta) const override {
        if constexpr (requires { implicit_together(loss.f, count, z, alpha, z, y, delta); }) {
            if (!loss.weight.any()) {
                double c[most_together], labels[most_together];
                for (int k = 0; k < count; ++k) c[k] = curvatures.of(batch[k], caution), labels[k] = y[batch[k]];
                implicit_together(loss.f, count, z, alpha, c, labels, delta);
                for (int k = 0; k < count; ++k) delta[k] -= alpha[k];
                return;
            }
        }
        for (int k = 0; k < count; ++k)
            delta[k] = loss.implicit(batch[k], z[k], alpha[k], curvatures.of(batch[k], caution)) - alpha[k];
    }
};

inline std::unique_ptr<ShardSteps> shard_steps(const AnyLoss& loss, Curvatures curvatures) {
    return std::visit(
        [&](const auto& l) -> std::unique_ptr<ShardSteps> {
            return std::make_unique<ShardStepsOf<std::decay_t<decltype(l)>>>(l, curvatures);
        },
        loss);
}

}  // namespace dualfree
