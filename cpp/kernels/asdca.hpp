// Accelerated mini-batch SDCA. With c = sum of A_i alpha_i / (lambda n), for every i of a batch, all at the same u,
//     u = (1 - theta) w + theta c,   delta_i = -theta (alpha_i + phi_i'(A_i^T u)),
//     alpha_i += delta_i,   c += A_i delta_i / (lambda n),   w <- (1 - theta) w + theta c.
// The last line touches every feature, so w is kept as s v + r c: with s' = (1 - theta) s and r' = (1 - theta) r + theta,
//     u = s' v + r' c,   v' = v - (r / s) (c' - c),
// and a batch changes two numbers and the features of its rows. v and c lie side by side: one cache line for each feature.
#pragma once
#include <vector>

#include "kernels/visits.hpp"
#include "losses.hpp"
#include "rows.hpp"

namespace dualfree {

template <class R>
class Asdca {
  public:
    Asdca(const R& rows, const AnyDerivative& loss, double theta, double inverse, double* alpha, double* combination,
          double* w)
        : rows_(rows), loss_(loss), theta_(theta), inverse_(inverse), alpha_(alpha), combination_(combination), w_(w),
          pairs_(std::size_t(rows.d)) {}

    // Batch b is indices[start[b]] .. indices[start[b + 1]]; without `start`, each index is a batch.
    void run(const Size* indices, const Size* start, Size batches) {
        const Size end = start ? start[batches] : batches;
        split();
        for (Size b = 0; b < batches; ++b) {
            const Size first = start ? start[b] : b, last = start ? start[b + 1] : b + 1;
            const double ratio = along_ / scale_;
            scale_ *= 1 - theta_;
            along_ = (1 - theta_) * along_ + theta_;
            deltas_.resize(std::size_t(last - first));
            for (Size k = first; k < last; ++k) {
                prefetch_visit(rows_, loss_, indices, k, end, alpha_);
                const Size i = indices[k];
                const Pair z = rows_.dot(i, pairs_.data());
                deltas_[std::size_t(k - first)] =
                    -theta_ * (alpha_[i] + loss_.derivative(i, scale_ * z.first + along_ * z.second));
            }
            for (Size k = first; k < last; ++k) {
                const double delta = deltas_[std::size_t(k - first)], move = inverse_ * delta;
                alpha_[indices[k]] += delta;
                rows_.add_to(indices[k], Pair{-ratio * move, move}, pairs_.data());
            }
            if (scale_ < least_scale) {
                join();
                split();
            }
        }
        join();
    }

  private:
    void split() {
        for (Size j = 0; j < rows_.d; ++j) pairs_[std::size_t(j)] = {w_[j], combination_[j]};
        scale_ = 1;
        along_ = 0;
    }

    void join() {
        for (Size j = 0; j < rows_.d; ++j) {
            const Pair& p = pairs_[std::size_t(j)];
            w_[j] = scale_ * p.first + along_ * p.second;
            combination_[j] = p.second;
        }
    }

    const R& rows_;
    const AnyDerivative& loss_;
    double theta_, inverse_;
    double *alpha_, *combination_, *w_;
    std::vector<Pair> pairs_;
    std::vector<double> deltas_;
    double scale_ = 1, along_ = 0;
};

}  // namespace dualfree
