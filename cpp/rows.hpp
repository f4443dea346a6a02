// Rows of X, sparse or dense, behind one interface: `dot`, `add_to`, `for_each`, `prefetch`.
// Views only: NumPy owns the memory. Values may be float32; every sum is kept in float64.
// A row may end in one more feature that X does not hold, the same `constant` in every row (for the intercept),
// and `offset` is then added to every product.
#pragma once
#include <variant>

#include "dense_rows.hpp"
#include "sparse_rows.hpp"

namespace dualfree {

using Rows = std::variant<CsrRows<const double*, std::int32_t>, CsrRows<const double*, std::int64_t>,
                          CsrRows<const float*, std::int32_t>, CsrRows<const float*, std::int64_t>,
                          CsrRows<Same, std::int32_t>, CsrRows<Same, std::int64_t>, DenseRows<double>,
                          DenseRows<float>>;

// Features from which on w does not stay in the second cache, and products would wait for the third one again and again: what they
// read of it is asked for, so many rows ahead.
constexpr Size long_w = 1 << 18, weights_ahead = 3;

constexpr Size cached_work = 1 << 22;  // of rows that stay in a cache from one pass to the next

}  // namespace dualfree
