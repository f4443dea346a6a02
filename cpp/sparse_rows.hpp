// Rows of a CSR matrix, see rows.hpp.
#pragma once
#include <algorithm>
#include <type_traits>

#include "basics.hpp"

namespace dualfree {

// The values of a matrix whose stored values are all the same (words present or absent, one-hot categories): nothing
// to load.
struct Same {
    double value;
    double operator[](Size) const { return value; }
};

DUALFREE_INLINE void prefetch_row(const Same&, const auto* columns, Size first, Size last) {
    prefetch_entries(columns + first, columns + last);
}
// Both in one loop, for where a loop ends the processor guesses.
template <class Value, class Index>
DUALFREE_INLINE void prefetch_row(const Value* values, const Index* columns, Size first, Size last) {
    constexpr Size a_line = line_bytes / Size(std::min(sizeof(Value), sizeof(Index))), half = a_line / 2;
    const Index *column = columns + first, *end = columns + std::min(last, first + most_entries);
    const Value* value = values + first;
    for (; column < end; column += a_line, value += a_line) {
        prefetch_line(column);
        prefetch_line(value);
        if constexpr (sizeof(Index) > sizeof(Value)) prefetch_line(column + half);
        if constexpr (sizeof(Value) > sizeof(Index)) prefetch_line(value + half);
    }
    prefetch_line(columns + last - 1);
    prefetch_line(values + last - 1);
}

// Values: const double*, const float* or Same.
template <class Values, class Index>
struct CsrRows {
    Values values;
    const Index* columns;
    const Index* start;  // start[i] .. start[i + 1] is row i
    Size n, d;           // d counts the constant feature, if there is one
    double constant = 0, offset = 0;
    bool sorted = false;  // whether the columns of every row increase

    Size nonzeros(Size i) const { return start[i + 1] - start[i]; }
    Size work_before(Size i) const { return Size(start[i]) + i; }  // of the rows before i; an empty one is work too

    // Four sums side by side: one alone would wait for the latency of each addition.
    DUALFREE_INLINE double dot(Size i, const double* w) const {
        const Size first = start[i], last = start[i + 1];
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        Size k = first;
        for (; k + 4 <= last; k += 4) {
            s0 += double(values[k]) * w[columns[k]];
            s1 += double(values[k + 1]) * w[columns[k + 1]];
            s2 += double(values[k + 2]) * w[columns[k + 2]];
            s3 += double(values[k + 3]) * w[columns[k + 3]];
        }
        for (; k < last; ++k) s0 += double(values[k]) * w[columns[k]];
        const double sum = (s0 + s1) + (s2 + s3);
        return constant != 0 ? sum + offset + constant * w[d - 1] : sum;
    }

    double square(Size i) const {
        if constexpr (std::is_same_v<Values, Same>) return double(nonzeros(i)) * (values.value * values.value) + constant * constant;
        const Size last = start[i + 1];
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        Size k = start[i];
        for (; k + 4 <= last; k += 4) {
            s0 += double(values[k]) * double(values[k]);
            s1 += double(values[k + 1]) * double(values[k + 1]);
            s2 += double(values[k + 2]) * double(values[k + 2]);
            s3 += double(values[k + 3]) * double(values[k + 3]);
        }
        for (; k < last; ++k) s0 += double(values[k]) * double(values[k]);
        return (s0 + s1) + (s2 + s3) + constant * constant;
    }

    // The products with both of a row of pairs, two sums of each side by side; without the offset of an intercept.
    Pair dot(Size i, const Pair* w) const {
        const Size last = start[i + 1];
        Pair even{0, 0}, odd{0, 0};
        Size k = start[i];
        for (; k + 2 <= last; k += 2) {
            even.add(w[columns[k]], double(values[k]));
            odd.add(w[columns[k + 1]], double(values[k + 1]));
        }
        if (k < last) even.add(w[columns[k]], double(values[k]));
        if (constant != 0) odd.add(w[d - 1], constant);
        return {even.first + odd.first, even.second + odd.second};
    }

