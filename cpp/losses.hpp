// Losses, one struct each: value f(z, y), derivative f'(z, y), curvature f''(z, y) (at a kink that of one side), the
// conjugate f*(-a), the nearest point of the conjugate's domain, and the implicit step, the root a+ of
//     a+ = -f'(z + c (a+ - a), y),   c = v_i / (lambda n) >= 0,
// which maximises the ESO lower bound of the dual without naming the dual. Labels of the classification
// losses are -1 or +1, so y * y = 1 and everything is a function of the margin t = y z and of s = y a.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

#include "elementary.hpp"
#include "roots.hpp"
#include "rows.hpp"

namespace dualfree {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Slope {
    double value, derivative;
};

// f = linear + log(1 + grows): of many, one logarithm of the product of all 1 + grows is enough.
struct Split {
    double linear, grows, derivative;
};

// f(z) + f*(-a) + a z by a series, and its argument: right if that is at most artanh_reach, where a is near -f'(z).
struct Divergence {
    double value, argument;
};

// f = log(1 + exp(-t)). Everything follows from e = exp(-|t|), without a branch on the sign of t, which a processor
// cannot predict.
struct Logistic {
    DUALFREE_INLINE Split split(double z, double y) const {
        const double t = y * z, e = exponential(-std::fabs(t));
        return {t < 0 ? -t : 0.0, e, -y * (t >= 0 ? e : 1.0) / (1 + e)};
    }
    DUALFREE_INLINE Slope value_and_derivative(double z, double y) const {
        const Split parts = split(z, y);
        return {parts.linear + log_one_plus(parts.grows), parts.derivative};
    }
    DUALFREE_INLINE double value(double z, double y) const { return value_and_derivative(z, y).value; }
    DUALFREE_INLINE double derivative(double z, double y) const {
        const double t = y * z, e = exponential(-std::fabs(t));
        return -y * (t >= 0 ? e : 1.0) / (1 + e);
    }
    DUALFREE_INLINE double curvature(double z, double) const {
        const double e = exponential(-std::fabs(z));
        return e / ((1 + e) * (1 + e));
    }
    double project(double a, double y) const { return y * std::clamp(y * a, 0.0, 1.0); }
    DUALFREE_INLINE double conjugate(double a, double y) const {  // f*(-a) = s log s + (1-s) log(1-s) on [0, 1]
        const double s = y * a, r = 1 - s;
        const double entropy = s * logarithm(s > smallest ? s : smallest) + r * logarithm(r > smallest ? r : smallest);
        return s >= 0 && s <= 1 ? entropy : infinity;
    }
    // The relative entropy s log(s / p) + (1 - s) log((1 - s) / (1 - p)) of s = y a and p = -y f'(z). With the logarithms
    // as series of artanh their first terms cancel but for a square, so that no digits are lost.
    DUALFREE_INLINE Divergence divergence(double a, double derivative, double y) const {
        const double s = y * a, p = -y * derivative, apart = s - p, sum = s + p, rest = 2 - sum;
        const double inverse = 1 / (sum * rest), up = apart * rest * inverse, down = apart * sum * inverse;
        const double further = s * twice_artanh_beyond(up) - (1 - s) * twice_artanh_beyond(down);
        const double one = std::fabs(up), other = std::fabs(down);
        return {2 * apart * apart * inverse + further, one <= artanh_reach ? other : one};
    }
    DUALFREE_INLINE double implicit_move(double z, double a, double c, double y, double slack) const {
        return implicit_sigmoid(z, y, y * a, c, slack);
    }
    double implicit(double z, double a, double c, double y, double slack = 0) const {
        return a + implicit_move(z, a, c, y, slack);
    }

