// Rounds of visits to the examples that moved most when they were last visited.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/draws.hpp"
#include "kernels/picks.hpp"
#include "losses.hpp"

namespace dualfree {

// What a round's visits have taught: u_i = factor size_i |alpha_i - what it was before|, but at least `least`. Example i has
// `outputs` numbers in alpha, or those from start[i] on.
inline void learn_unrest(const Size* visited, Size count, const double* before, const double* alpha, Size outputs,
                         const Size* start, const double* size, double factor, double least, double* u) {
    if (outputs == 1 && !start) {
        for (Size k = 0; k < count; ++k) {
            const Size i = visited[k];
            u[i] = std::max(least, factor * size[i] * std::fabs(alpha[i] - before[k]));
        }
        return;
    }
    for (Size k = 0; k < count; ++k) {
        const Size i = visited[k], first = start ? start[i] : i * outputs, last = start ? start[i + 1] : first + outputs;
        double squares = 0;
        for (Size at = first; at < last; ++at, ++before) squares += (alpha[at] - *before) * (alpha[at] - *before);
        u[i] = std::max(least, factor * size[i] * std::sqrt(squares));
    }
}

// What min(1, u_i / t) adds up to, times t: the u_i up to t, and how many are above it.
struct Shares {
    static constexpr Size line = 8;  // numbers side by side that come from memory together
    double rest[line] = {}, above[line] = {};

    DUALFREE_INLINE void add(Size lane, double u, double t) {
        rest[lane] += u <= t ? u : 0.0;
        above[lane] += u <= t ? 0.0 : 1.0;
    }

    static double sum(const double* lanes) {
        double all = 0;
        for (Size lane = 0; lane < line; ++lane) all += lanes[lane];
        return all;
    }
};

// Of one line in every `stride`.
inline Shares shares_of(const double* u, Size n, Size stride, double t) {
    constexpr Size line = Shares::line;
    Shares shares;
    Size at = 0;
    for (; at + line <= n; at += stride * line)
#pragma omp simd
        for (Size lane = 0; lane < line; ++lane) shares.add(lane, u[at + lane], t);
    for (Size lane = 0; at + lane < n; ++lane) shares.add(lane, u[at + lane], t);
    return shares;
}

// The t with sum of min(1, u_i / t) = wanted over every `stride`-th line of examples, to a hundredth; 0 where there is none.
inline double threshold(const double* u, Size n, Size stride, double wanted, double guess) {
    double t = guess > 0 ? guess : infinity;
    for (int round = 0; round < 200; ++round) {
        const Shares shares = shares_of(u, n, stride, t);
        const double rest = Shares::sum(shares.rest), above = Shares::sum(shares.above);
        const double next = above < wanted ? rest / (wanted - above) : 2 * t;
        if (!(next > 0 && std::isfinite(next))) return 0;
        if (std::isfinite(t) && std::fabs(next - t) <= 0.01 * t) return next;
        t = next;
    }
    return t;
}

// The t of a round of `count` visits to n examples, and somewhat more: see below.
inline double round_threshold(const double* u, Size n, Size count, double guess) {
    const Size stride = n < 10'000 ? 1 : 7;  // a sample tells well enough
    const double more = stride == 1 ? 1.03 * double(count) + 1 : 1.1 * double(count);
    return threshold(u, n, stride, std::min(double(n), more) / double(stride), guess);
}

// `count` of the `kept` entries of `out`, at random and in random order, come first.
inline void shuffle_first(Word seed, Size count, Size kept, Size* out) {
    for (Size k = 0; k < count; ++k) std::swap(out[k], out[k + Size(scale(quick_word(seed, Word(k)), Word(kept - k)).whole)]);
}

// Visits to many examples, whose rows and numbers come from memory: what neighbours have in a line or a page shall come once for all
// of them, though data may be sorted. So runs of neighbours are in random order, and the visits of some hundred runs, a window, are
// too.
constexpr Size run_of_neighbours = 32, window_of_visits = 16'384;

inline Size runs_of(Size kept) { return (kept + run_of_neighbours - 1) / run_of_neighbours; }

// `count` of the examples picked(0) .. picked(kept - 1), which are in rising order. `runs` is room for runs_of(kept).
template <class Picked>
void order_by_windows(Word seed, Size count, Size kept, const Picked& picked, Size* runs, Size* out) {
    const Size number = runs_of(kept);
    for (Size r = 0; r < number; ++r) runs[r] = r * run_of_neighbours;
    shuffle_first(seed, number, number, runs);
    Size at = 0;
    for (Size r = 0; r < number && at < count; ++r) {
        const Size last = std::min({runs[r] + run_of_neighbours, kept, runs[r] + count - at});
        for (Size k = runs[r]; k < last; ++k) out[at++] = picked(k);
    }
    for (Size from = 0; from < count; from += window_of_visits) {
        const Size size = std::min(window_of_visits, count - from);
        shuffle_first(quick_word(seed, Word(number + from)), size, size, out + from);
    }
}

// The visits: `count` of the `kept` examples that are picked, where `near` is true by windows. They are where it says, among the
// `room` numbers from `picked` on.
inline const Size* order_visits(Word seed, Size count, Size kept, Size* picked, Size room, bool near) {
    const Size runs = runs_of(kept);
    if (!near || kept + runs + count > room) {
        shuffle_first(seed, count, kept, picked);
        return picked;
    }
    Size *order = picked + kept, *out = order + runs;
    order_by_windows(seed, count, kept, [picked](Size k) { return picked[k]; }, order, out);
    return out;
}

// `count` distinct examples, i with probability of about min(1, u_i / t), in random order or by windows: they are where it says,
// in `room` for n + 1. Somewhat more are picked than needed, and those that come last are left out.
inline const Size* draw_restless(Word seed, Size round, const double* u, Size n, Size count, bool near, double& guess, Size* room) {
    Stream words(seed, 7, Word(round));
    guess = round_threshold(u, n, count, guess);
    Size kept = guess > 0 ? pick_restless(u, 0, n, guess, words.next(), room) : 0;
    if (kept < count)  // nothing moves any more, or nothing is finite any more: all are alike
        for (kept = 0; kept < n; ++kept) room[kept] = kept;
    return order_visits(words.next(), count, kept, room, n, near);
}

// All examples, for the first epoch.
inline void draw_by_windows(Word seed, Size n, Size* runs, Size* out) {
    Stream words(seed, 7, ~Word(0));
    order_by_windows(words.next(), n, n, [](Size k) { return k; }, runs, out);
}

}  // namespace dualfree
