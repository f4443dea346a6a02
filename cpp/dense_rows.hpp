// Rows of a dense array, see rows.hpp.
#pragma once
#include <algorithm>

#include "basics.hpp"

namespace dualfree {

// Four numbers side by side, wherever they lie.
using Four [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;
using FourFloats [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;

DUALFREE_INLINE Four& four_at(double* at) { return *reinterpret_cast<Four*>(at); }
DUALFREE_INLINE Four four_of(const double* at) { return *reinterpret_cast<const Four*>(at); }
DUALFREE_INLINE Four four_of(const float* at) { return __builtin_convertvector(*reinterpret_cast<const FourFloats*>(at), Four); }

// four(lane, j) for each four columns from j on, and one(lane, j) for each that is left, in up to four lanes that need not
// wait for each other. Products with w and moves of w are cut alike, so that a load finds all that it reads in one store: one
// that spans two which are still on their way would wait for both.
template <class FourColumns, class OneColumn>
DUALFREE_INLINE void in_fours(Size width, FourColumns&& four, OneColumn&& one) {
    Size j = 0;
    for (; j + 16 <= width; j += 16) four(0, j), four(1, j + 4), four(2, j + 8), four(3, j + 12);
    if (width & 8) four(0, j), four(1, j + 4), j += 8;
    if (width & 4) four(2, j), j += 4;
    if (width & 2) one(0, j), one(1, j + 1), j += 2;
    if (width & 1) one(0, j);
}

// The sum of a row's terms.
struct RowSum {
    Four fours[4] = {};
    double ones[2] = {};
    DUALFREE_INLINE double value() const {
        const Four all = (fours[0] + fours[1]) + (fours[2] + fours[3]);
        return ((all[0] + all[1]) + (all[2] + all[3])) + (ones[0] + ones[1]);
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
        in_fours(width, [&](int lane, Size j) DUALFREE_INLINED { sum.fours[lane] += four_of(row + j) * four_of(w + j); },
                 [&](int lane, Size j) DUALFREE_INLINED { sum.ones[lane] += double(row[j]) * w[j]; });
        return with_constant(sum.value(), w);
    }

    double square(Size i) const {
        const Value* row = values + i * row_stride;
        if (!row_by_row()) return strided_sum(row, [](Size, double x) { return x * x; }) + constant * constant;
        RowSum sum;
        in_fours(width, [&](int lane, Size j) DUALFREE_INLINED { sum.fours[lane] += four_of(row + j) * four_of(row + j); },
                 [&](int lane, Size j) DUALFREE_INLINED { sum.ones[lane] += double(row[j]) * double(row[j]); });
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
            in_fours(width, [&](int, Size j) DUALFREE_INLINED { four_at(w + j) += scale * four_of(row + j); },
                     [&](int, Size j) DUALFREE_INLINED { w[j] += scale * double(row[j]); });
        else
            for (Size j = 0; j < width; ++j) w[j] += scale * double(row[j * column_stride]);
        if (constant != 0) w[width] += scale * constant;
    }

    // Four rows from i on, which lie row by row: w is read and written once for all of them.
    DUALFREE_INLINE void add_four_to(Size i, const double* scale, double* w) const {
        const Value *a = values + i * row_stride, *b = a + row_stride, *c = b + row_stride, *e = c + row_stride;
        in_fours(width,
                 [&](int, Size j) DUALFREE_INLINED {
                     four_at(w + j) += (scale[0] * four_of(a + j) + scale[1] * four_of(b + j)) +
                                       (scale[2] * four_of(c + j) + scale[3] * four_of(e + j));
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

    DUALFREE_INLINE void prefetch_bounds(Size) const {}

    DUALFREE_INLINE void prefetch(Size i) const {
        prefetch_entries(values + i * row_stride, values + i * row_stride + width);
    }
};

}  // namespace dualfree
