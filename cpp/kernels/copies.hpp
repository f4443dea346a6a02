// dfSDCA in rounds on several parts, one for each thread, of which each has a copy of w. A round's visits are dealt out to
// the parts at random. Each part visits its own on its copy, with moves `sigma` times as large as they are, and then all
// moves are added up: those of the features that most examples share several times before, between stretches of visits.
// The dual rises where sigma sum_t ||move_t||^2 is at least ||sum_t move_t||^2, with a popular feature's moves of each stretch for
// themselves, and both are seen when moves are added: where it is not, all moves are shortened by as much as it takes, and sigma
// follows what was seen.
// For one number of parts the answer is always the same, whichever threads work for them.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/dfsdca.hpp"
#include "kernels/extrapolation.hpp"
#include "kernels/parts.hpp"
#include "kernels/popular.hpp"

namespace dualfree {

constexpr double sigma_margin = 1.1, sigma_memory = 0.9;
constexpr double least_share = 0.5;  // of its moves that a block must keep, or it hears of others too late to be in stretches

struct CopiesTask {
    const Rows& rows;
    const AnyLoss& loss;
    ImplicitStep step;
    double inverse;  // 1 / (lambda n)
    Rounds rounds;
    Size n, d;
    Size merges;  // in a round
    const Size* popular;
    Size popular_count;
    bool rescales;
    double* room;  // as much as Copies::room_for says
    double* alpha;
    double* w;
};

// What a run has taught; the same in each thread.
struct Pace {
    double sigma;
    Size stretches;  // of visits, from one time that all is added up to the next
    Multiples multiples;
    Kept kept;
    Momentum momentum;
};

class Copies {
  public:
    // `line`: to go along, or none.
    Copies(const CopiesTask& task, int parts, const std::optional<Line>& line)
        : task_(task), parts_(std::size_t(parts)), dealer_(parts_, task.rounds, task.n, task.alpha),
          all_{task.d, task.w, task.room, parts}, popular_(task.popular, task.popular_count, parts, task.room + (parts + 1) * task.d) {
        for (int t = 0; t < parts; ++t) part(t).sum = task.room + parts * task.d + low(task.d, t);
        if (line) line_.emplace(*line, parts);
        moved_.reserve(std::size_t(task.rounds.count));  // a thread of the crew must not throw
        walked_.reserve(std::size_t(task.rounds.count));
    }

    // Copies of w, sums of moves, and the same for popular features: memory that is used again from one call to the next, since
    // fresh memory costs as much time as it takes to fill it, and more.
    static Size room_for(int parts, Size d, Size popular) { return (parts + 1) * d + Popular::room_for(parts, popular); }

    // By all threads. What is learnt is the same in each: none has to tell the others. But where the first one waits for the
    // others most of the time, it lets them go, for such a wait may take milliseconds, and does their work until the next question.
    // That they come late is nothing: the first round does not count.
    void run(Turn& turn, Unrest& unrest, Pace& pace) {
        for (Size r = 0; r < task_.rounds.count; ++r) {
            dealer_.deal(turn, unrest, r);
            for (Size m = 0; m < task_.merges; ++m) run_block(turn, m, pace);
            if (turn.first == 0 && r > 1 && turn.deserted()) deserted_ = true;
            turn.each([&](int t) {
                const Part& p = part(t);
                unrest.learn_from(p.visits.data(), Size(p.visits.size()), p.before.data(), task_.alpha);
            });
            if (r == 0) turn.count_from_now();
            if (deserted_ && turn.first > 0) return;
            if (deserted_) turn.go_alone(parts());
            if (unrest.grow()) turn.each([&](int t) { unrest.rescale(low(task_.n, t), low(task_.n, t + 1)); });
            unrest.begin_again();
            if (task_.rescales) rescale(turn, pace);
            if (line_) extrapolate(turn, pace, task_.rounds.visits(r));
            if (task_.rounds.asked_after(r) && (answer(turn) || deserted_)) break;
        }
        settle(turn, pace);
    }

    // What alpha has moved, and would have moved, for each question.
    const std::vector<double>& moved() const { return moved_; }
    const std::vector<double>& walked() const { return walked_; }
    bool deserted() const { return deserted_; }

  private:
    double over_parts(double Part::* number) const {
        double sum = 0;
        for (const Part& p : parts_) sum += p.*number;
        return sum;
    }