  private:
    static constexpr double smallest = 1e-300;
};

// f = (z - y)^2 / 2
struct Squared {
    double value(double z, double y) const { return 0.5 * (z - y) * (z - y); }
    double derivative(double z, double y) const { return z - y; }
    double curvature(double, double) const { return 1; }
    double project(double a, double) const { return a; }
    double conjugate(double a, double y) const { return a * (0.5 * a - y); }
    double implicit(double z, double a, double c, double y) const { return (y - z + c * a) / (1 + c); }
};

// f = max(0, 1 - t)^2
struct SquaredHinge {
    double value(double z, double y) const {
        const double r = std::fmax(0.0, 1 - y * z);
        return r * r;
    }
    double derivative(double z, double y) const { return -2 * y * std::fmax(0.0, 1 - y * z); }
    double curvature(double z, double y) const { return y * z < 1 ? 2 : 0; }
    double project(double a, double y) const { return y * std::fmax(0.0, y * a); }
    double conjugate(double a, double y) const {
        const double s = y * a;
        return s >= 0 ? s * (0.25 * s - 1) : infinity;
    }
    double implicit(double z, double a, double c, double y) const {
        return y * std::fmax(0.0, 2 * (1 - y * z + c * y * a) / (1 + 2 * c));
    }
};

// f = 0 for t >= 1, 1 - t - gamma/2 for t <= 1 - gamma, (1 - t)^2 / (2 gamma) between
struct SmoothedHinge {
    double gamma;
    double value(double z, double y) const {
        const double r = 1 - y * z;
        if (r <= 0) return 0;
        return r >= gamma ? r - 0.5 * gamma : 0.5 * r * r / gamma;
    }
    double derivative(double z, double y) const {
        return -y * std::clamp((1 - y * z) / gamma, 0.0, 1.0);
    }
    double curvature(double z, double y) const { return y * z < 1 && y * z > 1 - gamma ? 1 / gamma : 0; }
    double project(double a, double y) const { return y * std::clamp(y * a, 0.0, 1.0); }
    double conjugate(double a, double y) const {
        const double s = y * a;
        return s >= 0 && s <= 1 ? s * (0.5 * gamma * s - 1) : infinity;
    }
    double implicit(double z, double a, double c, double y) const {
        return y * std::clamp((1 - y * z + c * y * a) / (gamma + c), 0.0, 1.0);
    }
};

// f = r^2 / 2 for |r| <= delta, delta |r| - delta^2 / 2 beyond, r = z - y
struct Huber {
    double delta;
    double value(double z, double y) const {
        const double r = std::fabs(z - y);
        return r <= delta ? 0.5 * r * r : delta * (r - 0.5 * delta);
    }
    double derivative(double z, double y) const { return std::clamp(z - y, -delta, delta); }
    double curvature(double z, double y) const { return std::fabs(z - y) <= delta ? 1 : 0; }
    double project(double a, double) const { return std::clamp(a, -delta, delta); }
    // An a at the end of the domain has been through (weight * delta) / weight, which may round up.
    double conjugate(double a, double y) const {
        return std::fabs(a) <= delta * (1 + 1e-15) ? a * (0.5 * a - y) : infinity;
    }
    double implicit(double z, double a, double c, double y) const {
        return std::clamp((y - z + c * a) / (1 + c), -delta, delta);
    }
};

// A user's loss as compiled scalar functions of (z, y), in the manner of SciPy's LowLevelCallable.
struct Compiled {
    using Plain = double (*)(double, double);
    using WithData = double (*)(double, double, void*);
    struct Function {
        void* address;
        void* user_data;
        bool takes_data;
        double operator()(double z, double y) const {
            return takes_data ? reinterpret_cast<WithData>(address)(z, y, user_data)
                              : reinterpret_cast<Plain>(address)(z, y);
        }
    };
    Function value_function, derivative_function;
    // What a user's loss does not give; the losses of indirect.hpp, which come through the same door, may.
    Function curvature_function{}, conjugate_function{}, project_function{};

    double value(double z, double y) const { return value_function(z, y); }
    double derivative(double z, double y) const { return derivative_function(z, y); }
    double curvature(double z, double y) const {  // not known: no Newton step
        return curvature_function.address ? curvature_function(z, y) : infinity;
    }
    double project(double a, double y) const { return project_function.address ? project_function(a, y) : a; }
    double conjugate(double a, double y) const {  // not known: no dual value
        return conjugate_function.address ? conjugate_function(a, y) : infinity;
    }
    double implicit(double z, double a, double c, double y) const {
        const double end = -derivative(z, y);
        return root_in_bracket(a, end, a - end, c, [&](double x) { return x + derivative(z + c * (x - a), y); });
    }
};

// The weights of the examples: given or not, certainly given, certainly not. A loop that has to ask for each example becomes
// SIMD that is three times as slow; so loops ask once, by `with_weights_known`.
struct MaybeWeights {
    const double* given;  // nullptr: all one
    bool any() const { return given != nullptr; }
    double operator[](Size i) const { return given ? given[i] : 1.0; }
};
struct Weights {
    const double* given;
    bool any() const { return true; }
    double operator[](Size i) const { return given[i]; }
};
struct NoWeights {
    static constexpr const double* given = nullptr;
    bool any() const { return false; }
    double operator[](Size) const { return 1.0; }
};

// phi_i = weight_i * f(., y_i): the loss of one problem. Weights are handled here, once, by
// phi*(u) = weight f*(u / weight) and by solving the implicit step in alpha / weight.
template <class Scalar, class W = MaybeWeights>
struct Losses {
    Scalar f;
    const double* y;
    W weight;

