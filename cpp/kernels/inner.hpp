// Products and sums of two vectors, without BLAS, whose way takes longer than the sum itself.
#pragma once
#include "basics.hpp"

namespace dualfree {

// sum_j a_j b_j, with sixteen sums side by side.
inline double inner(const double* a, Size a_stride, const double* b, Size b_stride, Size size) {
    constexpr Size lanes = 16;
    double parts[lanes] = {}, rest = 0;
    Size j = 0;
    if (a_stride == 1 && b_stride == 1)
        for (; j + lanes <= size; j += lanes)
            for (Size lane = 0; lane < lanes; ++lane) parts[lane] += a[j + lane] * b[j + lane];
    for (; j < size; ++j) rest += a[j * a_stride] * b[j * b_stride];
    for (const double part : parts) rest += part;
    return rest;
}

// last becomes first + t (last - first).
inline void go_between(const double* first, double t, double* last, Size size) {
#pragma omp simd
    for (Size j = 0; j < size; ++j) last[j] = first[j] + t * (last[j] - first[j]);
}

}  // namespace dualfree
