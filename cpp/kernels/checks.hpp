// One look at X before any work starts: everything that would make a kernel read out of bounds or an answer wrong.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "pool.hpp"
#include "rows.hpp"

namespace dualfree {

enum class Fault { none, start, column, duplicate, not_finite };

struct Finding {
    Fault fault = Fault::none;
    Size row = 0, column = 0;
    bool sorted = true;  // the columns of every row increase
    bool same = false;   // all stored values are equal
};

// The mean and the largest of n numbers, with eight sums side by side.
inline std::pair<double, double> mean_and_largest(const double* values, Size n) {
    constexpr Size lanes = 8;
    double sums[lanes] = {}, largest[lanes] = {};
    for (Size i = 0; i < n; ++i) {
        sums[i % lanes] += values[i];
        largest[i % lanes] = std::max(largest[i % lanes], values[i]);
    }
    double sum = 0;
    for (const double part : sums) sum += part;
    return {sum / double(n), *std::max_element(largest, largest + lanes)};
}

// Zero if every value is finite, NaN otherwise, as a loop that becomes SIMD.
template <class Value>
Value zero_if_finite(const Value* values, Size count) {
    constexpr Size lanes = 16;  // sums side by side: one would wait for the latency of each addition
    Value sums[lanes] = {}, sum = 0;
    Size k = 0;
    for (; k + lanes <= count; k += lanes)
        for (Size lane = 0; lane < lanes; ++lane) sums[lane] += values[k + lane] * 0;
    for (; k < count; ++k) sum += values[k] * 0;
    for (Size lane = 0; lane < lanes; ++lane) sum += sums[lane];
    return sum;
}

// Whether every value is finite.
template <class Value>
bool all_finite(const Value* values, Size count, int threads) {
    std::atomic<bool> good{true};
    in_pieces(threads, count, [&](Size first, Size last) {
        if (zero_if_finite(values + first, last - first) != 0) good = false;
    });
    return good;
}

// Whether every |A_i|^2 is finite, which are written to `squares`: then every value is too, and one pass over them was enough.
template <class R>
bool all_finite(const R& rows, double* squares, int threads) {
    std::atomic<bool> good{true};
    in_pieces(threads, rows.n, [&](Size first, Size last) {
        double none = 0;
        for (Size i = first; i < last; ++i) {
            squares[i] = rows.square(i);
            none += squares[i] * 0;
        }
        if (none != 0) good = false;
    });
    return good;
}

// The first value and the next one that differs, or the first twice; nothing if there are more than two, or NaN, which equals
// nothing.
template <class Value>
std::optional<std::pair<Value, Value>> two_values(const Value* values, Size count) {
    if (count == 0) return {};
    const Value first = values[0];
    const Value* differs = std::find_if(values, values + count, [first](Value v) { return v != first; });
    const Value other = differs == values + count ? first : *differs;
    Size more = 0;
    for (Size k = 0; k < count; ++k) more += !(values[k] == first || values[k] == other);
    if (more > 0) return {};
    return std::pair{first, other};
}

// What is wrong with row i, if anything is; `seen[j] == i` marks a column that it had before.
template <class Values, class Index>
Finding check_row(const CsrRows<Values, Index>& rows, Size i, std::vector<Size>& seen) {
    for (Size k = rows.start[i]; k < rows.start[i + 1]; ++k) {
        const Size j = rows.columns[k];
        if (j < 0 || j >= rows.d) return {Fault::column, i, j};
        if (seen[std::size_t(j)] == i) return {Fault::duplicate, i, j};
        seen[std::size_t(j)] = i;
        if (!std::isfinite(rows.values[k])) return {Fault::not_finite, i, j};
    }
    return {};
}

// The k in first .. last - 1 with columns[k] <= columns[k - 1]. Counts are as wide as columns, or SIMD would have to widen
// them; runs are so short that none overflows.
template <class Index>
Size falls_in(const Index* columns, Size first, Size last) {
    constexpr Size run = 1 << 20;
    Size falls = 0;
    while (first < last) {
        const Size end = std::min(last, first + run);
        Index some = 0;
#pragma omp simd reduction(+ : some)
        for (Size k = first; k < end; ++k) some += columns[k] <= columns[k - 1];
        falls += Size(some);
        first = end;
    }
    return falls;
}

// Whether every row's columns increase and lie in 0 .. d - 1, without a loop for each row: columns fall nowhere but where a
// row begins.
template <class Values, class Index>
bool all_rising(const CsrRows<Values, Index>& rows, int threads) {
    constexpr Size block = 256;  // rows, which are still in a cache when their ends are looked at
    const Size total = rows.start[rows.n];
    const Index* columns = rows.columns;
    std::atomic<Size> surplus{0};  // falls, less those between rows
    std::atomic<bool> inside{true};
    in_pieces(threads, rows.n, [&](Size from, Size end) {
        Size falls = 0, between = 0;
        bool good = true;
        for (Size begin = from; begin < end; begin += block) {
            const Size after = std::min(end, begin + block);
            falls += falls_in(columns, std::max<Size>(1, rows.start[begin]), rows.start[after]);
            for (Size i = begin; i < after; ++i) {
                const Size first = rows.start[i], last = rows.start[i + 1];
                if (first == last) continue;
                good &= columns[first] >= 0 && Size(columns[last - 1]) < rows.d;  // enough, where columns increase
                between += last < total && columns[last] <= columns[last - 1];
            }
        }
        surplus += falls - between;
        if (!good) inside = false;
    });
    return inside && surplus == 0;
}

template <class Values, class Index>
Finding check(const CsrRows<Values, Index>& rows, Size stored, double* squares, int threads) {
    if (rows.start[0] != 0) return {Fault::start, 0, 0};
    for (Size i = 0; i < rows.n; ++i)
        if (rows.start[i + 1] < rows.start[i] || rows.start[i + 1] > stored) return {Fault::start, i, 0};
    std::vector<Size> seen;
    const bool sorted = all_rising(rows, threads);
    for (Size i = 0; i < rows.n && !sorted; ++i) {
        seen.resize(std::size_t(rows.d), -1);
        if (const Finding found = check_row(rows, i, seen); found.fault != Fault::none) return found;
    }
    Finding found{Fault::none, 0, 0, sorted, false};
    if constexpr (std::is_pointer_v<Values>) {
        const Size total = rows.start[rows.n];
        const auto* values = rows.values;  // all the same bits: as many, one further on, are these again
        found.same = total > 1 && std::memcmp(values, values + 1, std::size_t(total - 1) * sizeof *values) == 0 &&
                     std::isfinite(values[0]);
        if (squares && found.same) {
            const CsrRows<Same, Index> alike{Same{double(values[0])}, rows.columns, rows.start, rows.n, rows.d};
            all_finite(alike, squares, threads);
            return found;
        }
        if (squares && all_finite(rows, squares, threads)) return found;
        if (!found.same && !all_finite(rows.values, total, threads)) {
            for (Size i = 0; i < rows.n; ++i)
                for (Size k = rows.start[i]; k < rows.start[i + 1]; ++k)
                    if (!std::isfinite(rows.values[k])) return {Fault::not_finite, i, Size(rows.columns[k])};
        }
    }
    return found;
}

template <class Value>
Finding check(const DenseRows<Value>& rows, Size, double* squares, int threads) {
    if (squares && all_finite(rows, squares, threads)) return {};
    const bool together = rows.column_stride == 1 && rows.row_stride == rows.width;
    if (together && all_finite(rows.values, rows.n * rows.width, threads)) return {};
    for (Size i = 0; i < rows.n; ++i) {
        const Value* row = rows.values + i * rows.row_stride;
        if (rows.column_stride == 1 && zero_if_finite(row, rows.width) == 0) continue;
        for (Size j = 0; j < rows.width; ++j)
            if (!std::isfinite(row[j * rows.column_stride])) return {Fault::not_finite, i, j};
    }
    return {};
}

// The mean length of rows of a CSR matrix, and that of its square: of each `every`-th of the listed, or of all where that is null.
template <class Index>
std::pair<double, double> row_lengths(const Index* start, const Size* listed, Size count, Size every) {
    double sum = 0, squares = 0, seen = 0;
    for (Size k = 0; k < count; k += every) {
        const Size i = listed ? listed[k] : k;
        const double length = double(start[i + 1] - start[i]);
        sum += length;
        squares += length * length;
        seen += 1;
    }
    return {sum / seen, squares / seen};
}

}  // namespace dualfree
