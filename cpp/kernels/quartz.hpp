// QUARTZ. With b = sum of A_i alpha_i / (lambda n), a step is
//     w <- (1 - theta) w + theta b,
//     alpha_i <- alpha_i - (theta / p_i) (phi_i'(A_i^T w) + alpha_i) for all i of the batch, and b follows.
// The first line touches every feature, so w is kept as s u + r b, and it is a change of two numbers,
//     s' = (1 - theta) s,   r' = (1 - theta) r + theta,
// and where b moves by a sum of rows, u moves by -r'/s' times that sum. u and b lie side by side.
#pragma once
#include <vector>

#include "kernels/visits.hpp"
#include "losses.hpp"
#include "rows.hpp"

namespace dualfree {

template <class R, class Loss>
class Quartz {
  public:
    // `scale` holds theta / p_i, one for each example or one for all (stride 0); `inverse` is 1 / (lambda n).
    Quartz(const R& rows, const Loss& loss, double theta, const double* scale, Size stride, double inverse, double* alpha,
           double* b, double* w)
        : rows_(rows), loss_(loss), theta_(theta), scale_(scale), stride_(stride), inverse_(inverse), alpha_(alpha), b_(b),
          w_(w), pairs_(std::size_t(rows.d)) {}

    // Batch t is indices[start[t]] .. indices[start[t + 1]]; without `start`, each index is a batch.
    void run(const Size* indices, const Size* start, Size batches) {
        const Size end = start ? start[batches] : batches;
        for (Size j = 0; j < rows_.d; ++j) pairs_[std::size_t(j)] = {w_[j], b_[j]};
        for (Size t = 0; t < batches; ++t) {
            const Size first = start ? start[t] : t, last = start ? start[t + 1] : t + 1;
            average();
            deltas_.resize(std::size_t(last - first));
            for (Size k = first; k < last; ++k) {
                prefetch_visit(rows_, loss_, indices, k, end, alpha_);
                deltas_[std::size_t(k - first)] = delta(indices[k]);
            }
            for (Size k = first; k < last; ++k) {
                const double move = deltas_[std::size_t(k - first)], along = inverse_ * move;
                alpha_[indices[k]] += move;
                rows_.add_to(indices[k], Pair{-r_ / s_ * along, along}, pairs_.data());
            }
        }
        for (Size j = 0; j < rows_.d; ++j) {
            const Pair& p = pairs_[std::size_t(j)];
            w_[j] = s_ * p.first + r_ * p.second;
            b_[j] = p.second;
        }
    }

  private:
    void average() {
        s_ *= 1 - theta_;
        r_ = (1 - theta_) * r_ + theta_;
        if (s_ >= least_scale) return;
        for (Pair& p : pairs_) p.first = s_ * p.first + r_ * p.second;
        s_ = 1;
        r_ = 0;
    }

    double delta(Size i) const {
        const Pair z = rows_.dot(i, pairs_.data());
        return -scale_[i * stride_] * (loss_.derivative(i, s_ * z.first + r_ * z.second) + alpha_[i]);
    }

    const R& rows_;
    const Loss& loss_;
    double theta_;
    const double* scale_;
    Size stride_;
    double inverse_;
    double *alpha_, *b_, *w_;
    std::vector<Pair> pairs_;
    std::vector<double> deltas_;
    double s_ = 1, r_ = 0;
};

}  // namespace dualfree
