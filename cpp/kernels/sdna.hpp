// SDNA: the dual is maximised exactly over the alpha_i of a batch. With K = (A_i^T A_k) / (lambda n), i and k of the batch, and
// z their products with w, the moves h are the root of
//     F(h) = h + alpha + phi'(z + K h) = 0,
// which does not name the dual. It is found by Newton's method: (I + D K) m = -F, D the curvatures, is solved by a
// Cholesky factorisation of I + D^1/2 K D^1/2, and m is a direction of descent of
//     value(h) = sum of phi_i(z + K h) + h K h / 2 + alpha K h,   whose gradient is K F.
#pragma once
#include <cmath>
#include <vector>

#include "kernels/listed.hpp"
#include "rows.hpp"

namespace dualfree {

class BlockStep {
  public:
    explicit BlockStep(const ListedLoss& loss) : loss_(loss) {}

    // The arrays of a batch of this size; the caller fills `gram`, `z` and `alpha`, and reads `moves`.
    void resize(Size count) {
        if (count_ == std::size_t(count)) return;
        count_ = std::size_t(count);
        for (auto* array : {&z, &alpha, &moves, &pushed_, &at_, &slope_, &bend_, &residual_, &direction_, &push_, &trial_, &work_})
            array->resize(count_);
        gram.resize(count_ * count_);
        factor_.resize(count_ * count_);
    }

    void solve(const Size* batch) {
        std::fill(moves.begin(), moves.end(), 0.0);
        std::fill(pushed_.begin(), pushed_.end(), 0.0);
        double value = look(batch, moves, pushed_), error = error_;
        for (int round = 0; round < most_rounds && error > enough(); ++round) {
            find_direction();
            double length = 1;
            bool moved = false;
            for (int halving = 0; halving < most_halvings && !moved; ++halving, length *= 0.5) {
                for (std::size_t k = 0; k < count_; ++k) {
                    trial_[k] = moves[k] + length * direction_[k];
                    work_[k] = pushed_[k] + length * push_[k];
                }
                const double there = look(batch, trial_, work_);
                // Near the end rounding hides what the value gains, and the residual tells. Elsewhere it must not: at
                // kinks, steps that halve it in turn with steps that lower the value can go round in circles.
                const bool same = std::fabs(there - value) <= 1e-12 * terms_;
                moved = there <= value - 1e-4 * length * gain_ || (same && error_ <= 0.5 * error);
                if (moved) value = there;
            }
            if (!moved) {
                look(batch, moves, pushed_);
                break;
            }
            error = error_;
            moves.swap(trial_);
            pushed_.swap(work_);
        }
    }

    std::vector<double> gram, z, alpha, moves;

  private:
    static constexpr int most_rounds = 100, most_halvings = 30;

    double enough() const { return 4e-16 * (1 + size_); }

    // The value at h, where K h = `pushed`; the residual, the curvatures and the size of the terms stay behind.
    double look(const Size* batch, const std::vector<double>& h, const std::vector<double>& pushed) {
        for (std::size_t k = 0; k < count_; ++k) at_[k] = z[k] + pushed[k];
        double value = loss_.expand(batch, Size(count_), at_.data(), slope_.data(), bend_.data());
        error_ = size_ = 0;
        terms_ = std::fabs(value);
        for (std::size_t k = 0; k < count_; ++k) {
            const double term = (0.5 * h[k] + alpha[k]) * pushed[k];
            residual_[k] = h[k] + alpha[k] + slope_[k];
            value += term;
            terms_ += std::fabs(term);
            error_ = std::max(error_, std::fabs(residual_[k]));
            size_ = std::max(size_, std::fabs(slope_[k]));
        }
        return value;
    }

