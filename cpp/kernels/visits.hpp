// What methods that visit rows share: memory asked for ahead of a visit, and when a factored-out scale is too small.
#pragma once
#include "rows.hpp"

namespace dualfree {

constexpr double least_scale = 1e-100;  // below, the factor goes back into its vector, long before it underflows

// The visiting order is known ahead, so memory can be asked for before it is needed: first what says where a row lies, and
// what a `table` holds of it, then the row.
constexpr Size far_ahead = 12, near_ahead = 6;

template <class R>
DUALFREE_INLINE void prefetch_ahead(const R& rows, const double* table, const Size* indices, Size at, Size end) {
    if (at + far_ahead < end) {
        rows.prefetch_bounds(indices[at + far_ahead]);
        if (table) prefetch_line(table + indices[at + far_ahead]);
    }
    if (at + near_ahead < end) rows.prefetch(indices[at + near_ahead]);
}

// The same, and what the loss knows of the row.
template <class R, class Loss>
DUALFREE_INLINE void prefetch_visit(const R& rows, const Loss& loss, const Size* indices, Size at, Size end,
                                    const double* table = nullptr) {
    if (at + far_ahead < end) loss.prefetch(indices[at + far_ahead]);
    prefetch_ahead(rows, table, indices, at, end);
}

}  // namespace dualfree
