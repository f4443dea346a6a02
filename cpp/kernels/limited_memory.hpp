// The two loops of L-BFGS: what the last moves of w, and how they changed the gradient, do to a vector before and after the base
// has been solved for.
#pragma once
#include "kernels/passes.hpp"

namespace dualfree {

// `count` pairs in the rows of two arrays of `room` rows; the oldest is in row `oldest`, the next in the one after, and so round.
struct LastMoves {
    const double *moves, *changes, *products;  // move^T change of each pair
    Size count, oldest, room, d;

    Size row(Size k) const { return (oldest + k) % room; }
    const double* move(Size k) const { return moves + row(k) * d; }
    const double* change(Size k) const { return changes + row(k) * d; }
    double product(Size k) const { return products[row(k)]; }
};

inline void add_multiple(double factor, const double* of, Size size, double* to) {
    for (Size j = 0; j < size; ++j) to[j] += factor * of[j];
}

// From the latest to the oldest; what was taken away of each is in `factors`.
inline void before_base(const LastMoves& last, double* q, double* factors) {
    for (Size k = last.count - 1; k >= 0; --k) {
        factors[k] = inner(last.move(k), 1, q, 1, last.d) / last.product(k);
        add_multiple(-factors[k], last.change(k), last.d, q);
    }
}

inline void after_base(const LastMoves& last, const double* factors, double* q) {
    for (Size k = 0; k < last.count; ++k)
        add_multiple(factors[k] - inner(last.change(k), 1, q, 1, last.d) / last.product(k), last.move(k), last.d, q);
}

}  // namespace dualfree
