// What the primal methods share: memory asked for ahead of a visit, and when a factored-out scale is too small.
#pragma once
#include "rows.hpp"

namespace dualfree {

constexpr double least_scale = 1e-100;  // below, the factor goes back into its vector, long before it underflows

// The visiting order is known ahead: first what says where a row lies is asked for, then the row.
template <class R, class Loss>
DUALFREE_INLINE void prefetch_visit(const R& rows, const Loss& loss, const Size* indices, Size at, Size end,
                                    const double* table = nullptr) {
    constexpr Size far = 12, near = 4;
    if (at + far < end) {
        const Size i = indices[at + far];
        rows.prefetch_bounds(i);
        loss.prefetch(i);
        if (table) __builtin_prefetch(table + i);
    }
    if (at + near < end) rows.prefetch(indices[at + near]);
}

}  // namespace dualfree
