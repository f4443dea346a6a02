// Newton's method with the Hessian of all examples, several steps in one call: with few features and few examples a step costs less
// than the way to Python and back.
#pragma once
#include <algorithm>
#include <cmath>

#include "kernels/inner.hpp"
#include "kernels/newton_sums.hpp"

namespace dualfree {

constexpr Size most_newton_features = 64;

struct NewtonGoal {
    double lambda, tol, absolute_tol;
    bool reached(double value, double square) const {
        return square / (2 * lambda) <= std::max(tol * std::abs(value), absolute_tol);
    }
};

struct NewtonSteps {
    Size count = 0;      // steps that were taken
    double total = 0;    // sum of the losses where they have led
    bool stuck = false;  // no step along the last direction is short enough, or the Hessian is not positive in floating point
};

// Up to `most` steps from w, which follows; margins, derivatives and the gradient of the sum of the losses are those at w, unless
// it is stuck. The weight of a constant feature, an intercept, has no penalty, and the goal is for the best one.
template <class R>
NewtonSteps newton_steps(const R& rows, const TileLoss& loss, const NewtonGoal& goal, Size most, double* w, double* gradient,
                         double* margins, double* derivatives) {
    constexpr double sufficient = 1e-4, rounding = 4e-15, shortest = 1e-12;
    const double n = double(rows.n);
    NewtonSums sums(rows.d);
    const Size d = rows.d, penalised = rows.constant != 0 ? d - 1 : d;
    Lines here = sums.line(), g = sums.line(), direction = sums.line(), there = sums.line();
    std::copy(w, w + d, here.data());
    // P at a point, and g its gradient.
    const auto look = [&](const Lines& point) {
        sums.look(rows, loss, point.data(), margins, derivatives);
        for (Size j = 0; j < d; ++j) g.data()[j] = sums.gradient.data()[j] / n;
        for (Size j = 0; j < penalised; ++j) g.data()[j] += goal.lambda * point.data()[j];
        return sums.total / n + 0.5 * goal.lambda * inner(point.data(), 1, point.data(), 1, penalised);
    };
    const auto square_of = [&] {
        return penalised == d ? inner(g.data(), 1, g.data(), 1, d) : sums.square_without_last(g.data());
    };
    NewtonSteps done;
    double value = look(here), square = square_of();
    while (done.count < most && !goal.reached(value, square)) {
        sums.curve(rows, loss, margins);
        done.stuck = !std::isfinite(value) || !sums.solve(n, goal.lambda, penalised, g.data(), direction.data());
        if (done.stuck) break;
        const double slope = -inner(g.data(), 1, direction.data(), 1, d), before = square;
        double t = 1, next = 0;
        for (;; t *= 0.5) {
            for (Size j = 0; j < d; ++j) there.data()[j] = here.data()[j] - t * direction.data()[j];
            next = look(there), square = square_of();
            const bool alike = std::abs(next - value) <= rounding * std::abs(value) && -slope <= rounding * std::abs(value);
            if (alike ? square < before : next <= value + sufficient * t * slope) break;
            if (t < shortest) {
                done.stuck = true;
                break;
            }
        }
        if (done.stuck) break;
        here.swap(there);
        value = next;
        ++done.count;
    }
    done.total = sums.total;
    std::copy(here.data(), here.data() + d, w);
    std::copy(sums.gradient.data(), sums.gradient.data() + d, gradient);
    return done;
}

}  // namespace dualfree