    // w += scale * row i.
    DUALFREE_INLINE void add_to(Size i, double scale, double* w) const {
        if (nonzeros(i) < long_row)
            add_entries(start[i], start[i + 1], scale, w);
        else
            add_backwards(start[i], start[i + 1], scale, w);
        if (constant != 0) w[d - 1] += scale * constant;
    }

    // The same for a row whose entries of w do not all stay in the nearest cache: after the product with w, those at its end
    // are there, and those at its beginning are gone.
    static constexpr Size long_row = 256;
    void add_backwards(Size first, Size k, double scale, double* w) const {
        for (; k - 4 >= first; k -= 4) add_entries(k - 4, k, scale, w);
        add_entries(first, k, scale, w);
    }

    // The same for the entries k .. last - 1 of one row alone. Four at a time: no column is twice in a row, so the loads need
    // not wait for the stores.
    DUALFREE_INLINE void add_entries(Size k, Size last, double scale, double* w) const {
        for (; k + 4 <= last; k += 4) {
            double &a = w[columns[k]], &b = w[columns[k + 1]], &c = w[columns[k + 2]], &e = w[columns[k + 3]];
            const double to_a = a + scale * double(values[k]), to_b = b + scale * double(values[k + 1]);
            const double to_c = c + scale * double(values[k + 2]), to_e = e + scale * double(values[k + 3]);
            a = to_a, b = to_b, c = to_c, e = to_e;
        }
        for (; k < last; ++k) w[columns[k]] += scale * double(values[k]);
    }

    // Row i for the features low .. high - 1 alone, in the same order and with the same rounding.
    void add_to(Size i, double scale, double* w, Size low, Size high) const {
        const Index *begin = columns + start[i], *end = columns + start[i + 1];
        if (sorted) {
            begin = std::lower_bound(begin, end, Index(low));
            end = std::lower_bound(begin, end, Index(std::min(high, d)));
        }
        for (const Index* at = begin; at < end; ++at)
            if (*at >= low && *at < high) w[*at] += scale * double(values[at - columns]);
        if (constant != 0 && low < d && high == d) w[d - 1] += scale * constant;
    }

    // Two such sums side by side in memory: one cache line for each feature instead of two.
    void add_to(Size i, Pair scale, Pair* out) const {
        const Size last = start[i + 1];
        for (Size k = start[i]; k < last; ++k) out[columns[k]].add(scale, double(values[k]));
        if (constant != 0) out[d - 1].add(scale, constant);
    }

    template <class Visit>
    void for_each(Size i, Visit&& visit) const {
        const Size last = start[i + 1];
        for (Size k = start[i]; k < last; ++k)
            if (values[k] != 0) visit(Size(columns[k]), double(values[k]));
        if (constant != 0) visit(d - 1, constant);
    }

    // All of a row, zeros too.
    void write_to(Size i, double* out) const {
        std::fill(out, out + d, 0.0);
        for_each(i, [out](Size j, double value) { out[j] = value; });
    }

    // Into the nearest cache: `prefetch` reads it, and must not wait.
    DUALFREE_INLINE void prefetch_bounds(Size i) const { __builtin_prefetch(start + i); }

    DUALFREE_INLINE void prefetch(Size i) const { prefetch_row(values, columns, start[i], start[i + 1]); }

    // What row i, which is at hand, will read of a w that is too long for the second cache, or write to a sum as long.
    template <class Number>
    DUALFREE_INLINE void prefetch_weights(Size i, const Number* w) const {
        prefetch_weights(start[i], std::min<Size>(start[i + 1], start[i] + most_entries), w);
    }
    template <class Number>
    DUALFREE_INLINE void prefetch_weights(Size first, Size last, const Number* w) const {
        for (Size k = first; k < last; ++k) prefetch_line(w + columns[k]);
    }
};

}  // namespace dualfree
