// Conjugates along a line: the slopes and curvatures of a -> f*(-a), and of c -> f*(-c a) at c = 1 along the ray of all multiples of
// alpha, and how far to go.
#pragma once
#include <algorithm>
#include <cmath>

#include "losses.hpp"

namespace dualfree {

// The slope and the curvature of a -> f*(-a). At the ends of the logistic loss's domain both are infinite, and here large.
DUALFREE_INLINE Slope conjugate_slope(const Logistic&, double a, double y) {
    constexpr double smallest = 1e-20;
    const double s = y * a, r = 1 - s, low = s > smallest ? s : smallest, high = r > smallest ? r : smallest;
    return {y * logarithm(low / high), 1 / (low * high)};
}
DUALFREE_INLINE Slope conjugate_slope(const Squared&, double a, double y) { return {a - y, 1.0}; }
DUALFREE_INLINE Slope conjugate_slope(const SquaredHinge&, double a, double y) { return {0.5 * a - y, 0.5}; }
DUALFREE_INLINE Slope conjugate_slope(const SmoothedHinge& f, double a, double y) { return {f.gamma * a - y, f.gamma}; }
DUALFREE_INLINE Slope conjugate_slope(const Huber&, double a, double y) { return {a - y, 1.0}; }

template <class Scalar>
concept HasRay = requires(const Scalar& f) { conjugate_slope(f, 0.0, 0.0); };

// Nothing for a = 0. At the ends of the domain the slope is infinite, and here large: no step leads beyond.
DUALFREE_INLINE Slope along_ray(const Logistic&, double a, double y) {
    constexpr double smallest = 1e-300;
    const double s = y * a, r = 1 - s, odds = (s > smallest ? s : smallest) / (r > smallest ? r : smallest);
    return {s * logarithm(odds), s > smallest ? odds : 0.0};
}
template <class Scalar>
DUALFREE_INLINE Slope along_ray(const Scalar& f, double a, double y) {
    const Slope here = conjugate_slope(f, a, y);
    return {a * here.value, a * a * here.derivative};
}

// What f* grows by from a to a + move, at most. It is a parabola, and equal; but for the logistic loss, where what is beyond the slope
// is a relative entropy, which the curvature times the square of the move bounds (and not half of it).
template <class Scalar>
DUALFREE_INLINE double most_growth(const Scalar& f, double a, double move, double y) {
    constexpr double part = std::is_same_v<Scalar, Logistic> ? 1.0 : 0.5;
    const Slope here = conjugate_slope(f, a, y);
    return move * (here.value + part * move * here.derivative);
}

// Where to go from a in the place of `wanted`, which may be where f* is infinite. To the ends where its slope is, a tenth of the way
// is left.
DUALFREE_INLINE double between(double low, double wanted, double high) { return wanted < low ? low : wanted > high ? high : wanted; }
DUALFREE_INLINE double within_domain(const Logistic&, double a, double wanted, double y) {
    constexpr double left = 0.1;
    const double s = y * a;
    return y * between(left * s, y * wanted, 1 - left * (1 - s));
}
DUALFREE_INLINE double within_domain(const Squared&, double, double wanted, double) { return wanted; }
DUALFREE_INLINE double within_domain(const SquaredHinge&, double, double wanted, double y) { return y * wanted < 0 ? 0.0 : wanted; }
DUALFREE_INLINE double within_domain(const SmoothedHinge&, double, double wanted, double y) { return y * between(0.0, y * wanted, 1.0); }
DUALFREE_INLINE double within_domain(const Huber& f, double, double wanted, double) { return between(-f.delta, wanted, f.delta); }

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

}  // namespace dualfree
