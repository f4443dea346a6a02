// Conjugates along the ray of all multiples of alpha: the slope and the curvature of c -> f*(-c a) at c = 1, and how far to go.
#pragma once
#include <algorithm>
#include <cmath>

#include "losses.hpp"

namespace dualfree {

// Nothing for a = 0. At the ends of the domain the slope is infinite, and here large: no step leads beyond.
DUALFREE_INLINE Slope along_ray(const Logistic&, double a, double y) {
    constexpr double smallest = 1e-300;
    const double s = y * a, r = 1 - s, odds = (s > smallest ? s : smallest) / (r > smallest ? r : smallest);
    return {s * logarithm(odds), s > smallest ? odds : 0.0};
}
DUALFREE_INLINE Slope along_ray(const Squared&, double a, double y) { return {a * (a - y), a * a}; }
DUALFREE_INLINE Slope along_ray(const SquaredHinge&, double a, double y) { return {a * (0.5 * a - y), 0.5 * a * a}; }
DUALFREE_INLINE Slope along_ray(const SmoothedHinge& f, double a, double y) { return {a * (f.gamma * a - y), f.gamma * a * a}; }
DUALFREE_INLINE Slope along_ray(const Huber&, double a, double y) { return {a * (a - y), a * a}; }

// The c to go to, with `newton` the step from 1 that slope and curvature ask for, and `largest` the largest |a|. The dual rises by at
// least half of the slope times the way that is gone.
// Of the logistic loss the curvature at c is at most 1 / c of that at 1 below 1, and above (1 - largest) / (1 - c largest) of it.
inline double best_multiple(const Logistic&, double newton, double largest) {
    return 1 + newton / (1 + (newton < 0 ? -newton : newton * largest / std::max(1 - largest, 1e-300)));
}
inline double within(double reach, double newton, double largest) { return std::min(1 + newton, std::max(1.0, reach / largest)); }
inline double best_multiple(const Squared&, double newton, double) { return 1 + newton; }
inline double best_multiple(const SquaredHinge&, double newton, double) { return 1 + newton; }
inline double best_multiple(const SmoothedHinge&, double newton, double largest) { return within(1, newton, largest); }
inline double best_multiple(const Huber& f, double newton, double largest) { return within(f.delta, newton, largest); }

template <class Scalar>
concept HasRay = requires(const Scalar& f) { along_ray(f, 0.0, 0.0); };

}  // namespace dualfree
