// Losses of several numbers: phi_i of the m_i products A_i^T w of one example, with its gradient, the implicit step
//     a+ = -grad phi_i(z + c (a+ - a)),   c = v_i / (lambda n),
// the conjugate phi_i*(-a), the nearest point of its domain, and the curvature. Behind one virtual call for each example:
// the work for m numbers outweighs it, and the kernels are then compiled for each kind of rows alone.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

#include "losses.hpp"
#include "rows.hpp"

namespace dualfree {

// Example i has m outputs; its numbers begin at `at` in arrays of one number for each output of each example.
struct Place {
    Size i, at, m;
};

constexpr Size scratch_of_a_step = 6;  // numbers for each output that an implicit step may write to

struct VectorLoss {
    virtual ~VectorLoss() = default;
    virtual double value_and_gradient(Place p, const double* z, double* gradient) const = 0;
    virtual void implicit(Place p, const double* z, const double* a, double c, double slack, double* next, double* scratch) const = 0;
    virtual void project(Place p, const double* a, double* out) const = 0;
    virtual double conjugate(Place p, const double* a) const = 0;
    virtual void add_curvature(Place p, const double* z, double* hessian, double* scratch) const = 0;  // m x m, row by row
};

// f(m) with m known to the compiler where it is small, so that its loops are unrolled.
template <class Function>
DUALFREE_INLINE auto with_outputs(Size m, Function&& f) {
    switch (m) {
        case 2: return f(std::integral_constant<Size, 2>{});
        case 3: return f(std::integral_constant<Size, 3>{});
        case 4: return f(std::integral_constant<Size, 4>{});
        case 5: return f(std::integral_constant<Size, 5>{});
        case 8: return f(std::integral_constant<Size, 8>{});
        case 10: return f(std::integral_constant<Size, 10>{});
        default: return f(m);
    }
}

// f(lanes, z) with the scores z followed by so many of weight zero that they fill whole SIMD registers, for up to 24 of
// them: half-filled registers would be worse than idle lanes.
constexpr double no_score = -1e300;
template <class Function>
DUALFREE_INLINE auto with_lanes(Size m, const double* z, Function&& f) {
    const auto padded = [&](auto lanes) {
        double scores[lanes];
        for (Size k = 0; k < lanes; ++k) scores[k] = k < m ? z[k] : no_score;
        return f(lanes, scores);
    };
    if (m <= 4) return padded(std::integral_constant<Size, 4>{});
    if (m <= 8) return padded(std::integral_constant<Size, 8>{});
    if (m <= 12) return padded(std::integral_constant<Size, 12>{});
    if (m <= 16) return padded(std::integral_constant<Size, 16>{});
    if (m <= 20) return padded(std::integral_constant<Size, 20>{});
    if (m <= 24) return padded(std::integral_constant<Size, 24>{});
    return f(m, z);
}

// s = softmax(z); returns log sum exp(z).
template <class M>
DUALFREE_INLINE double softmax(M m, const double* z, double* s) {
    double top = z[0], sum = 0;
    for (Size k = 1; k < m; ++k) top = z[k] > top ? z[k] : top;
#pragma omp simd reduction(+ : sum)
    for (Size k = 0; k < m; ++k) {
        s[k] = exponential(z[k] - top);
        sum += s[k];
    }
    const double scale = 1 / sum;
    for (Size k = 0; k < m; ++k) s[k] *= scale;
    return top + logarithm(sum);
}

// f = log sum exp(z) - q^T z, q a distribution: one class (its number is y_i), or given for every output. -a = s - q for
// a point s of the simplex, and f*(-a) = sum s log s there.
struct CrossEntropy {
    const double* y;
    bool one_class;

    double target(Place p, Size k) const { return one_class ? (Size(y[p.i]) == k ? 1.0 : 0.0) : y[p.at + k]; }

