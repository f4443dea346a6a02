// Drawing sets of examples. Each step has its own random words (rng.hpp), so any run of steps can be drawn alone.
#pragma once
#include <cmath>
#include <utility>
#include <vector>

#include "rng.hpp"
#include "rows.hpp"

namespace dualfree {

// Which steps to draw: `count` of them from `first` on, under one seed.
struct Steps {
    Word seed;
    Size first, count;
};

// Serial draws need one word each, so four steps share a block of the generator.
template <class Use>
void one_word_each(const Steps& steps, Word stream, Use&& use) {
    std::array<Word, 4> block{};
    for (Size k = 0; k < steps.count; ++k) {
        const Word step = Word(steps.first + k);
        if (k == 0 || step % 4 == 0) block = philox({step / 4, 0, 0, 1}, {steps.seed, stream});
        use(k, block[step % 4]);
    }
}

inline void draw_uniform(const Steps& steps, Size n, Size* out) {
    one_word_each(steps, 0, [&](Size k, Word word) { out[k] = Size(scale(word, Word(n)).whole); });
}

// Alias table (Vose): cell k is k itself with probability keep[k] / 2^64, otherwise other[k].
inline void build_alias(const double* p, Size n, Word* keep, Size* other) {
    double total = 0;
    for (Size k = 0; k < n; ++k) total += p[k];
    std::vector<double> share(static_cast<std::size_t>(n));
    std::vector<Size> small, large;
    for (Size k = 0; k < n; ++k) {
        share[std::size_t(k)] = p[k] / total * double(n);
        other[k] = k;
        keep[k] = ~Word(0);
        (share[std::size_t(k)] < 1 ? small : large).push_back(k);
    }
    while (!small.empty() && !large.empty()) {
        const Size s = small.back(), l = large.back();
        small.pop_back();
        keep[s] = Word(share[std::size_t(s)] * 0x1.0p64);
        other[s] = l;
        share[std::size_t(l)] -= 1 - share[std::size_t(s)];
        if (share[std::size_t(l)] < 1) {
            large.pop_back();
            small.push_back(l);
        }
    }
}

inline Size pick(Word word, const Word* keep, const Size* other, Size n) {
    const auto [cell, coin] = scale(word, Word(n));
    return coin < keep[cell] ? Size(cell) : other[cell];
}

inline void draw_alias(const Steps& steps, const Word* keep, const Size* other, Size n, Size* out) {
    one_word_each(steps, 0, [&](Size k, Word word) { out[k] = pick(word, keep, other, n); });
}

// A random permutation (Fisher and Yates) for one epoch.
inline void draw_permutation(Word seed, Size epoch, Size n, Size* out) {
    Stream words(seed, 1, Word(epoch));
    for (Size k = 0; k < n; ++k) {
        const Size at = Size(scale(words.next(), Word(k + 1)).whole);
        out[k] = out[at];
        out[at] = k;
    }
}

// A random word for each k, for where there are many and none has to be beyond reproach (SplitMix64: Steele, Lea, Flood 2014).
inline Word quick_word(Word seed, Word k) {
    Word z = seed * 0xD1B54A32D192ED03u + (k + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// One number of each of `size` runs of about equal length that make up 0 .. n - 1; the k-th is of run k * stride, modulo size.
inline void draw_spread(Word seed, Size n, Size size, Size stride, Size* out) {
    const Size each = n / size, longer = n % size;  // the first runs have one more
    for (Size k = 0, run = 0; k < size; ++k) {
        const Size first = each * run + std::min(run, longer), length = each + (run < longer);
        out[k] = first + Size(scale(quick_word(seed, Word(run)), Word(length)).whole);
        run = run + stride < size ? run + stride : run + stride - size;
    }
}

// About `size` of 0 .. n - 1, each with the probability q = size * weight / total, or for sure where that is 1 or more; `given` is
// what each of them stands for, so that its mean is `share` times the weight. Returns how many are listed: at most size + 1, and n.
// Those with q < 1 lie side by side as stretches of length q on a line, and one point in each unit of it says who is drawn.
inline Size draw_by_weight(Word seed, const double* weight, Size n, Size size, double share, Size* out, double* given) {
    constexpr Size lanes = 8;
    double sums[lanes] = {}, total = 0;
    Size i = 0;
    for (; i + lanes <= n; i += lanes)
        for (Size lane = 0; lane < lanes; ++lane) sums[lane] += weight[i + lane];
    for (; i < n; ++i) sums[0] += weight[i];
    for (double sum : sums) total += sum;
    if (!(total > 0)) return 0;
    // Where in its unit each point is: multiples of the golden ratio, which have no period in common with the data.
    const double golden = 0.6180339887498949, start = unit(quick_word(seed, 0)), scale = double(size) / total;
    const double each = share * total / double(size);
    Size listed = 0;
    double reached = 0, passed = 0;
    const auto points_before = [&](double place) {
        const double whole = std::floor(place), turns = whole * golden + start;
        return whole + double(turns - std::floor(turns) < place - whole);
    };
    const Size most = std::min(n, size + 1);
    for (i = 0; i < n && listed < most; ++i) {  // no branch on what is drawn, which no processor can guess
        const double q = weight[i] * scale, unsure = q * double(q < 1);
        reached += unsure;
        const double now = points_before(reached), count = now - passed + (q - unsure);
        out[listed] = i;
        given[listed] = count * each;
        listed += count > 0;
        passed = now;
    }
    return listed;
}

// `tau` distinct numbers below `size` (Floyd); `mark[x] == stamp` says that x is in. Appends to out.
inline void draw_subset(Stream& words, Size size, Size tau, std::vector<Size>& mark, Size stamp, Size* out) {
    for (Size k = size - tau; k < size; ++k) {
        Size x = Size(scale(words.next(), Word(k + 1)).whole);
        if (mark[std::size_t(x)] == stamp) x = k;
        mark[std::size_t(x)] = stamp;
        *out++ = x;
    }
}

inline void draw_nice(const Steps& steps, Size n, Size tau, Size* out) {
    std::vector<Size> mark(std::size_t(n), -1);
    for (Size k = 0; k < steps.count; ++k) {
        Stream words(steps.seed, 2, Word(steps.first + k));
        draw_subset(words, n, tau, mark, k, out + k * tau);
    }
}

// tau of each part, independently; part c holds members[start[c]] .. members[start[c + 1]].
inline void draw_parts(const Steps& steps, const Size* members, const Size* start, Size parts, Size tau, Size* out) {
    std::vector<Size> mark(std::size_t(start[parts]), -1);
    for (Size k = 0; k < steps.count; ++k) {
        Stream words(steps.seed, 3, Word(steps.first + k));
        for (Size c = 0; c < parts; ++c, out += tau) {
            draw_subset(words, start[c + 1] - start[c], tau, mark, k * parts + c, out);
            for (Size e = 0; e < tau; ++e) out[e] = members[start[c] + out[e]];
        }
    }
}

// One of each bucket, by the bucket's own alias table.
inline void draw_buckets(const Steps& steps, const Size* members, const Size* start, Size buckets,
                         const Word* keep, const Size* other, Size* out) {
    for (Size k = 0; k < steps.count; ++k) {
        Stream words(steps.seed, 4, Word(steps.first + k));
        for (Size b = 0; b < buckets; ++b) {
            const Size first = start[b], size = start[b + 1] - first;
            *out++ = members[first + pick(words.next(), keep + first, other + first, size)];
        }
    }
}

// Each example by its own coin. Level b holds the examples with p_i <= 2^-b (and more than half of that, but for
// the last level): jump over misses at rate 2^-b, then accept with ratio p_i / 2^-b. Expected work: at most
// 2 sum(p) + levels, however large n is.
struct Levels {
    const Size* members;
    const Size* start;
    const double* ratio;  // in the order of members
    Size count;
};

inline void draw_independent(const Steps& steps, const Levels& levels, std::vector<Size>& indices,
                             std::vector<Size>& start) {
    start.push_back(0);
    for (Size k = 0; k < steps.count; ++k) {
        Stream words(steps.seed, 5, Word(steps.first + k));
        for (Size b = 0; b < levels.count; ++b) {
            const double log_miss = std::log1p(-std::ldexp(1.0, int(-b)));  // -inf on level 0: no jumps
            const double size = double(levels.start[b + 1] - levels.start[b]);
            for (double at = 0;; at += 1) {
                if (b > 0) at += std::floor(std::log1p(-unit(words.next())) / log_miss);
                if (!(at < size)) break;
                const Size cell = levels.start[b] + Size(at);
                if (unit(words.next()) < levels.ratio[cell]) indices.push_back(levels.members[cell]);
            }
        }
        start.push_back(Size(indices.size()));
    }
}

}  // namespace dualfree
