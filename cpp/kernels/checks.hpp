// One look at X before any work starts: everything that would make a kernel read out of bounds or an answer wrong.
#pragma once
#include <cmath>
#include <vector>

#include "rows.hpp"

namespace dualfree {

enum class Fault { none, start, column, duplicate, not_finite };

struct Finding {
    Fault fault = Fault::none;
    Size row = 0, column = 0;
    bool sorted = true;  // the columns of every row increase
    bool same = false;   // all stored values are equal
};

// Zero if every value is finite, NaN otherwise, as a loop that becomes SIMD.
template <class Value>
Value zero_if_finite(const Value* values, Size count) {
    Value sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Size k = 0; k < count; ++k) sum += values[k] * 0;
    return sum;
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

template <class Values, class Index>
Finding check(const CsrRows<Values, Index>& rows, Size stored) {
    if (rows.start[0] != 0) return {Fault::start, 0, 0};
    std::vector<Size> seen;
    bool sorted = true;
    for (Size i = 0; i < rows.n; ++i) {
        const Size first = rows.start[i], last = rows.start[i + 1];
        if (last < first || last > stored) return {Fault::start, i, 0};
        bool rising = true;
        for (Size k = first + 1; k < last; ++k) rising &= rows.columns[k - 1] < rows.columns[k];
        const bool inside = first == last || (rows.columns[first] >= 0 && Size(rows.columns[last - 1]) < rows.d);
        if (rising && inside) continue;  // increasing from 0 to d - 1: in range, and nothing twice
        sorted = sorted && rising;
        seen.resize(std::size_t(rows.d), -1);
        if (const Finding found = check_row(rows, i, seen); found.fault != Fault::none) return found;
    }
    Finding found{Fault::none, 0, 0, sorted, false};
    if constexpr (std::is_pointer_v<Values>) {
        const Size total = rows.start[rows.n];
        if (zero_if_finite(rows.values, total) != 0) {
            for (Size i = 0; i < rows.n; ++i)
                for (Size k = rows.start[i]; k < rows.start[i + 1]; ++k)
                    if (!std::isfinite(rows.values[k])) return {Fault::not_finite, i, Size(rows.columns[k])};
        }
        Size k = 1;
        while (k < total && rows.values[k] == rows.values[0]) ++k;
        found.same = total > 1 && k == total;
    }
    return found;
}

template <class Value>
Finding check(const DenseRows<Value>& rows, Size) {
    for (Size i = 0; i < rows.n; ++i) {
        const Value* row = rows.values + i * rows.row_stride;
        if (rows.column_stride == 1 && zero_if_finite(row, rows.width) == 0) continue;
        for (Size j = 0; j < rows.width; ++j)
            if (!std::isfinite(row[j * rows.column_stride])) return {Fault::not_finite, i, j};
    }
    return {};
}

}  // namespace dualfree
