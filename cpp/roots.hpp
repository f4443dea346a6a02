// Roots of increasing functions of one variable inside a bracket. The implicit step needs them: its residual
// is increasing, and its root lies between the present alpha and the gradient step's end.
#pragma once
#include <algorithm>
#include <cmath>

namespace dualfree {

struct Residual {
    double value, slope;
};

// Newton from `from`, kept inside the bracket [from, to] (in either order); bisection when Newton leaves it.
// Newton doubles the digits, so a move below 1e-8 leaves an error near rounding.
template <class Function>
double newton_in_bracket(double from, double to, Function&& residual) {
    double low = std::min(from, to), high = std::max(from, to), x = from;
    const double small = 1e-8 * (high - low), smallest = 4e-16 * std::max(std::fabs(low), std::fabs(high));
    for (int round = 0; round < 100; ++round) {
        const auto [value, slope] = residual(x);
        if (value == 0) return x;
        (value > 0 ? high : low) = x;
        double next = x - value / slope;
        if (!(next >= low && next <= high)) next = 0.5 * (low + high);
        const double move = std::fabs(next - x);
        x = next;
        if (move <= std::max(small, smallest)) break;
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
