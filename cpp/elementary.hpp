// exp and log without branches and tables, so that a loop over them becomes SIMD, within 2 units of the last place; and one exp
// for a single number that is waited for.
#pragma once
#include <bit>
#include <cstdint>

#include "rows.hpp"

namespace dualfree {

// exp(x) for x <= 0. Below -708, where the result would not be a normal number, it is zero.
DUALFREE_INLINE double exponential(double x) {
    constexpr double per_octave = 1.4426950408889634074, high = 6.93147180369123816490e-01,
                     low = 1.90821492927058770002e-10;  // 1 / log 2, and log 2 in two parts
    constexpr double shift = 0x1.8p52;                  // adding it rounds to a whole number, kept in the last bits
    const double bounded = x < -708.0 ? -708.0 : x;
    const double shifted = bounded * per_octave + shift, octaves = shifted - shift;
    const double r = (bounded - octaves * high) - octaves * low, r2 = r * r, r4 = r2 * r2;
    // Taylor's series up to r^12, in pairs (Estrin): |r| <= log(2) / 2.
    const double a = (1 + r) + r2 * (0.5 + r * (1.0 / 6));
    const double b = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
    const double c = (1.0 / 40320 + r * (1.0 / 362880)) +
                     r2 * ((1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600));
    const double fraction = a + r4 * (b + r4 * c);
    const std::int64_t scaled = std::bit_cast<std::int64_t>(fraction) + (std::bit_cast<std::int64_t>(shifted) << 52);
    return x < -708.0 ? 0.0 : std::bit_cast<double>(scaled);
}

// 2^(k / 64) for k = 0 .. 63
struct RootsOfTwo {
    double power[64] = {};
    constexpr RootsOfTwo() {
        for (int k = 0; k < 64; ++k) {
            long double sum = 1, term = 1;
            for (int j = 1; j < 30; ++j) term *= k * (0.693147180559945309417L / 64) / j, sum += term;
            power[k] = double(sum);
        }
    }
};
inline constexpr RootsOfTwo roots_of_two;

// The same for one x that something waits for: by a table the series is short, and the latency 60 % of that above; in a loop
// of its own it would not become SIMD. As exact as x is: one rounding of log 2 moves x by a unit of its last place.
DUALFREE_INLINE double prompt_exponential(double x) {
    constexpr double per_step = 64 * 1.4426950408889634074, step = 0.69314718055994530942 / 64, shift = 0x1.8p52;
    const double bounded = x < -708.0 ? -708.0 : x;
    const double shifted = bounded * per_step + shift, steps = shifted - shift;
    const double r = bounded - steps * step, r2 = r * r;
    const double beyond = r + r2 * ((0.5 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120)));  // exp(r) - 1
    const std::int64_t whole = std::bit_cast<std::int64_t>(shifted);
    const double power = std::bit_cast<double>(std::bit_cast<std::int64_t>(roots_of_two.power[whole & 63]) + ((whole >> 6) << 52));
    return power + power * beyond;
}

// 2 artanh(s) for |s| <= artanh_reach, by its series.
constexpr double artanh_reach = 0.2;
DUALFREE_INLINE double twice_artanh(double s) {
    const double q = s * s, q2 = q * q, q4 = q2 * q2;
    const double a = (1 + q * (1.0 / 3)) + q2 * (1.0 / 5 + q * (1.0 / 7));
    const double b = (1.0 / 9 + q * (1.0 / 11)) + q2 * (1.0 / 13 + q * (1.0 / 15));
    const double c = (1.0 / 17 + q * (1.0 / 19)) + q2 * (1.0 / 21 + q * (1.0 / 23));
    return 2 * s * (a + q4 * (b + q4 * c));
}

// 2 (artanh(s) - s), in the same way.
DUALFREE_INLINE double twice_artanh_beyond(double s) {
    const double q = s * s, q2 = q * q, q4 = q2 * q2;
    const double a = (1.0 / 3 + q * (1.0 / 5)) + q2 * (1.0 / 7 + q * (1.0 / 9));
    const double b = (1.0 / 11 + q * (1.0 / 13)) + q2 * (1.0 / 15 + q * (1.0 / 17));
    return 2 * s * q * (a + q4 * (b + q4 * (1.0 / 19 + q * (1.0 / 21))));
}

// log(1 + x) for 0 <= x <= 1
DUALFREE_INLINE double log_one_plus(double x) {
    const bool far = x > 0.5;  // then log(1.5) + log(1 + (x - 0.5) / 1.5)
    const double u = far ? (x - 0.5) * (1 / 1.5) : x;
    const double shift = u > 0.25 ? 0.25 : 0.0;  // and the same once more, at 1.25
    const double base = (far ? 0.40546510810816438198 : 0.0) + (u > 0.25 ? 0.22314355131420975577 : 0.0);
    return base + twice_artanh((u - shift) / (2 + shift + u));
}

// log(x) for normal x > 0
DUALFREE_INLINE double logarithm(double x) {
    constexpr std::int64_t root_half = 0x3fe6a09e667f3bcd, magic_bits = 0x4338000000000000;
    constexpr double magic = 0x1.8p52, high = 6.93147180369123816490e-01, low = 1.90821492927058770002e-10;
    const std::int64_t bits = std::bit_cast<std::int64_t>(x);
    // The exponent, made positive before the shift: there is no arithmetic shift of 64 bits in AVX2.
    const std::uint64_t biased = std::uint64_t(bits - root_half + (std::int64_t(2048) << 52)) >> 52;
    const std::int64_t octaves = std::int64_t(biased) - 2048;
    const double k = std::bit_cast<double>(octaves + magic_bits) - magic;
    const double m = std::bit_cast<double>(bits - std::int64_t(std::uint64_t(octaves) << 52));  // in [sqrt 1/2, sqrt 2)
    return (twice_artanh((m - 1) / (m + 1)) + k * low) + k * high;
}

}  // namespace dualfree
