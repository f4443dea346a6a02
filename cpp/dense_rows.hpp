// Rows of a dense array, see rows.hpp.
#pragma once
#include <algorithm>

#include "basics.hpp"

namespace dualfree {

// As many numbers side by side as the processor takes at once, wherever they lie.
#ifdef __AVX__
constexpr Size lanes = 4;
#else
constexpr Size lanes = 2;
#endif
using Lanes [[gnu::vector_size(8 * lanes), gnu::aligned(8), gnu::may_alias]] = double;
using FloatLanes [[gnu::vector_size(4 * lanes), gnu::aligned(4), gnu::may_alias]] = float;

DUALFREE_INLINE Lanes& lanes_at(double* at) { return *reinterpret_cast<Lanes*>(at); }
DUALFREE_INLINE Lanes lanes_of(const double* at) { return *reinterpret_cast<const Lanes*>(at); }
DUALFREE_INLINE Lanes lanes_of(const float* at) { return __builtin_convertvector(*reinterpret_cast<const FloatLanes*>(at), Lanes); }

// some(k, j) for the columns from j on, as many as there are lanes, and one(k, j) for each that is left; those with different k
// need not wait for each other. Products with w and moves of w are cut alike, so that a load finds all that it reads in one
// store: one that spans two which are still on their way would wait for both.
template <class Some, class One>
DUALFREE_INLINE void in_lanes(Size width, Some&& some, One&& one) {
    Size j = 0;
    for (; j + 4 * lanes <= width; j += 4 * lanes) some(0, j), some(1, j + lanes), some(2, j + 2 * lanes), some(3, j + 3 * lanes);
    if (width & (2 * lanes)) some(0, j), some(1, j + lanes), j += 2 * lanes;
    if (width & lanes) some(2, j), j += lanes;
    if (lanes > 2 && (width & 2)) one(0, j), one(1, j + 1), j += 2;
    if (width & 1) one(0, j);
}

// The sum of a row's terms.
struct RowSum {
    Lanes some[4] = {};
    double one[2] = {};
    DUALFREE_INLINE double value() const {
        const Lanes all = (some[0] + some[1]) + (some[2] + some[3]);
        double sum = all[0] + all[1];
        if constexpr (lanes > 2) sum += all[2] + all[3];
        return sum + (one[0] + one[1]);
    }
};

template <class Value>
struct DenseRows {
    const Value* values;
    Size n, width;                   // columns of X
    Size row_stride, column_stride;  // in elements; any strides, so that no layout needs a copy
    Size d;                          // features: the columns, and the constant one if there is one
    double constant = 0, offset = 0;

    Size nonzeros(Size) const { return width; }
    Size work_before(Size i) const { return i * (width + 1); }

    bool row_by_row() const { return column_stride == 1; }  // in memory
    bool column_by_column() const { return row_stride == 1 && column_stride != 1; }

    DUALFREE_INLINE double dot(Size i, const double* w) const {
        const Value* row = values + i * row_stride;
        if (!row_by_row()) return with_constant(strided_sum(row, [w](Size j, double x) { return x * w[j]; }), w);
        RowSum sum;
        in_lanes(width, [&](int k, Size j) DUALFREE_INLINED { sum.some[k] += lanes_of(row + j) * lanes_of(w + j); },
                 [&](int k, Size j) DUALFREE_INLINED { sum.one[k] += double(row[j]) * w[j]; });
        return with_constant(sum.value(), w);
    }

    double square(Size i) const {
        const Value* row = values + i * row_stride;
        if (!row_by_row()) return strided_sum(row, [](Size, double x) { return x * x; }) + constant * constant;
        RowSum sum;
        in_lanes(width, [&](int k, Size j) DUALFREE_INLINED { sum.some[k] += lanes_of(row + j) * lanes_of(row + j); },
                 [&](int k, Size j) DUALFREE_INLINED { sum.one[k] += double(row[j]) * double(row[j]); });
        return sum.value() + constant * constant;
    }

