// Roots of increasing functions of one variable inside a bracket. The implicit step needs them: its residual
// is increasing, and its root lies between the present alpha and the gradient step's end.
#pragma once
#include <algorithm>
#include <cmath>

namespace dualfree {

struct Residual {
    double value, slope;
};

// Newton from `from`, whose residual is `first`, kept inside the bracket [from, to] (in either order). A move that
// leaves the bracket, or that is not half as long as the one before, becomes a bisection, so it cannot cycle.
// A Newton move m leaves an error of at most `bend` * m^2, where `bend` bounds |second derivative| / (2 slope), so
// the last move need not be confirmed by another evaluation.
template <class Function>
double newton_in_bracket(double from, double to, Residual first, double bend, Function&& residual) {
    constexpr double enough = 1e-13;
    double low = std::min(from, to), high = std::max(from, to), x = from;
    double longest = high - low;
    Residual at_x = first;
    for (int round = 0; round < 200 && at_x.value != 0; ++round) {
        (at_x.value > 0 ? high : low) = x;
        double move = -at_x.value / at_x.slope;
        const bool newton = x + move >= low && x + move <= high && std::fabs(move) <= longest;
        if (!newton) move = 0.5 * (low + high) - x;
        x += move;
        if ((newton && bend * move * move <= enough) || high - low <= enough) break;
        longest = 0.5 * std::fabs(move);
        at_x = residual(x);
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