    double value_and_gradient(Place p, const double* z, double* gradient) const {
        double value = with_lanes(p.m, z, [&](auto lanes, const double* scores) {
            if constexpr (std::is_same_v<decltype(lanes), Size>) {
                return softmax(lanes, scores, gradient);
            } else {
                double s[lanes];
                const double found = softmax(lanes, scores, s);
                std::copy(s, s + p.m, gradient);
                return found;
            }
        });
        if (one_class) {
            const Size k = Size(y[p.i]);
            gradient[k] -= 1;
            return value - z[k];
        }
        for (Size k = 0; k < p.m; ++k) {
            value -= y[p.at + k] * z[k];
            gradient[k] -= y[p.at + k];
        }
        return value;
    }

    // Clip and scale: rounding may leave s just outside the simplex, and a warm start anywhere.
    void project(Place p, const double* a, double* out) const {
        double sum = 0;
        for (Size k = 0; k < p.m; ++k) sum += out[k] = std::max(target(p, k) - a[k], 0.0);
        for (Size k = 0; k < p.m; ++k) out[k] = target(p, k) - (sum > 0 ? out[k] / sum : 1.0 / double(p.m));
    }

    double conjugate(Place p, const double* a) const {
        double entropy = 0, sum = 0;
        for (Size k = 0; k < p.m; ++k) {
            const double s = target(p, k) - a[k];
            if (!(s >= -1e-15)) return infinity;
            entropy += s > 1e-300 ? s * logarithm(s) : 0.0;
            sum += s;
        }
        return std::fabs(sum - 1) <= 1e-12 * double(p.m) ? entropy : infinity;
    }

    // With p = q - a the step is x = softmax(z + c (p - x)). Newton's method: the Jacobian I + c (Diag(s) - s s^T) is
    // inverted by Sherman and Morrison in O(m), and is at least the identity, so that a Newton move halved until the
    // residual falls always gets there. Softmax bends by less than its argument's square, so an error of at most
    // (c move)^2 is left by a full move, and the last one needs no confirmation. With a `slack` of 1 a hundredth of the whole
    // way is left at most.
    template <class M>
    DUALFREE_INLINE static bool newton(M m, const double* z, const double* p, double c, double slack, double* x, double* scratch) {
        double *s = scratch, *move = scratch + m, *inverse = scratch + 2 * m, *u = scratch + 3 * m;
        double before = infinity, length = 1;
        for (Size k = 0; k < m; ++k) x[k] = p[k];
        for (int round = 0; round < 200; ++round) {
#pragma omp simd
            for (Size k = 0; k < m; ++k) u[k] = z[k] + c * (p[k] - x[k]);
            softmax(m, u, s);
            double size = 0, weight = 0, along = 0;
#pragma omp simd reduction(+ : size, weight, along)
            for (Size k = 0; k < m; ++k) {
                const double residual = x[k] - s[k];
                inverse[k] = 1 / (1 + c * s[k]);
                size += residual * residual;
                weight += s[k] * inverse[k];
                along += s[k] * inverse[k] * residual;
            }
            if (!(size <= before)) {
                if (length < 1e-9) return false;
                length *= 0.5;
                for (Size k = 0; k < m; ++k) x[k] -= length * move[k];
                continue;
            }
            const double shift = c * along / weight;
            double moved = 0;
#pragma omp simd reduction(+ : moved)
            for (Size k = 0; k < m; ++k) {
                move[k] = -(x[k] - s[k] + shift * s[k]) * inverse[k];
                x[k] += move[k];
                moved += move[k] * move[k];
            }
            const double left = c * c * (1 + c) * moved;
            if (left <= 1e-13 || moved <= 1e-32) return true;
            if (left <= 0.04 * slack * slack && *std::min_element(x, x + m) >= 0) return true;
            before = size, length = 1;
        }
        return false;
    }

    // The same root for any z, p and c, slowly, where an alpha far outside the domain is too much for Newton's method. It
    // has log x_k + c x_k = b_k - t, b = z + c p, for one number t, and the sum of x falls as t grows.
    static void by_bisection(Size m, const double* b, double c, double* x) {
        double top = b[0], sum = 0;
        for (Size k = 1; k < m; ++k) top = std::max(top, b[k]);
        for (Size k = 0; k < m; ++k) sum += std::exp(b[k] - top);
        double high = top + std::log(sum), low = high - c;
        for (int round = 0; round < 100 && low < high; ++round) {
            const double t = 0.5 * (low + high);
            sum = 0;
            for (Size k = 0; k < m; ++k) sum += x[k] = omega(b[k] - t, c);
            (sum > 1 ? low : high) = t;
        }
        for (Size k = 0; k < m; ++k) x[k] /= sum;
    }

