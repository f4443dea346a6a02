// Rounds of visits to the examples that moved most when they were last visited.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/draws.hpp"
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

// The t with sum of min(1, u_i / t) = wanted over every `stride`-th example, to a hundredth; 0 where there is none.
inline double threshold(const double* u, Size n, Size stride, double wanted, double guess) {
    double t = guess > 0 ? guess : infinity;
    for (int round = 0; round < 200; ++round) {
        double rest = 0, above = 0;
#pragma omp simd reduction(+ : rest, above)
        for (Size i = 0; i < n; i += stride) {
            rest += u[i] <= t ? u[i] : 0.0;
            above += u[i] <= t ? 0.0 : 1.0;
        }
        const double next = above < wanted ? rest / (wanted - above) : 2 * t;
        if (!(next > 0 && std::isfinite(next))) return 0;
        if (std::fabs(next - t) <= 0.01 * t) return next;
        t = next;
    }
    return t;
}

// `count` distinct examples, i with probability of about min(1, u_i / t), in random order; out has room for n + 1.
// Systematic: the probabilities are laid end to end and every whole number that a random offset meets is a pick, so that
// one random word does for all. Somewhat more are picked than needed, and those that the shuffle puts last are left out.
inline void draw_restless(Word seed, Size round, const double* u, Size n, Size count, double& guess, Size* out) {
    Stream words(seed, 7, Word(round));
    const Size stride = n < 10'000 ? 1 : 7;  // a sample tells well enough
    const double more = stride == 1 ? 1.03 * double(count) + 1 : 1.1 * double(count);
    guess = threshold(u, n, stride, std::min(double(n), more) / double(stride), guess);
    Size kept = 0;
    if (guess > 0) {
        const double scale_to = 0x1.0p32 / guess;
        auto at = std::uint32_t(words.next());
        for (Size i = 0; i < n; ++i) {
            const auto next = at + std::uint32_t(std::int64_t(std::min(u[i] * scale_to, 4294967295.0)));
            out[kept] = i;
            kept += next < at;
            at = next;
        }
    }
    if (kept < count)  // nothing moves any more, or nothing is finite any more: all are alike
        for (kept = 0; kept < n; ++kept) out[kept] = kept;
    for (Size k = 0; k < count; ++k) std::swap(out[k], out[k + Size(scale(words.next(), Word(kept - k)).whole)]);
}

}  // namespace dualfree