    // Whether it may be done; all threads come to the same conclusion, and the first one writes it down.
    bool answer(Turn& turn) {
        const double moved = over_parts(&Part::moved), walked = over_parts(&Part::walked);
        if (turn.first == 0) moved_.push_back(moved), walked_.push_back(walked);
        turn.each([](int) {});  // all have seen it
        for (int t = turn.first; t < turn.last; ++t) part(t).moved = part(t).walked = 0;
        return task_.rounds.may_be_done(moved);
    }

    // All alpha and w by one number: see rescaling.hpp. That of w waits for the end of the call.
    void rescale(Turn& turn, Pace& pace) {
        if (!pace.multiples.pause.over()) return;
        turn.each([&](int t) {
            const Ray ray = ray_of(task_.loss, task_.alpha, pace.kept.offset, low(task_.n, t), low(task_.n, t + 1));
            const double* own = task_.w + low(task_.d, t);
            part(t).look = {ray, inner(own, 1, own, 1, low(task_.d, t + 1) - low(task_.d, t)), part(t).won};
        });
        Look all;
        for (const Part& p : parts_) all.ray.add(p.look.ray), all.squares += p.look.squares, all.won += p.look.won;
        const double squares = all.squares * pace.kept.scale * pace.kept.scale / task_.inverse;
        const double c = pace.multiples.after(choose(task_.loss, all.ray, squares), all.won);
        if (c == 1) return;
        turn.each([&](int t) { multiply(task_.alpha, low(task_.n, t), low(task_.n, t + 1), c); });
        pace.kept.scale *= c;
    }

    // From here on w is what it is again.
    void settle(Turn& turn, Pace& pace) {
        if (pace.kept.scale == 1) return;
        turn.each([&](int t) { multiply(task_.w, low(task_.d, t), low(task_.d, t + 1), pace.kept.scale); });
        pace.kept.scale = 1;
    }

    // Along the line through alpha and where it was: see extrapolation.hpp.
    void extrapolate(Turn& turn, Pace& pace, Size visits) {
        pace.momentum.add(over_parts(&Part::won), visits);
        if (!pace.momentum.pause.over()) return;
        settle(turn, pace);
        line_->end_round(turn, pace.momentum, pace.kept.offset);
        for (int t = turn.first; t < turn.last; ++t) part(t).begun = false;
    }

    Part& part(int t) { return parts_[std::size_t(t)]; }
    int parts() const { return int(parts_.size()); }
    Size low(Size size, int t) const { return cut(size, parts(), t); }

    // The visits of part t in block m.
    std::pair<Size, Size> visits_of(int t, Size m) const {
        const Size size = Size(parts_[std::size_t(t)].visits.size());
        return {cut(size, task_.merges, m), cut(size, task_.merges, m + 1)};
    }

    void run_block(Turn& turn, Size m, Pace& pace) {
        for (Size s = 0; s < pace.stretches; ++s) {
            turn.each([&](int t) { visit(t, m, s, pace); });
            if (s + 1 < pace.stretches) turn.each([&](int t) { exchange_popular(t, s, pace.sigma); });
        }
        turn.each([&](int t) { add_up(t, pace); });
        merge(turn, m, pace);
    }

    void visit(int t, Size m, Size s, const Pace& pace) {
        Part& p = part(t);
        if (s > 0)
            popular_.spread(all_.copy_of(t));
        else
            begin_block(t);
        const auto [begin, end] = visits_of(t, m);
        const Size first = begin + cut(end - begin, pace.stretches, s), last = begin + cut(end - begin, pace.stretches, s + 1);
        ImplicitStep step = task_.step;
        step.factor = pace.sigma;
        const Visited seen = visit_each(task_.rows, task_.loss, step, pace.sigma * task_.inverse, p.visits.data() + first, last - first,
                                        task_.alpha, all_.copy_of(t), pace.kept);
        p.latest += seen.moved;
        p.won = (m == 0 && s == 0 ? 0.0 : p.won) + pace.multiples.won_by(seen);
        if (s + 1 < pace.stretches) popular_.gather(t, all_.copy_of(t));
    }

    void begin_block(int t) {
        Part& p = part(t);
        double *copy = all_.copy_of(t), *w = task_.w;
        p.latest = 0;
        if (p.begun) {  // the features that it adds up are in its copy already
            std::copy(w, w + low(task_.d, t), copy);
            std::copy(w + low(task_.d, t + 1), w + task_.d, copy + low(task_.d, t + 1));
            return;
        }
        std::copy(w, w + task_.d, copy);
        popular_.begin(w, {low(popular_.size(), t), low(popular_.size(), t + 1)});
        p.begun = true;
    }

