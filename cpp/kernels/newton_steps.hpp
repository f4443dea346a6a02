// Newton's method, several steps in one call: with few features and few examples a step costs less than the way to Python and back.
// The Hessian is of all examples, or an estimate from draws of some.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/inner.hpp"
#include "kernels/newton_sums.hpp"

namespace dualfree {

constexpr Size most_newton_features = 128;

struct NewtonGoal {
    double lambda, tol, absolute_tol;
    bool reached(double value, double square) const {
        return square / (2 * lambda) <= std::max(tol * std::abs(value), absolute_tol);
    }
};

struct NewtonSteps {
    Size count = 0;      // steps that were taken
    double value = 0;    // P where they have led
    double w_square = 0, gradient_square = 0;  // of w and of its gradient there
    bool stuck = false;  // no step along the last direction is short enough, or the Hessian is not positive in floating point
};

// The draws behind a Hessian: those of the first one, and what |A_i|^2 is. Each time that a step leaves more than `enough` of the
// square of the gradient there are `growth` times as many.
struct NewtonSample {
    static constexpr double enough = 0.01;
    static constexpr Size growth = 4;
    Size draws;
    const double* squares;
};

// Up to `most` steps from w, which follows; margins, derivatives and the gradient of P are those at w, unless it is stuck. Where there are
// fewer draws than examples, Hessians are estimates, and one that should do for the last step is kept. The weight of a constant feature, an intercept, has no penalty, and the goal is for the best one.
template <class R>
NewtonSteps newton_steps(const R& rows, const TileLoss& loss, const NewtonGoal& goal, Size most, NewtonSample sample, double* w,
                         double* gradient, double* margins, double* derivatives) {
    constexpr double sufficient = 1e-4, rounding = 4e-15, shortest = 1e-12;
    const double n = double(rows.n);
    NewtonSums<R> sums(rows, loss, sample.draws >= rows.n);
    const Size d = rows.d, penalised = rows.constant != 0 ? d - 1 : d;
    double *here = sums.line(), *there = sums.line(), *g = sums.line(), *direction = sums.line();
    std::copy(w, w + d, here);
    NewtonSteps done;
    // P at a point, and g its gradient.
    const auto look = [&](const double* point) {
        sums.look(point, margins, derivatives);
        for (Size j = 0; j < d; ++j) g[j] = sums.gradient[j] / n;
        for (Size j = 0; j < penalised; ++j) g[j] += goal.lambda * point[j];
        done.w_square = inner(point, 1, point, 1, penalised);
        return sums.total / n + 0.5 * goal.lambda * done.w_square;
    };
    const auto square_of = [&] { return penalised == d ? inner(g, 1, g, 1, d) : sums.system.square_without_last(g); };
    double value = look(here), square = square_of();
    bool keep = false;
    while (done.count < most && !goal.reached(value, square)) {
        if (!keep) {
            if (sample.draws < rows.n)
                sums.curve_by_draws(margins, sample.squares, sample.draws);
            else
                sums.curve(margins);
            done.stuck = !std::isfinite(value) || !sums.system.factorise(n, goal.lambda, penalised);
            if (done.stuck) break;
        }
        sums.system.solve(g, direction);
        const double slope = -inner(g, 1, direction, 1, d), before = square;
        double t = 1, next = 0;
        for (;; t *= 0.5) {
            for (Size j = 0; j < d; ++j) there[j] = here[j] - t * direction[j];
            next = look(there), square = square_of();
            const bool alike = std::abs(next - value) <= rounding * std::abs(value) && -slope <= rounding * std::abs(value);
            if (alike ? square < before : next <= value + sufficient * t * slope) break;
            if (t < shortest) {
                done.stuck = true;
                break;
            }
        }
        if (done.stuck) break;
        std::swap(here, there);
        value = next;
        ++done.count;
        const double left = square / before;
        keep = t == 1 && penalised == d && goal.reached(value, left * square);
        if (!keep && left > NewtonSample::enough) sample.draws *= NewtonSample::growth;
    }
    done.value = value, done.gradient_square = square;
    std::copy(here, here + d, w);
    std::copy(g, g + d, gradient);
    return done;
}

}  // namespace dualfree
