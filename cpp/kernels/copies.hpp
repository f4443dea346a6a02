// dfSDCA in rounds on several parts, one for each thread, of which each has a copy of w. A round's visits are dealt out to
// the parts at random. Each part visits its own on its copy, with moves `sigma` times as large as they are, and then all
// moves are added up. The dual rises where sigma is at least ||sum_t move_t||^2 / sum_t ||move_t||^2, which is seen when they are
// added: where it is not, all moves are shortened by as much, and sigma follows what was seen.
// For one number of parts the answer is always the same, whichever threads work for them.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/dfsdca.hpp"
#include "kernels/parts.hpp"

namespace dualfree {

constexpr double sigma_margin = 1.1, sigma_memory = 0.9;

struct CopiesTask {
    const Rows& rows;
    const AnyLoss& loss;
    ImplicitStep step;
    double inverse;  // 1 / (lambda n)
    Rounds rounds;
    Size n, d;
    Size merges;     // in a round
    double* copies;  // parts times d
    double* alpha;
    double* w;
};

class Copies {
  public:
    Copies(const CopiesTask& task, int parts)
        : task_(task), parts_(std::size_t(parts)), dealer_(parts_, task.rounds, task.n, task.alpha) {
        for (int t = 0; t < parts; ++t) part(t).sum.resize(std::size_t(low(task.d, t + 1) - low(task.d, t)));
        moved_.reserve(std::size_t(task.rounds.count));  // a thread of the crew must not throw
        walked_.reserve(std::size_t(task.rounds.count));
    }

    // By all threads. What is learnt is the same in each: none has to tell the others. But where the first one waits for the
    // others most of the time, it lets them go, for such a wait may take milliseconds. That they come late is nothing: the first
    // round does not count.
    void run(Turn& turn, Unrest& unrest, double& sigma) {
        for (Size r = 0; r < task_.rounds.count; ++r) {
            dealer_.deal(turn, unrest, r);
            for (Size m = 0; m < task_.merges; ++m) {
                turn.each([&](int t) { visit(t, m, sigma); });
                turn.each([&](int t) { add_up(t, sigma); });
                merge(turn, m, sigma);
            }
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
            if (task_.rounds.asked_after(r) && answer(turn)) return;
        }
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

    Part& part(int t) { return parts_[std::size_t(t)]; }
    int parts() const { return int(parts_.size()); }
    Size low(Size size, int t) const { return cut(size, parts(), t); }

    double* copy_of(int t) const { return task_.copies + t * task_.d; }

    void visit(int t, Size m, double sigma) {
        Part& p = part(t);
        const double* w = task_.w;
        if (p.begun) {  // the features that it adds up are in its copy already
            std::copy(w, w + low(task_.d, t), copy_of(t));
            std::copy(w + low(task_.d, t + 1), w + task_.d, copy_of(t) + low(task_.d, t + 1));
        } else {
            std::copy(w, w + task_.d, copy_of(t));
            p.begun = true;
        }
        const Size first = cut(Size(p.visits.size()), task_.merges, m), last = cut(Size(p.visits.size()), task_.merges, m + 1);
        ImplicitStep step = task_.step;
        step.factor = sigma;
        p.latest = visit_each(task_.rows, task_.loss, step, sigma * task_.inverse, p.visits.data() + first, last - first, task_.alpha,
                              copy_of(t));
    }

    // Of the features that are this part's to add up. In most rounds no move is shortened, so w moves at once.
    void add_up(int t, double sigma) {
        const Size first = low(task_.d, t), last = low(task_.d, t + 1);
        part(t).apart = part(t).together = 0;
        for (Size from = first; from < last; from += block) add_block(t, from - first, from, std::min(block, last - from), 1 / sigma);
    }

    void add_block(int t, Size at, Size from, Size size, double factor) {
        Part& p = part(t);
        double apart = 0, together = 0;
        double *sum = p.sum.data() + at, *w = task_.w + from, *own = copy_of(t) + from;
        std::fill(sum, sum + size, 0.0);
        for (int s = 0; s < parts(); ++s) {
            const double* copy = copy_of(s) + from;
#pragma omp simd reduction(+ : apart)
            for (Size j = 0; j < size; ++j) {
                const double move = copy[j] - w[j];
                apart += move * move;
                sum[j] += move;
            }
        }
#pragma omp simd reduction(+ : together)
        for (Size j = 0; j < size; ++j) {
            together += sum[j] * sum[j];
            own[j] = w[j] += factor * sum[j];
        }
        p.apart += apart, p.together += together;
    }

    // Whether w is where it shall be, or was moved too far.
    void merge(Turn& turn, Size m, double& sigma) {
        double apart = 0, together = 0;
        for (const Part& p : parts_) apart += p.apart, together += p.together;
        const double ratio = apart > 0 ? together / apart : 1.0, gamma = std::min(1.0, sigma / ratio);
        for (int t = turn.first; t < turn.last; ++t) {
            part(t).moved += gamma * gamma * part(t).latest;
            part(t).walked += part(t).latest;
        }
        if (gamma < 1) turn.each([&](int t) { shorten(t, m, gamma, (gamma - 1) / sigma); });
        sigma = std::max({1.0, sigma_margin * ratio, 1 + sigma_memory * (sigma - 1)});
    }

    void shorten(int t, Size m, double gamma, double back) {
        Part& p = part(t);
        const Size first = low(task_.d, t), last = low(task_.d, t + 1);
        for (Size j = first; j < last; ++j) copy_of(t)[j] = task_.w[j] += back * p.sum[std::size_t(j - first)];
        const Size visits = Size(p.visits.size());
        for (Size k = cut(visits, task_.merges, m); k < cut(visits, task_.merges, m + 1); ++k) {
            double& now = task_.alpha[p.visits[std::size_t(k)]];
            now = p.before[std::size_t(k)] + gamma * (now - p.before[std::size_t(k)]);
        }
    }

    static constexpr Size block = 512;  // features at a time, for a first cache
    const CopiesTask task_;
    std::vector<Part> parts_;
    Dealer dealer_;
    std::vector<double> moved_, walked_;
    bool deserted_ = false;  // written before a barrier, read after it
};

}  // namespace dualfree
