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

constexpr Size scratch_of_a_step = 5;  // numbers for each output that an implicit step may write to

struct VectorLoss {
    virtual ~VectorLoss() = default;
    virtual double value_and_gradient(Place p, const double* z, double* gradient) const = 0;
    virtual void implicit(Place p, const double* z, const double* a, double c, double* next, double* scratch) const = 0;
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
        case 6: return f(std::integral_constant<Size, 6>{});
        case 7: return f(std::integral_constant<Size, 7>{});
        case 8: return f(std::integral_constant<Size, 8>{});
        case 10: return f(std::integral_constant<Size, 10>{});
        default: return f(m);
    }
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
        double value = with_outputs(p.m, [&](auto m) { return softmax(m, z, gradient); });
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
    // (c move)^2 is left by a full move, and the last one needs no confirmation.
    template <class M>
    static bool newton(M m, const double* z, const double* p, double c, double* x, double* scratch) {
        double *u = scratch, *s = scratch + m, *move = scratch + 2 * m;
        double before = infinity, length = 1;
        for (Size k = 0; k < m; ++k) x[k] = p[k], move[k] = 0;
        for (int round = 0; round < 200; ++round) {
            for (Size k = 0; k < m; ++k) u[k] = z[k] + c * (p[k] - x[k]);
            softmax(m, u, s);
            double size = 0;
            for (Size k = 0; k < m; ++k) size += (x[k] - s[k]) * (x[k] - s[k]);
            if (!(size <= before)) {
                if (length < 1e-9) return false;
                length *= 0.5;
                for (Size k = 0; k < m; ++k) x[k] -= length * move[k];
                continue;
            }
            double weight = 0, along = 0;
            for (Size k = 0; k < m; ++k) {
                const double h = s[k] / (1 + c * s[k]);
                weight += h;
                along += h * (x[k] - s[k]);
            }
            const double shift = c * along / weight;
            double moved = 0;
            for (Size k = 0; k < m; ++k) {
                move[k] = -(x[k] - s[k] + shift * s[k]) / (1 + c * s[k]);
                x[k] += move[k];
                moved += move[k] * move[k];
            }
            if (c * c * (1 + c) * moved <= 1e-13 || moved <= 1e-32) return true;
            before = size, length = 1;
        }
        return false;
    }

    void implicit(Place place, const double* z, const double* a, double c, double* next, double* scratch) const {
        double* p = scratch;
        for (Size k = 0; k < place.m; ++k) p[k] = target(place, k) - a[k];
        const bool found = with_outputs(place.m, [&](auto m) { return newton(m, z, p, c, next, scratch + place.m); });
        if (!found) {  // then the step with the largest curvature, 1/2, which is always safe
            softmax(place.m, z, scratch + place.m);
            for (Size k = 0; k < place.m; ++k) next[k] = p[k] - (p[k] - scratch[place.m + k]) / (1 + 0.5 * c);
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
    void implicit(Place p, const double* z, const double* a, double c, double* next, double*) const {
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
    void implicit(Place p, const double* z, const double* a, double c, double* next, double* scratch) const {
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
    void implicit(Place p, const double* z, const double* a, double c, double* next, double* scratch) const override {
        const double k = weight_of(p.i);
        if (k == 1) return f.implicit(p, z, a, c, next, scratch);
        if (k == 0) return std::fill(next, next + p.m, 0.0);
        double* scaled = scratch + 4 * p.m;
        for (Size j = 0; j < p.m; ++j) scaled[j] = a[j] / k;
        f.implicit(p, z, scaled, c * k, next, scratch);
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
