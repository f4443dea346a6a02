// The line through alpha and where it was before, alpha + t (alpha - before), and w with it: how the dual bends along it, and the way
// to a point of it.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "losses.hpp"
#include "rays.hpp"
#include "rows.hpp"

namespace dualfree {

// Slope and curvature along the line at t = 0, of n times the negative dual or a part of it.
struct Bend {
    static constexpr double least = -0.5, most = 4;  // of t
    double slope = 0, curvature = 0;
    double size = 0;  // of ||w||^2 / 2, which says what roundings of w are worth
    void add(const Bend& other, double factor = 1) {
        slope += factor * other.slope, curvature += factor * other.curvature, size += factor * other.size;
    }
    double change(double t) const { return t * (slope + 0.5 * t * curvature); }
    double best() const {
        const double t = -slope / curvature;
        return std::isfinite(t) ? std::clamp(t, least, most) : 0.0;
    }
};

// Of ||w||^2 / 2.
inline Bend bend_of(const double* w, const double* before, Size first, Size last) {
    double slope = 0, curvature = 0, square = 0;
#pragma omp simd reduction(+ : slope, curvature, square)
    for (Size j = first; j < last; ++j) {
        const double way = w[j] - before[j];
        slope += way * w[j];
        curvature += way * way;
        square += w[j] * w[j];
    }
    return {slope, curvature, 0.5 * square};
}

template <class Scalar, class W>
Bend bend_of(const Losses<Scalar, W>& loss, const double* alpha, const double* before, double offset, Size first, Size last) {
    const Scalar f = loss.f;
    const W weight = loss.weight;
    const double* y = loss.y;
    double slope = 0, curvature = 0;
#pragma omp simd reduction(+ : slope, curvature)
    for (Size i = first; i < last; ++i) {
        double k = 1, a = alpha[i], way = alpha[i] - before[i];
        if constexpr (std::is_same_v<W, Weights>) k = weight[i], a = k > 0 ? a / k : 0.0, way = k > 0 ? way / k : 0.0;
        const Slope here = conjugate_slope(f, a, y[i]);
        slope += k * way * (here.value + offset);
        curvature += k * way * way * here.derivative;
    }
    return {slope, curvature};
}

// Examples that could not go as far as all others, and by how much their alpha is off.
struct Held {
    std::vector<std::pair<Size, double>> examples;
    bool too_many = false;

    static constexpr Size share = 8;  // of all examples, at most: each costs a visit
    void make_room(Size n) { examples.reserve(std::size_t(n / share + 1)); }
    void clear() { examples.clear(), too_many = false; }
    void add(Size i, double off) {
        too_many = too_many || examples.size() == examples.capacity();
        if (!too_many) examples.emplace_back(i, off);
    }
};

// What the sum of the conjugates grows by at most, and how far alpha moves, squared.
struct Gone {
    double grown = 0, moved = 0;
    void add(const Gone& other) { grown += other.grown, moved += other.moved; }
};

// To the point of the line, or as far as each conjugate is finite; where alpha was goes to `before`.
template <class Scalar, class W>
Gone go_along(const Losses<Scalar, W>& loss, double t, double offset, double* alpha, double* before, Size first, Size last, Held& held) {
    constexpr Size block = 256;
    const Scalar f = loss.f;
    const W weight = loss.weight;
    const double* y = loss.y;
    double grown = 0, moved = 0, off[block];
    for (Size from = first; from < last; from += block) {
        const Size count = std::min(block, last - from);
#pragma omp simd reduction(+ : grown, moved)
        for (Size at = 0; at < count; ++at) {
            const Size i = from + at;
            double k = 1, a = alpha[i], was = before[i];
            if constexpr (std::is_same_v<W, Weights>) k = weight[i], a = k > 0 ? a / k : 0.0, was = k > 0 ? was / k : 0.0;
            const double wanted = a + t * (a - was), to = within_domain(f, a, wanted, y[i]);
            grown += k * (most_growth(f, a, to - a, y[i]) + offset * (to - a));
            moved += k * k * (to - a) * (to - a);
            off[at] = k * (to - wanted);
            before[i] = alpha[i];
            alpha[i] = k * to;
        }
        for (Size at = 0; at < count; ++at)
            if (off[at] != 0) held.add(from + at, off[at]);
    }
    return {grown, moved};
}

inline void go_along(double t, double* w, double* before, Size first, Size last) {
    for (Size j = first; j < last; ++j) {
        const double now = w[j];
        w[j] = now + t * (now - before[j]);
        before[j] = now;
    }
}

inline Bend bend_of(const AnyLoss& loss, const double* alpha, const double* before, double offset, Size first, Size last) {
    const auto known = [&](const auto& l) { return bend_of(l, alpha, before, offset, first, last); };
    const auto any = [&]<class Scalar>(const Losses<Scalar>& l) {
        if constexpr (HasRay<Scalar>) return with_weights_known(l, known);
        return Bend{};
    };
    return std::visit(any, loss);
}

inline Gone go_along(const AnyLoss& loss, double t, double offset, double* alpha, double* before, Size first, Size last, Held& held) {
    const auto known = [&](const auto& l) { return go_along(l, t, offset, alpha, before, first, last, held); };
    const auto any = [&]<class Scalar>(const Losses<Scalar>& l) {
        if constexpr (HasRay<Scalar>) return with_weights_known(l, known);
        return Gone{};
    };
    return std::visit(any, loss);
}

// w is to be what follows from alpha where some were held; what lambda n ||w||^2 / 2 grows by.
inline double hold_back(const Rows& rows, const Held& held, double inverse, double* w) {
    return std::visit(
        [&](const auto& r) {
            double change = 0;
            for (const auto& [i, off] : held.examples) {
                change += off * (r.dot(i, w) - r.offset + 0.5 * off * inverse * r.square(i));
                r.add_to(i, off * inverse, w);
            }
            return change;
        },
        rows);
}

}  // namespace dualfree
