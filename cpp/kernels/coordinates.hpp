// Descent along features. Here `rows` are the columns of X, one for each feature j, and the products z_i = A_i^T w of all
// examples are kept: the partial derivative of P along feature j is
//     sum_i X_ij phi_i'(z_i) / n + lambda w_j,
// a sum over the column, with a derivative for each of its nonzeros. Where `scale` is given, the columns hold
// X_ij / scale_i.
#pragma once
#include <vector>

#include "kernels/listed.hpp"
#include "kernels/tiles.hpp"
#include "rows.hpp"

namespace dualfree {

struct Batch {
    const Size* members;
    Size size, after;  // `after` counts the members of this batch and of all that follow
};

// visit(batch) for each; without `start`, each index is a batch.
template <class Visit>
void for_each_batch(const Size* indices, const Size* start, Size batches, Visit&& visit) {
    const Size end = start ? start[batches] : batches;
    for (Size t = 0; t < batches; ++t) {
        const Size first = start ? start[t] : t, last = start ? start[t + 1] : t + 1;
        visit(Batch{indices + first, last - first, end - first});
    }
}

template <class R>
struct Columns {
    const R& rows;
    const ListedLoss& loss;
    const double* scale;  // nullptr: all one

    // The order is known ahead: first what says where a column lies is asked for, then the column.
    DUALFREE_INLINE void prefetch(const Batch& batch, Size k) const {
        constexpr Size far = 8, near = 4;
        if (k + far < batch.after) rows.prefetch_bounds(batch.members[k + far]);
        if (k + near < batch.after) rows.prefetch(batch.members[k + near]);
    }

    // Sum of X_ij phi_i'(z_i), z_i = product(i).
    template <class Product>
    double slope(Size j, Product&& product) const {
        Size listed[tile], count = 0;
        double x[tile], z[tile], derivative[tile], sum = 0;
        const auto add_up = [&] {
            loss.derivatives(listed, count, z, derivative);
            for (Size k = 0; k < count; ++k) sum += x[k] * derivative[k];
            count = 0;
        };
        rows.for_each(j, [&](Size i, double value) {
            listed[count] = i;
            x[count] = scale ? scale[i] * value : value;
            z[count] = product(i);
            if (++count == tile) add_up();
        });
        add_up();
        return sum;
    }

    // z += change times column j, for numbers and for pairs.
    template <class Change>
    void add(Size j, const Change& change, Change* z) const {
        if (!scale)
            rows.add_to(j, change, z);
        else
            rows.for_each(j, [&](Size i, double value) { accumulate(z[i], change, scale[i] * value); });
    }

  private:
    static void accumulate(double& z, double change, double x) { z += change * x; }
    static void accumulate(Pair& z, const Pair& change, double x) { z.add(change, x); }
};

// w_j <- w_j - rate_j (partial derivative along j) for all j of the batch, all at the same w.
template <class R>
struct Descent {
    Columns<R> columns;
    double lambda, inverse;  // `inverse` is 1/n
    const double* rate;
    double *w, *z;

    void run(const Size* indices, const Size* start, Size batches) const {
        std::vector<double> moves;
        for_each_batch(indices, start, batches, [&](const Batch& batch) {
            moves.resize(std::size_t(batch.size));
            for (Size k = 0; k < batch.size; ++k) {
                const Size j = batch.members[k];
                columns.prefetch(batch, k);
                const double slope = inverse * columns.slope(j, [&](Size i) { return z[i]; }) + lambda * w[j];
                moves[std::size_t(k)] = -rate[j] * slope;
            }
            for (Size k = 0; k < batch.size; ++k) {
                w[batch.members[k]] += moves[std::size_t(k)];
                columns.add(batch.members[k], moves[std::size_t(k)], z);
            }
        });
    }
};

// ALPHA, accelerated. Where x is the answer and y the point of the derivatives,
//     y = (1 - theta) x + theta g,   g_j <- g_j - rate_j p_j / theta (partial derivative at y) for all j of the batch,
//     x = y + theta / p (change of g),   theta <- (sqrt(theta^4 + 4 theta^2) - theta^2) / 2.
// All three are dense, so what is kept is g and u, with y = theta^2 u + g, and a step moves u_j by
// -(1 - theta/p_j) / theta^2 times the change of g_j; after it, x = theta^2 u + g with the theta before its change.
// Every `period` steps x becomes g, u is zero and theta one: P is strongly convex, and momentum must not last forever.
template <class R>
class Accelerated {
  public:
    Accelerated(const Columns<R>& columns, double lambda, double inverse, const double* rate, const double* p, Pair* w,
                Pair* z)
        : columns_(columns), lambda_(lambda), inverse_(inverse), rate_(rate), p_(p), w_(w), z_(z) {}

    // `theta` is the present one, `square` that of x, and `left` the steps before the next restart.
    void run(const Size* indices, const Size* start, Size batches, double& theta, double& square, Size& left, Size period) {
        std::vector<double> moves;
        for_each_batch(indices, start, batches, [&](const Batch& batch) {
            if (left == 0) {
                restart(square);
                theta = 1;
                left = period;
            }
            square = theta * theta;
            moves.resize(std::size_t(batch.size));
            for (Size k = 0; k < batch.size; ++k) {
                columns_.prefetch(batch, k);
                moves[std::size_t(k)] = move(batch.members[k], theta);
            }
            for (Size k = 0; k < batch.size; ++k) {
                const Size j = batch.members[k];
                const Pair change{-(1 - theta / p_[j]) / square * moves[std::size_t(k)], moves[std::size_t(k)]};
                w_[j].add(change, 1.0);
                columns_.add(j, change, z_);
            }
            theta = 0.5 * (std::sqrt(square * square + 4 * square) - square);
            --left;
        });
    }

  private:
    double move(Size j, double theta) const {
        const double square = theta * theta;
        const auto at = [square](const Pair& pair) { return square * pair.first + pair.second; };
        const double slope = inverse_ * columns_.slope(j, [&](Size i) { return at(z_[i]); }) + lambda_ * at(w_[j]);
        return -rate_[j] * p_[j] / theta * slope;
    }

    void restart(double square) {
        for (Size j = 0; j < columns_.rows.n; ++j) w_[j] = {0, square * w_[j].first + w_[j].second};
        for (Size i = 0; i < columns_.rows.d; ++i) z_[i] = {0, square * z_[i].first + z_[i].second};
    }

    Columns<R> columns_;
    double lambda_, inverse_;
    const double *rate_, *p_;
    Pair *w_, *z_;
};

}  // namespace dualfree