    // The x with log x + c x = r. With y = log x the left side is convex and increasing: Newton's method cannot fail.
    static double omega(double r, double c) {
        double y = r > 1 ? std::min(r, std::log(r / c)) : r;
        for (int round = 0; round < 100; ++round) {
            const double raised = c * std::exp(y), step = (y + raised - r) / (1 + raised);
            y -= step;
            if (std::fabs(step) <= 1e-16 * (1 + std::fabs(y))) break;
        }
        return std::exp(y);
    }

    void implicit(Place place, const double* z, const double* a, double c, double slack, double* next, double* scratch) const {
        const bool found = with_lanes(place.m, z, [&](auto lanes, const double* scores) {
            if constexpr (std::is_same_v<decltype(lanes), Size>) {
                for (Size k = 0; k < lanes; ++k) next[k] = target(place, k) - a[k];
                std::copy(next, next + lanes, scratch + 4 * lanes);
                return newton(lanes, scores, scratch + 4 * lanes, c, slack, next, scratch);
            } else {
                double p[lanes], x[lanes], room[4 * lanes];
                for (Size k = 0; k < lanes; ++k) p[k] = k < place.m ? target(place, k) - a[k] : 0.0;
                const bool good = newton(lanes, scores, p, c, slack, x, room);
                std::copy(x, x + place.m, next);
                return good;
            }
        });
        if (!found) {
            for (Size k = 0; k < place.m; ++k) scratch[k] = z[k] + c * (target(place, k) - a[k]);
            by_bisection(place.m, scratch, c, next);
        }
        for (Size k = 0; k < place.m; ++k) next[k] = target(place, k) - next[k];
    }

    void add_curvature(Place p, double weight, const double* z, double* hessian, double* s) const {
        softmax(p.m, z, s);
        for (Size k = 0; k < p.m; ++k) {
            const double scale = -weight * s[k];
            for (Size j = 0; j < p.m; ++j) hessian[k * p.m + j] += scale * s[j];
            hessian[k * p.m + k] += weight * s[k];
        }
    }
};

// One loss of one number for each output, added up.
template <class Scalar>
struct Separable {
    Scalar f;
    const double* y;

    double value_and_gradient(Place p, const double* z, double* gradient) const {
        double value = 0;
        for (Size k = 0; k < p.m; ++k) {
            value += f.value(z[k], y[p.at + k]);
            gradient[k] = f.derivative(z[k], y[p.at + k]);
        }
        return value;
    }
    void project(Place p, const double* a, double* out) const {
        for (Size k = 0; k < p.m; ++k) out[k] = f.project(a[k], y[p.at + k]);
    }
    double conjugate(Place p, const double* a) const {
        double sum = 0;
        for (Size k = 0; k < p.m; ++k) sum += f.conjugate(a[k], y[p.at + k]);
        return sum;
    }
    void implicit(Place p, const double* z, const double* a, double c, double, double* next, double*) const {
        for (Size k = 0; k < p.m; ++k) next[k] = f.implicit(z[k], a[k], c, y[p.at + k]);
    }
    void add_curvature(Place p, double weight, const double* z, double* hessian, double*) const {
        for (Size k = 0; k < p.m; ++k) hessian[k * p.m + k] += weight * f.curvature(z[k], y[p.at + k]);
    }
};

// A user's compiled function: the value, from z, the example's targets, and m, with the gradient written.
struct CompiledVector {
    using Function = double (*)(const double*, const double*, double*, Size);
    Function function;
    const double* y;
    bool one_target;  // for each example, or for each output
    const double* smoothness;

