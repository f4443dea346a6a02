// Algorithm 1 (dfSDCA) for examples with several outputs, many iterations a call. For every i of a batch, all at the same w:
//     g_i = grad phi_i(A_i^T w) + alpha_i,   alpha_i += delta_i,   w += A_i delta_i / (lambda n),
// with delta_i = -(theta / p_i) g_i for a fixed step, or the implicit step. One thread: the same bits for any number.
#pragma once
#include <vector>

#include "kernels/dfsdca.hpp"
#include "kernels/vectors.hpp"

namespace dualfree {

struct VectorStep {
    const double* scale;  // theta / p_i, or v_i / (lambda n)
    Size stride;          // 0: one for all
    Slack slack;          // none: fixed

    // `delta` holds the products and receives the move
    void operator()(const VectorLoss& loss, Place p, const double* alpha, double* delta, double* scratch) const {
        const double factor = scale[p.i * stride];
        double* next = scratch + scratch_of_a_step * p.m;
        if (slack) {
            loss.implicit(p, delta, alpha, factor, *slack, next, scratch);
            for (Size k = 0; k < p.m; ++k) delta[k] = next[k] - alpha[k];
        } else {
            loss.value_and_gradient(p, delta, next);
            for (Size k = 0; k < p.m; ++k) delta[k] = -factor * (next[k] + alpha[k]);
        }
    }
};

// Returns the sum of |delta_i|^2.
inline double dfsdca_vectors(const VectorExamples& examples, const VectorLoss& loss, const VectorStep& step, double inverse,
                      const Batches& batches, double* alpha, double* w) {
    const Size visits = batches.start ? batches.start[batches.count] : batches.count;
    std::vector<double> scratch(std::size_t((scratch_of_a_step + 1) * examples.most)), deltas;
    double moved = 0;
    for (Size t = 0; t < batches.count; ++t) {
        const Size first = batches.start ? batches.start[t] : t, last = batches.start ? batches.start[t + 1] : t + 1;
        Size held = 0;
        for (Size v = first; v < last; ++v) held += examples.place(batches.indices[v]).m;
        if (Size(deltas.size()) < held) deltas.resize(std::size_t(held));
        double* delta = deltas.data();
        for (Size v = first; v < last; ++v) {
            Ahead ahead;
            if (v + near_ahead < visits) {
                ahead.near = batches.indices[v + near_ahead];
                prefetch_line(alpha + examples.place(ahead.near).at);
            }
            if (v + far_ahead < visits) ahead.far = batches.indices[v + far_ahead];
            const Place p = examples.place(batches.indices[v]);
            examples.products(p.i, w, delta, ahead);
            step(loss, p, alpha + p.at, delta, scratch.data());
            delta += p.m;
        }
        delta = deltas.data();
        for (Size v = first; v < last; ++v) {
            const Place p = examples.place(batches.indices[v]);
            for (Size k = 0; k < p.m; ++k) {
                alpha[p.at + k] += delta[k];
                moved += delta[k] * delta[k];
            }
            examples.add(p.i, inverse, delta, w);
            delta += p.m;
        }
    }
    return moved;
}

}  // namespace dualfree
