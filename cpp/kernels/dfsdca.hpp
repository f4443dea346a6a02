// Algorithm 1 (dfSDCA), many iterations a call. For every i of a batch, all at the same w:
//     g_i = phi_i'(A_i^T w) + alpha_i,   alpha_i += delta_i,   w += A_i delta_i / (lambda n),
// with delta_i = -(theta / p_i) g_i for a fixed step, or the implicit step.
#pragma once
#include <vector>

#include "losses.hpp"
#include "rows.hpp"

namespace dualfree {

// `scale` holds theta / p_i, one for each example or one for all (stride 0).
struct FixedStep {
    const double* scale;
    Size stride;
    template <class Loss>
    double delta(const Loss& loss, Size i, double z, double alpha) const {
        return -scale[i * stride] * (loss.derivative(i, z) + alpha);
    }
};

// `scale` holds v_i / (lambda n).
struct ImplicitStep {
    const double* scale;
    Size stride;
    template <class Loss>
    double delta(const Loss& loss, Size i, double z, double alpha) const {
        return loss.implicit(i, z, alpha, scale[i * stride]) - alpha;
    }
};

struct Batches {
    const Size* indices;
    const Size* start;  // batch b is indices[start[b]] .. indices[start[b + 1]]; nullptr: one each
    Size count;         // batches
};

// The visiting order is known ahead, so memory can be asked for before it is needed: first what says where a
// row lies, then the row.
constexpr Size far_ahead = 16, near_ahead = 8;

template <class R, class Loss, class Step>
struct Dfsdca {
    const R& rows;
    const Loss& loss;
    Step step;
    double inverse;  // 1 / (lambda n)
    double* alpha;
    double* w;

    DUALFREE_INLINE void prefetch(const Size* indices, Size at, Size end) const {
        if (at + far_ahead < end) {
            const Size i = indices[at + far_ahead];
            rows.prefetch_bounds(i);
            loss.prefetch(i);
            __builtin_prefetch(alpha + i);
            __builtin_prefetch(step.scale + i * step.stride);
        }
        if (at + near_ahead < end) rows.prefetch(indices[at + near_ahead]);
    }

    void serial(const Size* indices, Size count) const {
        for (Size t = 0; t < count; ++t) {
            prefetch(indices, t, count);
            const Size i = indices[t];
            const double delta = step.delta(loss, i, rows.dot(i, w), alpha[i]);
            alpha[i] += delta;
            rows.add_to(i, inverse * delta, w);
        }
    }

    void batches(const Batches& b) const {
        const Size end = b.start[b.count];
        std::vector<double> deltas;
        for (Size t = 0; t < b.count; ++t) {
            const Size first = b.start[t], last = b.start[t + 1];
            deltas.resize(std::size_t(last - first));
            for (Size k = first; k < last; ++k) {  // the margins first: no row waits for another's loss
                prefetch(b.indices, k, end);
                deltas[std::size_t(k - first)] = rows.dot(b.indices[k], w);
            }
            for (Size k = first; k < last; ++k) {
                const Size i = b.indices[k];
                double& delta = deltas[std::size_t(k - first)];
                delta = step.delta(loss, i, delta, alpha[i]);
            }
            for (Size k = first; k < last; ++k) {
                const Size i = b.indices[k];
                const double delta = deltas[std::size_t(k - first)];
                alpha[i] += delta;
                rows.add_to(i, inverse * delta, w);
            }
        }
    }

    void run(const Batches& b) const {
        if (b.start) {
            batches(b);
        } else {
            serial(b.indices, b.count);
        }
    }
};

}  // namespace dualfree