    DUALFREE_INLINE void prefetch(Size i) const {
        prefetch_line(y + i);
        if (weight.any()) prefetch_line(weight.given + i);
    }
    double value(Size i, double z) const { return weight[i] * f.value(z, y[i]); }
    double derivative(Size i, double z) const { return weight[i] * f.derivative(z, y[i]); }
    double curvature(Size i, double z) const { return weight[i] * f.curvature(z, y[i]); }
    Split split(Size i, double z) const
        requires(std::is_same_v<W, NoWeights> && requires(const Scalar& g) { g.split(z, 0.0); })
    {
        return f.split(z, y[i]);
    }
    Divergence divergence(Size i, double a, double derivative) const
        requires(std::is_same_v<W, NoWeights> && requires(const Scalar& g) { g.divergence(a, derivative, 0.0); })
    {
        return f.divergence(a, derivative, y[i]);
    }
    Slope value_and_derivative(Size i, double z) const {
        const double k = weight[i];
        if constexpr (requires { f.value_and_derivative(z, 0.0); }) {  // one exponential instead of two
            const Slope slope = f.value_and_derivative(z, y[i]);
            return {k * slope.value, k * slope.derivative};
        } else {
            return {k * f.value(z, y[i]), k * f.derivative(z, y[i])};
        }
    }
    double project(Size i, double alpha) const {
        const double k = weight[i];
        return k == 0 ? 0 : k * f.project(alpha / k, y[i]);
    }
    double conjugate(Size i, double alpha) const {  // phi_i*(-alpha)
        const double k = weight[i];
        if (k == 0) return alpha == 0 ? 0 : infinity;
        return k * f.conjugate(alpha / k, y[i]);
    }
    // `slack`: how far the product may still go in the last move towards the root, for losses that have no formula for it.
    double implicit(Size i, double z, double alpha, double c, double slack = 0) const {
        if (!weight.any()) return root(z, alpha, c, y[i], slack);
        const double k = weight[i];
        return k == 0 ? 0 : k * root(z, alpha / k, c * k, y[i], slack);
    }
    // How far it takes alpha: what the next visit waits for.
    DUALFREE_INLINE double implicit_move(Size i, double z, double alpha, double c, double slack) const {
        if constexpr (requires { f.implicit_move(z, alpha, c, y[i], slack); })
            if (!weight.any()) return f.implicit_move(z, alpha, c, y[i], slack);
        return implicit(i, z, alpha, c, slack) - alpha;
    }

  private:
    double root(double z, double alpha, double c, double target, double slack) const {
        if constexpr (requires { f.implicit(z, alpha, c, target, slack); })
            return f.implicit(z, alpha, c, target, slack);
        else
            return f.implicit(z, alpha, c, target);
    }
};

template <class Scalar, class Use>
auto with_weights_known(const Losses<Scalar>& loss, Use&& use) {
    if (loss.weight.any()) return use(Losses<Scalar, Weights>{loss.f, loss.y, {loss.weight.given}});
    return use(Losses<Scalar, NoWeights>{loss.f, loss.y, {}});
}

using AnyLoss = std::variant<Losses<Logistic>, Losses<Squared>, Losses<SquaredHinge>, Losses<SmoothedHinge>,
                             Losses<Huber>, Losses<Compiled>>;

// The derivative of any of them behind one call, for methods whose kernels are then compiled for each kind of rows and not
// for each pair of rows and loss; the call costs some two nanoseconds a step.
struct AnyDerivative {
    const AnyLoss& loss;
    [[gnu::noinline]] double derivative(Size i, double z) const {
        return std::visit([&](const auto& l) { return l.derivative(i, z); }, loss);
    }
    DUALFREE_INLINE void prefetch(Size i) const {
        std::visit([i](const auto& l) { l.prefetch(i); }, loss);
    }
};

}  // namespace dualfree
