// Roots of increasing functions of one variable inside a bracket. The implicit step needs them: its residual
// is increasing, and its root lies between the present alpha and the gradient step's end.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

namespace dualfree {

struct Residual {
    double value, slope;
};

// Newton from `from` inside the bracket [from, to] (in either order). It bisects instead when Newton leaves the
// bracket, or when a move is not at most half the one before: Newton alone can jump between two points for ever.
// Leaving by rounding alone is no reason to bisect, because the root may be an end: then stay at that end.
// `curvature` bounds |slope'| / slope: a Newton move m leaves an error of about curvature m^2, so m may stop at the
// root of the rounding error; a bisection's move says nothing of the kind.
template <class Function>
double newton_in_bracket(double from, double to, double curvature, Function&& residual) {
    double low = std::min(from, to), high = std::max(from, to), x = from;
    const double rounding = 4e-16 * std::max(std::fabs(low), std::fabs(high));
    const double small = std::max(rounding, 1e-8 * (high - low) / std::sqrt(1 + curvature));
    double last_move = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 200; ++round) {
        const auto [value, slope] = residual(x);
        if (value == 0) return x;
        (value > 0 ? high : low) = x;
        double next = x - value / slope;
        const bool newton = next >= low - rounding && next <= high + rounding && std::fabs(next - x) <= 0.5 * last_move;
        next = newton ? std::clamp(next, low, high) : 0.5 * (low + high);
        last_move = std::fabs(next - x);
        x = next;
        if (last_move <= (newton ? small : rounding)) break;
    }
    return x;
}

// The same without a slope: false position with the Illinois halving, and a bisection whenever three rounds
// have not halved the bracket. The slope of the residual is at least one, so |residual| bounds the error.
template <class Function>
double root_in_bracket(double from, double to, Function&& residual) {
    double older = from, newer = to, at_older = residual(older), at_newer = residual(newer);
    if (at_older == 0) return older;
    if ((at_older > 0) == (at_newer > 0)) return newer;  // only rounding can do this: both ends are the root
    const double enough = 1e-15 * (std::fabs(from) + std::fabs(to));
    double last_width = std::fabs(newer - older);
    for (int round = 1; round <= 200 && std::fabs(at_newer) > enough; ++round) {
        double x = (older * at_newer - newer * at_older) / (at_newer - at_older);
        if (round % 3 == 0) {
            const double width = std::fabs(newer - older);
            if (width > 0.5 * last_width) x = 0.5 * (older + newer);
            last_width = width;
        }
        const double at_x = residual(x);
        if ((at_x > 0) == (at_newer > 0)) {
            at_older *= 0.5;
        } else {
            older = newer, at_older = at_newer;
        }
        newer = x, at_newer = at_x;
    }
    return newer;
}

}  // namespace dualfree
