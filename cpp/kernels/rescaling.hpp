// After a round of visits: the multiple of alpha, and of w with it, at which the dual
//     D(c alpha) = -(1/n) sum phi_i*(-c alpha_i) - (lambda/2) c^2 ||w||^2
// is about largest. Visits that come early do not know of those to come, and what examples share is found by each of them: all
// alpha are too large together, which one number mends, and visits one by one for a long time.
#pragma once
#include <algorithm>
#include <cmath>

#include "kernels/dfsdca.hpp"
#include "kernels/inner.hpp"
#include "rays.hpp"

namespace dualfree {

// Rounds from one look at alpha to the next, and those that are left: a look costs a part of a round, its `price`, and where it wins
// too little for that, the next one comes later and later. What it wins is not won by the visits of many rounds, so that it may be a
// small part of what those of one have won: `least` times the square of the price.
struct Pause {
    static constexpr Size longest = 64;
    Size length, left;
    double price;
    Size unit = 1;  // rounds that a length of one stands for

    bool over() {
        left = std::max<Size>(left - 1, 0);
        return left == 0;
    }
    void learn(double won, double by_visits, double least) {
        length = won > least * price * price * by_visits ? 1 : std::min(2 * length, longest);
        left = unit * length;
    }
};

// Sums over some examples: of the slopes and curvatures of c -> phi_i*(-c alpha_i) at c = 1, and the largest |alpha_i|, without weights.
struct Ray {
    double slope = 0, curvature = 0, largest = 0;
    void add(const Ray& other) {
        slope += other.slope, curvature += other.curvature;
        largest = std::max(largest, other.largest);
    }
};

template <class Scalar, class W>
Ray ray_of(const Losses<Scalar, W>& loss, const double* alpha, double offset, Size first, Size last) {
    const Scalar f = loss.f;
    const W weight = loss.weight;
    const double* y = loss.y;  // all at hand, or it becomes slower SIMD
    double slope = 0, curvature = 0, largest = 0;
#pragma omp simd reduction(+ : slope, curvature) reduction(max : largest)
    for (Size i = first; i < last; ++i) {
        double k = 1, a = alpha[i];
        if constexpr (std::is_same_v<W, Weights>) k = weight[i], a = k > 0 ? a / k : 0.0;
        const double size = std::fabs(a);
        const Slope here = along_ray(f, a, y[i]);
        slope += k * (here.value + offset * a);
        curvature += k * here.derivative;
        largest = size > largest ? size : largest;
    }
    return {slope, curvature, largest};
}

// A loss for which nothing of the kind is known has no ray, and its alpha stay as they are.
inline Ray ray_of(const AnyLoss& loss, const double* alpha, double offset, Size first, Size last) {
    const auto known = [&](const auto& l) { return ray_of(l, alpha, offset, first, last); };
    const auto any = [&]<class Scalar>(const Losses<Scalar>& l) {
        if constexpr (HasRay<Scalar>) return with_weights_known(l, known);
        return Ray{};
    };
    return std::visit(any, loss);
}

// The multiple, and what the dual wins by it, times n.
struct Choice {
    double c = 1, won = 0;
};

// `squares`: lambda n ||w||^2.
inline Choice choose(const AnyLoss& loss, const Ray& ray, double squares) {
    const double slope = ray.slope + squares, curvature = ray.curvature + squares;
    const double newton = std::clamp(-slope / curvature, -0.5, 1.0);
    const auto multiple = [&]<class Scalar>(const Losses<Scalar>& l) {
        if constexpr (HasRay<Scalar>) return best_multiple(l.f, newton, ray.largest);
        return 1.0;
    };
    const double c = std::visit(multiple, loss), won = (1 - c) * (slope + 0.5 * (c - 1) * curvature);
    return std::isfinite(won) ? Choice{c, won} : Choice{};
}

// What a run knows of its multiples: it goes from one call to the next, and is the same in each thread.
struct Multiples {
    static constexpr double worth_while = 1e-4;  // of what visits won: less is not worth a rounding of all alpha
    static constexpr double least = 6;           // measured
    Pause pause;
    double flatness;  // 1 / l
    Size times = 0;
    double growth = 1;  // of alpha at most

    // What the dual has won by visits at least, times n.
    double won_by(const Visited& seen) const { return 0.5 * (seen.own + flatness * seen.moved); }

    // The c by which alpha and w are to be multiplied.
    double after(const Choice& choice, double by_visits) {
        const bool worth_it = choice.won > worth_while * by_visits;
        pause.learn(worth_it ? choice.won : 0.0, by_visits, least);
        if (!worth_it) return 1;
        growth *= std::max(1.0, choice.c);
        ++times;
        return choice.c;
    }
};

inline void multiply(double* numbers, Size first, Size last, double c) {
    for (Size j = first; j < last; ++j) numbers[j] *= c;
}

// For visits on one thread.
class Rescaling {
  public:
    // `squares`: lambda n ||w||^2, below zero where it is not known.
    Rescaling(const AnyLoss& loss, Size n, Size d, double offset, double inverse, const Multiples& multiples, double squares, double* alpha, double* w)
        : loss_(loss), n_(n), d_(d), alpha_(alpha), w_(w), multiples_(multiples), kept_{1.0, offset},
          squares_(squares >= 0 ? squares : inner(w, 1, w, 1, d) / inverse) {}

    const Kept& kept() const { return kept_; }
    const Multiples& multiples() const { return multiples_; }
    double squares() const { return squares_; }

    // Somebody else has moved w, and lambda n ||w||^2 with it.
    void change_squares(double change) { squares_ += change; }

    void add(const Visited& seen) {
        squares_ += 2 * seen.along + seen.own;
        by_visits_ += multiples_.won_by(seen);
    }

    void end_round() {
        if (multiples_.pause.over()) {
            const Choice choice = choose(loss_, ray_of(loss_, alpha_, kept_.offset, 0, n_), squares_);
            const double c = multiples_.after(choice, by_visits_);
            if (c != 1) rescale(c);
        }
        by_visits_ = 0;
    }

    // From here on w is what it is again.
    void settle() {
        if (kept_.scale != 1) multiply(w_, 0, d_, kept_.scale);
        kept_.scale = 1;
    }

  private:
    static constexpr double short_w = 12;  // features in the nonzeros of a round, by what both cost: a fiftieth of its time

    // Where w is short it is multiplied at once: visits to short rows take a fortieth longer where they have to multiply.
    void rescale(double c) {
        multiply(alpha_, 0, n_, c);
        if (short_w * double(d_) * multiples_.pause.price < double(n_))
            multiply(w_, 0, d_, c);
        else
            kept_.scale *= c;
        if (kept_.scale < least_scale || kept_.scale > 1 / least_scale) settle();
        squares_ *= c * c;
    }

    const AnyLoss& loss_;
    const Size n_, d_;
    double *const alpha_, *const w_;
    Multiples multiples_;
    Kept kept_;
    double squares_, by_visits_ = 0;
};

}  // namespace dualfree