    double value_and_gradient(Place p, const double* z, double* gradient) const {
        return function(z, y + (one_target ? p.i : p.at), gradient, p.m);
    }
    void project(Place p, const double* a, double* out) const { std::copy(a, a + p.m, out); }
    double conjugate(Place, const double*) const { return infinity; }  // not known: no dual value
    void add_curvature(Place p, double, const double*, double* hessian, double*) const { hessian[0] += infinity * double(p.m); }

    // u = z + c (a+ - a) minimises c f(u) + |u - (z - c a)|^2 / 2, whose condition number is 1 + c l: Nesterov's method
    // for strongly convex functions, until the residual is rounding.
    void implicit(Place p, const double* z, const double* a, double c, double, double* next, double* scratch) const {
        double *u = scratch, *y_ = scratch + p.m, *gradient = scratch + 2 * p.m;
        const double largest = 1 + c * smoothness[p.i], root = std::sqrt(largest), momentum = (root - 1) / (root + 1);
        std::copy(z, z + p.m, u);
        std::copy(z, z + p.m, y_);
        for (int round = 0; round < 10'000; ++round) {
            value_and_gradient(p, y_, gradient);
            double residual = 0, size = 1e-300;
            for (Size k = 0; k < p.m; ++k) {
                const double slope = y_[k] - z[k] + c * (a[k] + gradient[k]), to = y_[k] - slope / largest;
                residual += slope * slope;
                size += c * c * (a[k] * a[k] + gradient[k] * gradient[k]);
                y_[k] = to + momentum * (to - u[k]);
                u[k] = to;
            }
            if (!(residual > 1e-28 * size)) break;
        }
        value_and_gradient(p, u, gradient);
        for (Size k = 0; k < p.m; ++k) next[k] = -gradient[k];
    }
};

// phi_i = weight_i f: weights are handled here, once, as for losses of one number.
template <class F>
struct Weighted final : VectorLoss {
    F f;
    const double* weight;  // nullptr: all one
    Weighted(const F& g, const double* k) : f(g), weight(k) {}

    double weight_of(Size i) const { return weight ? weight[i] : 1.0; }
    double value_and_gradient(Place p, const double* z, double* gradient) const override {
        const double value = f.value_and_gradient(p, z, gradient), k = weight_of(p.i);
        if (k != 1)
            for (Size j = 0; j < p.m; ++j) gradient[j] *= k;
        return k * value;
    }
    void implicit(Place p, const double* z, const double* a, double c, double slack, double* next, double* scratch) const override {
        const double k = weight_of(p.i);
        if (k == 1) return f.implicit(p, z, a, c, slack, next, scratch);
        if (k == 0) return std::fill(next, next + p.m, 0.0);
        double* scaled = scratch + 5 * p.m;
        for (Size j = 0; j < p.m; ++j) scaled[j] = a[j] / k;
        f.implicit(p, z, scaled, c * k, slack, next, scratch);
        for (Size j = 0; j < p.m; ++j) next[j] *= k;
    }
    void project(Place p, const double* a, double* out) const override {
        const double k = weight_of(p.i);
        if (k == 0) return std::fill(out, out + p.m, 0.0);
        if (k == 1) return f.project(p, a, out);
        std::unique_ptr<double[]> scaled(new double[std::size_t(p.m)]);
        for (Size j = 0; j < p.m; ++j) scaled[std::size_t(j)] = a[j] / k;
        f.project(p, scaled.get(), out);
        for (Size j = 0; j < p.m; ++j) out[j] *= k;
    }
    double conjugate(Place p, const double* a) const override {
        const double k = weight_of(p.i);
        if (k == 1) return f.conjugate(p, a);
        if (k == 0) return std::all_of(a, a + p.m, [](double x) { return x == 0; }) ? 0 : infinity;
        std::unique_ptr<double[]> scaled(new double[std::size_t(p.m)]);
        for (Size j = 0; j < p.m; ++j) scaled[std::size_t(j)] = a[j] / k;
        return k * f.conjugate(p, scaled.get());
    }
    void add_curvature(Place p, const double* z, double* hessian, double* scratch) const override {
        f.add_curvature(p, weight_of(p.i), z, hessian, scratch);
    }
};

}  // namespace dualfree
