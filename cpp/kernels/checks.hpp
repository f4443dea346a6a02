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
};

template <class Value, class Index>
Finding check(const CsrRows<Value, Index>& rows, Size stored) {
    if (rows.start[0] != 0) return {Fault::start, 0, 0};
    std::vector<Size> seen(std::size_t(rows.d), -1);
    for (Size i = 0; i < rows.n; ++i) {
        if (rows.start[i + 1] < rows.start[i] || rows.start[i + 1] > stored) return {Fault::start, i, 0};
        for (Size k = rows.start[i]; k < rows.start[i + 1]; ++k) {
            const Size j = rows.columns[k];
            if (j < 0 || j >= rows.d) return {Fault::column, i, j};
            if (seen[std::size_t(j)] == i) return {Fault::duplicate, i, j};
            seen[std::size_t(j)] = i;
            if (!std::isfinite(rows.values[k])) return {Fault::not_finite, i, j};
        }
    }
    return {};
}

template <class Value>
Finding check(const DenseRows<Value>& rows, Size) {
    for (Size i = 0; i < rows.n; ++i)
        for (Size j = 0; j < rows.width; ++j)
            if (!std::isfinite(rows.values[i * rows.row_stride + j * rows.column_stride]))
                return {Fault::not_finite, i, j};
    return {};
}

}  // namespace dualfree