    template <class Term>
    double strided_sum(const Value* row, const Term& term) const {
        double sum = 0;
        for (Size j = 0; j < width; ++j) sum += term(j, double(row[j * column_stride]));
        return sum;
    }

    DUALFREE_INLINE double with_constant(double sum, const double* w) const {
        return constant != 0 ? sum + offset + constant * w[width] : sum;
    }

    Pair dot(Size i, const Pair* w) const {
        const Value* row = values + i * row_stride;
        double first = 0, second = 0;
#pragma omp simd reduction(+ : first, second)
        for (Size j = 0; j < width; ++j) {
            first += double(row[j * column_stride]) * w[j].first;
            second += double(row[j * column_stride]) * w[j].second;
        }
        return constant != 0 ? Pair{first + constant * w[width].first, second + constant * w[width].second}
                             : Pair{first, second};
    }

    DUALFREE_INLINE void add_to(Size i, double scale, double* w) const {
        const Value* row = values + i * row_stride;
        if (row_by_row())
            in_lanes(width, [&](int, Size j) DUALFREE_INLINED { lanes_at(w + j) += scale * lanes_of(row + j); },
                     [&](int, Size j) DUALFREE_INLINED { w[j] += scale * double(row[j]); });
        else
            for (Size j = 0; j < width; ++j) w[j] += scale * double(row[j * column_stride]);
        if (constant != 0) w[width] += scale * constant;
    }

    // Four rows from i on, which lie row by row: w is read and written once for all of them.
    DUALFREE_INLINE void add_four_to(Size i, const double* scale, double* w) const {
        const Value *a = values + i * row_stride, *b = a + row_stride, *c = b + row_stride, *e = c + row_stride;
        in_lanes(width,
                 [&](int, Size j) DUALFREE_INLINED {
                     lanes_at(w + j) += (scale[0] * lanes_of(a + j) + scale[1] * lanes_of(b + j)) +
                                       (scale[2] * lanes_of(c + j) + scale[3] * lanes_of(e + j));
                 },
                 [&](int, Size j) DUALFREE_INLINED {
                     w[j] += (scale[0] * double(a[j]) + scale[1] * double(b[j])) + (scale[2] * double(c[j]) + scale[3] * double(e[j]));
                 });
        if (constant != 0) w[width] += ((scale[0] + scale[1]) + (scale[2] + scale[3])) * constant;
    }

    void add_to(Size i, double scale, double* w, Size low, Size high) const {
        const Value* row = values + i * row_stride;
        const Size last = std::min(high, width);
        for (Size j = low; j < last; ++j) w[j] += scale * double(row[j * column_stride]);
        if (constant != 0 && low < d && high == d) w[width] += scale * constant;
    }

    void add_to(Size i, Pair scale, Pair* out) const {
        const Value* row = values + i * row_stride;
        for (Size j = 0; j < width; ++j) out[j].add(scale, double(row[j * column_stride]));
        if (constant != 0) out[width].add(scale, constant);
    }

    template <class Visit>
    void for_each(Size i, Visit&& visit) const {
        const Value* row = values + i * row_stride;
        for (Size j = 0; j < width; ++j)
            if (row[j * column_stride] != Value(0)) visit(j, double(row[j * column_stride]));
        if (constant != 0) visit(width, constant);
    }

    // All of a row.
    void write_to(Size i, double* out) const {
        const Value* row = values + i * row_stride;
        if (row_by_row())
            in_lanes(width, [&](int, Size j) DUALFREE_INLINED { lanes_at(out + j) = lanes_of(row + j); },
                     [&](int, Size j) DUALFREE_INLINED { out[j] = double(row[j]); });
        else
            for (Size j = 0; j < width; ++j) out[j] = double(row[j * column_stride]);
        if (constant != 0) out[width] = constant;
    }

    DUALFREE_INLINE void prefetch_bounds(Size) const {}

    DUALFREE_INLINE void prefetch(Size i) const {
        prefetch_entries(values + i * row_stride, values + i * row_stride + width);
    }
};

}  // namespace dualfree