    // direction = -F + D^1/2 (I + D^1/2 K D^1/2)^-1 D^1/2 K F, push = K direction, gain = -F K direction.
    void find_direction() {
        const std::size_t n = count_;
        for (std::size_t k = 0; k < n; ++k) bend_[k] = std::sqrt(bend_[k]);
        multiply(residual_, push_);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k <= i; ++k) {
                double sum = (i == k ? 1.0 : 0.0) + bend_[i] * bend_[k] * gram[i * n + k];
                for (std::size_t m = 0; m < k; ++m) sum -= factor_[i * n + m] * factor_[k * n + m];
                factor_[i * n + k] = i == k ? std::sqrt(sum) : sum / factor_[k * n + k];
            }
            double sum = bend_[i] * push_[i];
            for (std::size_t m = 0; m < i; ++m) sum -= factor_[i * n + m] * direction_[m];
            direction_[i] = sum / factor_[i * n + i];
        }
        for (std::size_t i = n; i-- > 0;) {
            double sum = direction_[i];
            for (std::size_t m = i + 1; m < n; ++m) sum -= factor_[m * n + i] * direction_[m];
            direction_[i] = sum / factor_[i * n + i];
        }
        for (std::size_t k = 0; k < n; ++k) direction_[k] = bend_[k] * direction_[k] - residual_[k];
        multiply(direction_, push_);
        gain_ = 0;
        for (std::size_t k = 0; k < n; ++k) gain_ -= residual_[k] * push_[k];
    }

    void multiply(const std::vector<double>& in, std::vector<double>& out) const {
        for (std::size_t i = 0; i < count_; ++i) {
            double sum = 0;
            for (std::size_t k = 0; k < count_; ++k) sum += gram[i * count_ + k] * in[k];
            out[i] = sum;
        }
    }

    const ListedLoss& loss_;
    std::size_t count_ = 0;
    double error_ = 0, size_ = 0, terms_ = 0, gain_ = 0;
    std::vector<double> pushed_, at_, slope_, bend_, residual_, direction_, push_, trial_, work_, factor_;
};

template <class R>
struct Sdna {
    const R& rows;
    const ListedLoss& loss;
    double inverse;  // 1 / (lambda n)
    double* alpha;
    double* w;

    // Batch t is indices[start[t]] .. indices[start[t + 1]]; without `start`, each index is a batch. Returns the sum of squared
    // moves of alpha.
    double run(const Size* indices, const Size* start, Size batches) const {
        BlockStep block(loss);
        std::vector<double> row(std::size_t(rows.d), 0.0);
        const Size end = start ? start[batches] : batches;
        double moved = 0;
        for (Size t = 0; t < batches; ++t) {
            const Size first = start ? start[t] : t, last = start ? start[t + 1] : t + 1, size = last - first;
            if (size == 0) continue;
            const Size* batch = indices + first;
            block.resize(size);
            for (Size k = 0; k < size; ++k) {
                if (first + k + 8 < end) rows.prefetch(batch[k + 8]);
                block.z[std::size_t(k)] = rows.dot(batch[k], w);
                block.alpha[std::size_t(k)] = alpha[batch[k]];
            }
            if (size == 1) {
                const double c = inverse * square_norm(batch[0]);
                block.moves[0] = loss.implicit(batch[0], block.z[0], block.alpha[0], c) - block.alpha[0];
            } else {
                fill_gram(batch, size, row, block.gram);
                block.solve(batch);
            }
            for (Size k = 0; k < size; ++k) {
                const double move = block.moves[std::size_t(k)];
                alpha[batch[k]] += move;
                rows.add_to(batch[k], inverse * move, w);
                moved += move * move;
            }
        }
        return moved;
    }

    double square_norm(Size i) const {
        double sum = 0;
        rows.for_each(i, [&](Size, double x) { sum += x * x; });
        return sum;
    }

    // One row at a time is spread out over all features, and the others are multiplied with it.
    void fill_gram(const Size* batch, Size size, std::vector<double>& row, std::vector<double>& gram) const {
        for (Size k = 0; k < size; ++k) {
            rows.add_to(batch[k], 1.0, row.data());
            for (Size m = k; m < size; ++m)
                gram[std::size_t(k * size + m)] = gram[std::size_t(m * size + k)] = inverse * rows.dot(batch[m], row.data());
            rows.for_each(batch[k], [&](Size j, double) { row[std::size_t(j)] = 0; });
        }
    }
};

}  // namespace dualfree
