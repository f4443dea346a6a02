// Examples of a round that are picked by probabilities of their own.
#pragma once
#include <algorithm>
#if defined(__AVX512DQ__)
#include <immintrin.h>
#endif

#include "basics.hpp"
#include "rng.hpp"

namespace dualfree {

// Probabilities are laid end to end, as multiples of 2^-31, and every whole number that a random offset meets is a pick. `at` is how
// far they reach; it may run over, so that a pick is where its highest bit changes.
struct Picks {
    static constexpr std::uint32_t one = 1u << 31;
    const double scale;
    std::uint32_t at;
    Size kept = 0;

    void one_by_one(const double* u, Size first, Size last, Size* out) {
        constexpr Size block = 256;  // at a time, so that probabilities become whole numbers by SIMD
        std::uint32_t step[block];
        at %= one;
        for (Size from = first; from < last; from += block) {
            const Size size = std::min(block, last - from);
            for (Size k = 0; k < size; ++k) step[k] = std::uint32_t(std::int32_t(std::min(u[from + k] * scale, double(one - 1))));
            for (Size k = 0; k < size; ++k) {
                at += step[k];
                out[kept] = from + k;
                kept += at / one;
                at %= one;
            }
        }
    }

#if defined(__AVX512DQ__)
    static constexpr Size at_once = 16;

    // The same, sixteen at a time: no addition waits for more than the one of the sixteen before. Returns the first that is left.
    Size by_sixteen(const double* u, Size first, Size last, Size* out) {
        const __m512i none = _mm512_setzero_si512(), highest = _mm512_set1_epi32(at_once - 1), half = _mm512_set1_epi64(at_once / 2);
        __m512i reached = _mm512_set1_epi32(int(at));  // by those before
        __m512i example = _mm512_add_epi64(_mm512_set1_epi64(first), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
        const auto keep = [&](unsigned picked) {  // it writes eight, and so many examples have been looked at or will be at once
            _mm512_storeu_si512(out + kept, _mm512_maskz_compress_epi64(__mmask8(picked), example));
            kept += __builtin_popcount(picked);
            example = _mm512_add_epi64(example, half);
        };
        Size i = first;
        for (; i + at_once <= last; i += at_once) {
            __m512i sum = _mm512_inserti64x4(_mm512_castsi256_si512(steps(u + i)), steps(u + i + at_once / 2), 1);
            sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, none, 15));
            sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, none, 14));
            sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, none, 12));
            sum = _mm512_add_epi32(_mm512_add_epi32(sum, _mm512_alignr_epi32(sum, none, 8)), reached);
            const unsigned picked = _mm512_movepi32_mask(_mm512_xor_si512(sum, _mm512_alignr_epi32(sum, reached, 15)));
            reached = _mm512_permutexvar_epi32(highest, sum);
            keep(picked & 0xff);
            keep(picked >> 8);
        }
        at = std::uint32_t(_mm512_cvtsi512_si32(reached));
        return i;
    }

  private:
    __m256i steps(const double* u) const {
        return _mm512_cvttpd_epi32(_mm512_min_pd(_mm512_set1_pd(double(one - 1)), _mm512_mul_pd(_mm512_loadu_pd(u), _mm512_set1_pd(scale))));
    }
#endif
};

// Those of the examples first .. last - 1 that are picked, i with probability min(1, u_i / t), in order; their number. One random
// word does for all. Not inlined: in a build in which other loops of a round had it among them, these took up to twice as long.
[[gnu::noinline]] inline Size pick_restless(const double* u, Size first, Size last, double t, Word random, Size* out) {
    Picks picks{double(Picks::one) / t, std::uint32_t(random)};
#if defined(__AVX512DQ__)
    first = picks.by_sixteen(u, first, last, out);
#endif
    picks.one_by_one(u, first, last, out);
    return picks.kept;
}

}  // namespace dualfree
