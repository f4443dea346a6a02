// After a round of visits: the multiple of alpha, and of w with it, at which the dual
//     D(c alpha) = -(1/n) sum phi_i*(-c alpha_i) - (lambda/2) c^2 ||w||^2
// is about largest. Visits that come early do not know of those to come, and what examples share is found by each of them: all
// alpha are too large together, which one number mends, and visits one by one for a long time.
#pragma once
#include <algorithm>
#include <cmath>

#include "kernels/dfsdca.hpp"
#include "rays.hpp"

namespace dualfree {

// Rounds from one look at alpha to the next, and those that are left: a look costs a part of a round, its `price`, and where it wins
// too little for that, the next one comes later and later. What it wins is not won by the visits of many rounds, so that it may be a
// small part of what those of one have won; how small, was measured.
struct Pause {
    static constexpr Size longest = 64;
    static constexpr double patience = 6;
    Size length, left;
    double price;

    bool over() {
        left = std::max<Size>(left - 1, 0);
        return left == 0;
    }
    void learn(double won, double by_visits) {
        length = won > patience * price * price * by_visits ? 1 : std::min(2 * length, longest);
        left = length;
    }
};

// What is known from one call to the next.
struct Rescaled {
    Pause pause;
    double squares;  // lambda n ||w||^2; below zero where it is not known
};

class Rescaling {
  public:
    // `flatness`: 1 / l.
    Rescaling(const AnyLoss& loss, Size n, Size d, double offset, double inverse, double flatness, Rescaled known, double* alpha, double* w)
        : loss_(loss), n_(n), d_(d), inverse_(inverse), flatness_(flatness), alpha_(alpha), w_(w), now_(known), kept_{1.0, offset} {
        if (!(now_.squares >= 0)) settle();
    }

    const Kept& kept() const { return kept_; }
    const Rescaled& now() const { return now_; }
    Size times() const { return times_; }
    double growth() const { return growth_; }

    void add(const Visited& seen) {
        now_.squares += 2 * seen.along + seen.own;
        by_visits_ += 0.5 * (seen.own + flatness_ * seen.moved);
    }

    void end_round() {
        if (!now_.pause.over()) {
            by_visits_ = 0;
            return;
        }
        const double won = std::visit([this](const auto& loss) { return with_weights_known(loss, [this](const auto& l) { return rescale(l); }); }, loss_);
        now_.pause.learn(won, by_visits_);
        by_visits_ = 0;
    }

    // From here on w is what it is again; its length, where that is asked for by the way, is exact again as well.
    void settle() {
        const double scale = kept_.scale;
        if (scale == 1 && now_.squares >= 0) return;
        double squares = 0;
#pragma omp simd reduction(+ : squares)
        for (Size j = 0; j < d_; ++j) {
            w_[j] *= scale;
            squares += w_[j] * w_[j];
        }
        now_.squares = squares / inverse_;
        kept_.scale = 1;
    }

  private:
    static constexpr double short_w = 12;  // features in the nonzeros of a round, by what both cost: a fiftieth of its time
    static constexpr double worth_while = 1e-4;  // of what visits won: less is not worth a rounding of all alpha

    // What the dual has won by it, times n.
    template <class Scalar, class W>
    double rescale(const Losses<Scalar, W>& loss) {
        if constexpr (HasRay<Scalar>) {
            const Scalar f = loss.f;
            const W weight = loss.weight;
            const double *alpha = alpha_, *y = loss.y, offset = kept_.offset;  // all at hand, or it becomes slower SIMD
            double slope = now_.squares, curvature = now_.squares, largest = 0;
#pragma omp simd reduction(+ : slope, curvature) reduction(max : largest)
            for (Size i = 0; i < n_; ++i) {
                double k = 1, a = alpha[i];
                if constexpr (std::is_same_v<W, Weights>) k = weight[i], a = k > 0 ? a / k : 0.0;
                const double size = std::fabs(a);
                const Slope here = along_ray(f, a, y[i]);
                slope += k * (here.value + offset * a);
                curvature += k * here.derivative;
                largest = size > largest ? size : largest;
            }
            const double newton = std::clamp(-slope / curvature, -0.5, 1.0), c = best_multiple(f, newton, largest);
            const double won = (1 - c) * (slope + 0.5 * (c - 1) * curvature);
            if (!(won > worth_while * by_visits_)) return 0;
            multiply(c);
            return won;
        } else {
            return 0;
        }
    }

    // Where w is short it is multiplied at once: visits to short rows take a fortieth longer where they have to multiply.
    void multiply(double c) {
        for (Size i = 0; i < n_; ++i) alpha_[i] *= c;
        if (short_w * double(d_) * now_.pause.price < double(n_))
            for (Size j = 0; j < d_; ++j) w_[j] *= c;
        else
            kept_.scale *= c;
        now_.squares *= c * c;
        growth_ *= std::max(1.0, c);
        ++times_;
    }

    const AnyLoss& loss_;
    const Size n_, d_;
    const double inverse_, flatness_;
    double *const alpha_, *const w_;
    Rescaled now_;
    Kept kept_;
    double by_visits_ = 0;  // what the dual has won by the visits of the round at least, times n
    Size times_ = 0;
    double growth_ = 1;  // of alpha at most
};

}  // namespace dualfree
