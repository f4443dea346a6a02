// Losses that are met through the pointers of `Compiled`, so that no kernel is compiled for them: a call costs some two
// nanoseconds. Three that are bounded, so that no average of them is convex, and one for positive and unlabelled examples.
#pragma once
#include <bit>
#include <optional>
#include <string_view>

#include "losses.hpp"

namespace dualfree {

inline double logistic_function(double x) {
    const double e = exponential(-std::fabs(x));
    return (x >= 0 ? 1.0 : e) / (1 + e);
}

// f = 1 / (1 + exp(t)), t = y z
struct Sigmoid {
    static double value(double z, double y, double) { return logistic_function(-y * z); }
    static double derivative(double z, double y, double) {
        const double s = logistic_function(-y * z);
        return -y * s * logistic_function(y * z);
    }
    static double curvature(double z, double y, double) {
        const double s = logistic_function(-y * z);
        return s * logistic_function(y * z) * (1 - 2 * s);
    }
};

// f = 1 / (1 + exp(2t))^2
struct Savage {
    static double value(double z, double y, double) {
        const double s = logistic_function(-2 * y * z);
        return s * s;
    }
    static double derivative(double z, double y, double) {
        const double s = logistic_function(-2 * y * z);
        return -4 * y * s * s * logistic_function(2 * y * z);
    }
    static double curvature(double z, double y, double) {
        const double s = logistic_function(-2 * y * z);
        return 8 * s * s * logistic_function(2 * y * z) * (2 - 3 * s);
    }
};

// f = c^2 / 6 (1 - (1 - (r/c)^2)^3) for |r| <= c, c^2 / 6 beyond, r = z - y
struct Tukey {
    static double rest(double z, double y, double c) {
        const double r = (z - y) / c;
        return std::fmax(0.0, 1 - r * r);
    }
    static double value(double z, double y, double c) {
        const double u = (z - y) / c * ((z - y) / c);
        return u >= 1 ? c * c / 6 : c * c / 6 * u * (3 - 3 * u + u * u);
    }
    static double derivative(double z, double y, double c) {
        const double k = rest(z, y, c);
        return k > 0 ? (z - y) * k * k : 0;
    }
    static double curvature(double z, double y, double c) {
        const double k = rest(z, y, c);
        return k > 0 ? k * (5 * k - 4) : 0;
    }
};

// f = -z for a positive example (y = 1), log(1 + exp(z)) for an unlabelled one (y = -1); both are convex
struct PositiveUnlabelled {
    static double value(double z, double y, double) { return y > 0 ? -z : Logistic{}.value(z, -1); }
    static double derivative(double z, double y, double) { return y > 0 ? -1.0 : Logistic{}.derivative(z, -1); }
    static double curvature(double z, double y, double) { return y > 0 ? 0.0 : Logistic{}.curvature(z, -1); }
    static double conjugate(double a, double y, double) {
        return y < 0 ? Logistic{}.conjugate(a, -1) : a == 1 ? 0.0 : infinity;
    }
    static double project(double a, double y, double) { return y > 0 ? 1.0 : Logistic{}.project(a, -1); }
};

// A formula with one parameter behind the pointer that SciPy's convention has; its user data are the parameter's bits.
static_assert(sizeof(void*) == sizeof(double));
template <double (*formula)(double, double, double)>
Compiled::Function pointer_to(double parameter) {
    constexpr Compiled::WithData call = [](double z, double y, void* bits) {
        return formula(z, y, std::bit_cast<double>(bits));
    };
    return {reinterpret_cast<void*>(call), std::bit_cast<void*>(parameter), true};
}

template <class Loss>
Compiled indirect(double parameter) {
    Compiled loss{pointer_to<Loss::value>(parameter), pointer_to<Loss::derivative>(parameter)};
    loss.curvature_function = pointer_to<Loss::curvature>(parameter);
    if constexpr (requires { Loss::conjugate(0.0, 1.0, 0.0); }) {
        loss.conjugate_function = pointer_to<Loss::conjugate>(parameter);
        loss.project_function = pointer_to<Loss::project>(parameter);
    }
    return loss;
}

inline std::optional<Compiled> indirect_loss(std::string_view kind, double parameter) {
    if (kind == "sigmoid") return indirect<Sigmoid>(parameter);
    if (kind == "savage") return indirect<Savage>(parameter);
    if (kind == "tukey") return indirect<Tukey>(parameter);
    if (kind == "positive-unlabelled") return indirect<PositiveUnlabelled>(parameter);
    return std::nullopt;
}

}  // namespace dualfree
