// SAG, SAGA, SVRG, S2GD and mS2GD are one step with two numbers. The table holds a derivative t_i for each example and
// g = sum of t_i A_i / n. With delta_i = phi_i'(A_i^T w) - t_i for the drawn i, all at the same w,
//     w <- w - h (gain sum of delta_i A_i + g + lambda w),   g <- g + memory sum of delta_i A_i,
// and t_i moves with g. SAGA: gain 1, memory 1/n. SAG: gain 1/n, memory 1/n (its g is the one after the change).
// SVRG and S2GD: gain 1, mS2GD: gain 1/batch; memory 0, for their table waits for the next full pass.
//
// The parts g and lambda w touch every feature, so w is kept as s v + r g and a step is a change of two numbers,
//     s' = (1 - h lambda) s,   r' = (1 - h lambda) r - h,   v' = v - (r' memory + h gain) / s' sum of delta_i A_i,
// besides the features of the drawn rows. v and g lie side by side: one cache line for each feature.
#pragma once
#include <vector>

#include "kernels/visits.hpp"
#include "losses.hpp"
#include "rows.hpp"

namespace dualfree {

template <class R, class Loss>
class VarianceReduced {
  public:
    VarianceReduced(const R& rows, const Loss& loss, double step, double lambda, double gain, double memory,
                    double* table, double* average, double* w)
        : rows_(rows), loss_(loss), step_(step), shrink_(1 - step * lambda), gain_(gain), memory_(memory),
          table_(table), average_(average), w_(w), pairs_(std::size_t(rows.d)) {}

    // Batch b is indices[start[b]] .. indices[start[b + 1]]; without `start`, each index is a batch.
    void run(const Size* indices, const Size* start, Size batches) {
        const Size end = start ? start[batches] : batches;
        split();
        for (Size b = 0; b < batches; ++b) {
            const Size first = start ? start[b] : b, last = start ? start[b + 1] : b + 1;
            deltas_.resize(std::size_t(last - first));
            for (Size k = first; k < last; ++k) {
                prefetch_visit(rows_, loss_, indices, k, end, table_);
                deltas_[std::size_t(k - first)] = delta(indices[k]);
            }
            scale_ *= shrink_;
            along_ = shrink_ * along_ - step_;
            const double factor = -(along_ * memory_ + step_ * gain_) / scale_;
            for (Size k = first; k < last; ++k) {
                const double d = deltas_[std::size_t(k - first)];
                if (memory_ != 0) table_[indices[k]] += d;
                rows_.add_to(indices[k], Pair{factor * d, memory_ * d}, pairs_.data());
            }
            if (scale_ < least_scale) {
                join();
                split();
            }
        }
        join();
    }

  private:
    double delta(Size i) const {
        const Pair z = rows_.dot(i, pairs_.data());
        return loss_.derivative(i, scale_ * z.first + along_ * z.second) - table_[i];
    }

    void split() {
        for (Size j = 0; j < rows_.d; ++j) pairs_[std::size_t(j)] = {w_[j], average_[j]};
        scale_ = 1;
        along_ = 0;
    }

    void join() {
        for (Size j = 0; j < rows_.d; ++j) {
            const Pair& p = pairs_[std::size_t(j)];
            w_[j] = scale_ * p.first + along_ * p.second;
            average_[j] = p.second;
        }
    }

    const R& rows_;
    const Loss& loss_;
    double step_, shrink_, gain_, memory_;
    double *table_, *average_, *w_;
    std::vector<Pair> pairs_;
    std::vector<double> deltas_;
    double scale_ = 1, along_ = 0;
};

// The full pass: table[i] = phi_i'(A_i^T w), average = sum of table[i] A_i / n.
template <class R, class Loss>
void snapshot(const R& rows, const Loss& loss, const double* w, double* table, double* average) {
    for (Size j = 0; j < rows.d; ++j) average[j] = 0;
    for (Size i = 0; i < rows.n; ++i) {
        table[i] = loss.derivative(i, rows.dot(i, w));
        rows.add_to(i, table[i] / double(rows.n), average);
    }
}

}  // namespace dualfree