    // Of the popular features that are this part's to add up.
    void exchange_popular(int t, Size s, double sigma) {
        Part& p = part(t);
        if (s == 0) p.moves = {};
        const Size first = low(popular_.size(), t), last = low(popular_.size(), t + 1);
        p.moves.add(popular_.exchange().add_up(t, first, last, 1 / sigma, p.sum));
    }

    // Of all features that are this part's to add up. In most blocks no move is shortened, so w moves at once.
    void add_up(int t, const Pace& pace) {
        Part& p = part(t);
        const Size first = low(task_.d, t), last = low(task_.d, t + 1);
        if (pace.stretches == 1) {
            p.moves = all_.add_up(t, first, last, 1 / pace.sigma, p.sum);
            return;
        }
        const auto own = popular_.within(first, last);
        popular_.end(task_.w, own);
        p.moves.add(all_.add_up(t, first, last, 1 / pace.sigma, p.sum));
        popular_.begin(task_.w, own);
    }

    // Whether w is where it shall be, or was moved too far.
    void merge(Turn& turn, Size m, Pace& pace) {
        Moves moves;
        for (const Part& p : parts_) moves.add(p.moves);
        const double ratio = moves.apart > 0 ? moves.together / moves.apart : 1.0, sigma = pace.sigma;
        const double gamma = ratio > sigma ? shorten_all(turn, m, pace, moves.together - sigma * moves.apart) : 1.0;
        for (int t = turn.first; t < turn.last; ++t) {
            part(t).moved += gamma * gamma * part(t).latest;
            part(t).walked += part(t).latest;
        }
        pace.sigma = std::max({1.0, sigma_margin * ratio, 1 + sigma_memory * (sigma - 1)});
        if (gamma < least_share) pace.stretches = 1;
    }

    // By a gamma such that the dual rises by at least gamma times what the visits have won by their own reckoning.
    double shorten_all(Turn& turn, Size m, const Pace& pace, double excess) {
        turn.each([&](int t) { part(t).way = way_of(t, pace); });
        const double gamma = std::max(0.0, 1 - excess / over_parts(&Part::way));
        turn.each([&](int t) { shorten(t, m, gamma, pace); });
        return gamma;
    }

    // sigma^2 times what this part's features have moved since the block began, squared.
    double way_of(int t, const Pace& pace) {
        const Size first = low(task_.d, t), last = low(task_.d, t + 1);
        const double* sum = part(t).sum;
        double way = 0;
        for (Size j = first; j < last; ++j) way += sum[j - first] * sum[j - first];
        if (pace.stretches == 1) return way;
        popular_.since(popular_.within(first, last), [&](Size j, double began) {
            const double latest = sum[j - first], whole = pace.sigma * (task_.w[j] - began);
            way += whole * whole - latest * latest;
        });
        return way;
    }

    void shorten(int t, Size m, double gamma, const Pace& pace) {
        Part& p = part(t);
        const Size first = low(task_.d, t), last = low(task_.d, t + 1);
        const double back = (gamma - 1) / pace.sigma;
        double *w = task_.w, *copy = all_.copy_of(t);
        if (pace.stretches > 1) {  // the sum of a popular feature becomes what takes it back as far
            popular_.since(popular_.within(first, last), [&](Size j, double began) { p.sum[j - first] = pace.sigma * (w[j] - began); });
        }
        for (Size j = first; j < last; ++j) copy[j] = w[j] += back * p.sum[j - first];
        if (pace.stretches > 1) popular_.begin(w, popular_.within(first, last));
        const auto [from, to] = visits_of(t, m);
        for (Size k = from; k < to; ++k) {
            double& now = task_.alpha[p.visits[std::size_t(k)]];
            now = p.before[std::size_t(k)] + gamma * (now - p.before[std::size_t(k)]);
        }
    }

    const CopiesTask task_;
    std::vector<Part> parts_;
    Dealer dealer_;
    const Exchange all_;
    const Popular popular_;
    std::optional<Extrapolation> line_;
    std::vector<double> moved_, walked_;
    bool deserted_ = false;  // written before a barrier, read after it
};

}  // namespace dualfree
