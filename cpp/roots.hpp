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

// y times a move of fourth order (Householder) towards the root x of x = 1 / (1 + exp(u)), where u moves c times as far as x.
// One exponential gives the residual F and three derivatives, here multiplied through by powers of D = 1 + e, so that there
// is one division. The next visit waits for the move: so each term has as few operations after e as it can, `size` is |u|
// where that is known sooner than u, and y is in the numerator.
DUALFREE_INLINE double householder_move(double x, double u, double size, double c, double y) {
    const bool up = u >= 0;
    const double e = prompt_exponential(-size), G = 1 + e * ((2 + c) + e), GG = G * G;
    const double F = (up ? x : x - 1) + e * (up ? x - 1 : x);
    const double FH = F * (up ? -c * c : c * c) * (e - e * e), K = (c * c * c * e) * (1 + e * (e - 4));
    return (-y * F * (1 + e)) * (6 * GG - 3 * FH) / ((6 * G) * (GG - FH) + F * F * K);
}

// y times the move from s to the root x of x = 1 / (1 + exp(t + c (x - s))), t = y z: the logistic loss's implicit step.
// Whatever leaves the bracket, or takes long, is left to Newton's method. A move that shifts u by no more than `slack` is the
// last: one by 1 is off the root by a hundredth of itself at most, and a shorter one by less, as its cube.
DUALFREE_INLINE double implicit_sigmoid(double z, double y, double s, double c, double slack) {
    const auto inside = [](double x) { return x >= 0 && x <= 1; };
    const auto done = [&](double x, double move) {
        const double shift = std::fabs(c * move);
        return (shift <= slack && inside(x)) || shift * shift * shift * std::fabs(move) * (1 + c) <= 1e-13;
    };
    const double t = y * z, first = householder_move(s, t, std::fabs(z), c, y);
    double move = y * first, x = s + move, u = t;
    if (done(x, move)) return first;
    for (int round = 1; round < 6 && std::fabs(c * move) <= 4 && inside(x); ++round) {
        u += c * move;
        move = householder_move(x, u, std::fabs(u), c, 1);
        x += move;
        if (done(x, move)) return y * (x - s);
    }
    const auto sigmoid = [](double at) {  // 1 / (1 + exp(at))
        const double e = exponential(-std::fabs(at));
        return (at >= 0 ? e : 1.0) / (1 + e);
    };
    const auto residual_of = [&](double at, double p) { return Residual{at - p, 1 + c * p * (1 - p)}; };
    const double target = sigmoid(t);
    // |p''| <= p' <= p (1 - p), so the residual bends by at most c / 2 times its slope.
    const double root = newton_in_bracket(s, target, residual_of(s, target), 0.5 * c,
                                          [&](double at) { return residual_of(at, sigmoid(t + c * (at - s))); });
    return y * (root - s);
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
