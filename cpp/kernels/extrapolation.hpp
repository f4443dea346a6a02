// Every few rounds of visits: the point of the line through alpha and where it was the time before,
//     alpha + t (alpha - before),
// and w with it, at which the dual is about largest. Where examples have much in common, visits go the same way for many epochs, and
// t is the momentum that takes them there.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/line.hpp"
#include "kernels/rescaling.hpp"
#include "kernels/turn.hpp"

namespace dualfree {

// What a run knows of it: it goes from one call to the next, and is the same in each thread.
struct Momentum {
    // Measured. Less than for multiples: one jump prepares the next, and a run that pauses has to find its way anew.
    static constexpr double least = 0.4;
    Pause pause{1, 1, 0};
    bool known = false;  // whether there is a place where alpha was
    double fresh = 0;    // roundings of w since it was there: what they took w off by grows as alpha - before does
    double by_visits = 0;  // what these have won since then, times n
    // In one call: how often alpha went along the line, how many roundings that is worth, and what alpha moved, squared.
    Size times = 0;
    double roundings = 0, moved = 0;

    void add(double won, Size visits) {
        by_visits += won;
        fresh += double(visits);
    }

    // What roundings of w make of lambda n ||w||^2 / 2 along the line, as a part of it. What is won must be above that, or it may be
    // noise, which grows with each step that goes along it.
    double doubt(double t) const {
        constexpr double unit = 0x1p-48;
        return std::fabs(t) * unit * std::sqrt(fresh);
    }

    void move(double t, double square, Size held) {
        const double own = 3 + double(held);  // alpha, w and their difference, and a visit for each that is held
        fresh = std::fabs(t) * fresh + own;
        roundings += fresh;
        moved += square;
        ++times;
    }

    // Alpha may have gone along the line, and `before` is where it was.
    void end_try(double won) {
        if (!(won > 0)) fresh = 0;
        if (known)
            pause.learn(won, by_visits, least);
        else
            pause.left = pause.unit;
        known = true;
        by_visits = 0;
    }
};

// The present point and where it was before, and what they belong to.
struct Line {
    const Rows& rows;
    const AnyLoss& loss;
    Size n, d;
    double inverse;  // 1 / (lambda n)
    double *alpha, *w, *alpha_before, *w_before;
};

// In parts, of which each has its own examples and its own features; one for each thread.
class Extrapolation {
  public:
    Extrapolation(const Line& line, int parts) : line_(line), parts_(std::size_t(parts)) {
        for (Part& p : parts_) p.held.make_room(line.n / parts);  // a thread of a crew must not throw
    }

    // What `momentum` tells is the same in each thread. Returns what lambda n ||w||^2 has grown by.
    double end_round(Turn& turn, Momentum& momentum, double offset) {
        const Line& l = line_;
        Way way;
        if (momentum.known) way = go_along_line(turn, momentum, offset);
        if (!momentum.known)
            copy(turn, l.alpha, l.w, l.alpha_before, l.w_before);
        else if (!(way.won > 0))
            copy(turn, l.alpha_before, l.w_before, l.alpha, l.w);
        momentum.end_try(way.won);
        return way.won > 0 ? 2 * way.squares : 0.0;
    }

  private:
    struct alignas(64) Part {
        Bend examples, features;
        Gone gone;
        Held held;
    };
    // What the dual wins, and what lambda n ||w||^2 / 2 grows by; both times n.
    struct Way {
        double won = 0, squares = 0;
    };

    Part& part(int t) { return parts_[std::size_t(t)]; }
    Size low(Size size, int t) const { return cut(size, Size(parts_.size()), t); }

    void copy(Turn& turn, const double* alpha, const double* w, double* to_alpha, double* to_w) {
        turn.each([&](int t) {
            std::copy(alpha + low(line_.n, t), alpha + low(line_.n, t + 1), to_alpha + low(line_.n, t));
            std::copy(w + low(line_.d, t), w + low(line_.d, t + 1), to_w + low(line_.d, t));
        });
    }

    // Nothing is won where it should not have gone. The first part mends w where some examples are held.
    Way go_along_line(Turn& turn, Momentum& momentum, double offset) {
        const Line& l = line_;
        turn.each([&](int t) {
            part(t).examples = bend_of(l.loss, l.alpha, l.alpha_before, offset, low(l.n, t), low(l.n, t + 1));
            part(t).features = bend_of(l.w, l.w_before, low(l.d, t), low(l.d, t + 1));
        });
        Bend all, features;
        for (const Part& p : parts_) all.add(p.examples), features.add(p.features, 1 / l.inverse);
        all.add(features);
        const double step = all.best();
        turn.each([&](int t) {
            part(t).held.clear();
            part(t).gone = go_along(l.loss, step, offset, l.alpha, l.alpha_before, low(l.n, t), low(l.n, t + 1), part(t).held);
            go_along(step, l.w, l.w_before, low(l.d, t), low(l.d, t + 1));
        });
        Gone gone;
        Size held = 0;
        for (const Part& p : parts_) {
            if (p.held.too_many) return {};
            gone.add(p.gone);
            held += Size(p.held.examples.size());
        }
        const double squares = features.change(step) + (held > 0 ? mend(turn) : 0.0), won = -(gone.grown + squares);
        if (!(won > momentum.doubt(step) * features.size)) return {};
        momentum.move(step, gone.moved, held);
        return {won, squares};
    }

    // What lambda n ||w||^2 / 2 grows by.
    double mend(Turn& turn) {
        turn.each([&](int t) {
            if (t > 0) return;
            mended_ = 0;
            for (const Part& p : parts_) mended_ += hold_back(line_.rows, p.held, line_.inverse, line_.w);
        });
        return mended_;
    }

    const Line line_;
    std::vector<Part> parts_;
    double mended_ = 0;  // by the first thread, for all
};

}  // namespace dualfree
