// Roots of increasing functions of one variable inside a bracket. The implicit step needs them: its residual
// is increasing, and its root lies between the present alpha and the gradient step's end.
#pragma once
#include <algorithm>
#include <cmath>

#include "elementary.hpp"

namespace dualfree {

struct Residual {
    double value, slope;
};

// Newton from `from`, whose residual is `first`, kept inside the bracket [from, to] (in either order). A move that
// leaves the bracket, or that is not half as long as the one before, becomes a bisection, so it cannot cycle;
// but the root may be an end, and leaving by rounding alone means that it is.
// A Newton move m leaves an error of at most `bend` * m^2, where `bend` bounds |second derivative| / (2 slope), so
// the last move need not be confirmed by another evaluation. The argument inside the residual moves `bend` times
// as far as x, so the larger `bend` is, the finer x must be.
template <class Function>
double newton_in_bracket(double from, double to, Residual first, double bend, Function&& residual) {
    const double enough = 1e-13 / (1 + 2 * bend);
    double low = std::min(from, to), high = std::max(from, to), x = from;
    double longest = (high - low) * (1 + 1e-15);
    const double rounding = 4e-16 * std::max(std::fabs(low), std::fabs(high));
    Residual at_x = first;
    for (int round = 0; round < 200 && at_x.value != 0; ++round) {
        (at_x.value > 0 ? high : low) = x;
        const double step = -at_x.value / at_x.slope, next = x + step;
        const bool newton = next >= low - rounding && next <= high + rounding && std::fabs(step) <= longest;
        const double move = newton ? step : 0.5 * (low + high) - x;
        x = std::clamp(x + move, low, high);
        if ((newton && bend * move * move <= enough) || high - low <= rounding) break;
        longest = 0.5 * std::fabs(move);
        at_x = residual(x);
    }
    return x;
}

// A move of fourth order (Householder) towards the root x of x = 1 / (1 + exp(u)), where u moves c times as far as x. One
// exponential gives the residual F and three derivatives, here multiplied through by powers of D = 1 + e, so that there
// is one division.
DUALFREE_INLINE double householder_move(double x, double u, double c) {
    const double e = exponential(-std::fabs(u)), D = 1 + e;
    const double a = u >= 0 ? e : 1.0, skew = u >= 0 ? 1 - e : e - 1;
    const double F = x * D - a, G = D * D + c * e, H = -c * c * e * skew, K = c * c * c * e * (skew * skew - 2 * e);
    const double GG = G * G, FH = F * H;
    return -F * D * (6 * GG - 3 * FH) / (6 * G * (GG - FH) + F * F * K);
}

// The root x of x = 1 / (1 + exp(t + c (x - s))), from x = s: the logistic loss's implicit step. Whatever leaves the bracket,
// or takes long, is left to Newton's method. A move that shifts u by no more than `slack` is the last: one by 1 is off the
// root by a hundredth of itself at most, and a shorter one by less, as its cube.
DUALFREE_INLINE double implicit_sigmoid(double t, double s, double c, double slack) {
    const auto sigmoid = [](double u) {  // 1 / (1 + exp(u))
        const double e = exponential(-std::fabs(u));
        return (u >= 0 ? e : 1.0) / (1 + e);
    };
    double x = s, u = t;
    for (int round = 0; round < 6; ++round) {
        const double move = householder_move(x, u, c), shift = c * move;
        x += move;
        const bool inside = x >= 0 && x <= 1;
        if (std::fabs(shift) <= slack && inside) return x;
        if (std::fabs(shift * shift * shift * move) * (1 + c) <= 1e-13) return x;
        if (!(std::fabs(shift) <= 4 && inside)) break;
        u += shift;
    }
    const auto residual_of = [&](double at, double p) { return Residual{at - p, 1 + c * p * (1 - p)}; };
    const double target = sigmoid(t);
    // |p''| <= p' <= p (1 - p), so the residual bends by at most c / 2 times its slope.
    return newton_in_bracket(s, target, residual_of(s, target), 0.5 * c,
                             [&](double at) { return residual_of(at, sigmoid(t + c * (at - s))); });
}

// Newton without a slope, for a residual x + f'(z + c (x - a)): its slope is at least one. `at_from` is the residual
// at `from`, which every caller has already. Secants through the last two points, kept inside the bracket, and a
// bisection whenever a move is not half of the one before. A secant multiplies the last two errors (and c), so when
// the product of two moves is small the point that follows needs no evaluation; the bound on the last move alone
// is for kinks.
template <class Function>
double root_in_bracket(double from, double to, double at_from, double c, Function&& residual) {
    if (at_from == 0) return from;
    const double size = std::max(std::fabs(from), std::fabs(to)), smallest = 4e-16 * size;
    const double enough = 3e-10 * size * size / (c * (1 + c));
    double low = std::min(from, to), high = std::max(from, to);
    double before = from, at_before = at_from, x = to, last_move = std::fabs(to - from);
    for (int round = 0; round < 200; ++round) {
        const double at_x = residual(x);
        if (std::fabs(at_x) <= smallest) return x;
        (at_x > 0 ? high : low) = x;
        double next = x - at_x * (x - before) / (at_x - at_before);
        double move = std::fabs(next - x);
        const bool secant = next >= low && next <= high && (round == 0 || move <= 0.5 * last_move);
        if (!secant) {
            next = 0.5 * (low + high);
            move = std::fabs(next - x);
        } else if (move <= 1e-5 * size && move * last_move <= enough) {
            return next;
        }
        if (high - low <= smallest) return next;
        before = x, at_before = at_x, x = next, last_move = move;
    }
    return x;
}

}  // namespace dualfree
