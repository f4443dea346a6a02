// Sizes, memory that is asked for ahead, and pairs of numbers.
#pragma once
#include <algorithm>
#include <cstdint>

namespace dualfree {

using Size = std::int64_t;

// GCC takes a function that only prefetches for one without effect and drops the calls, unless it is inlined
// before it looks: every prefetching function must be forced inline.
#define DUALFREE_INLINE [[gnu::always_inline]] inline
#define DUALFREE_INLINED __attribute__((always_inline))  // for a lambda

// Into the second cache, not the nearest: what is on its way to the nearest one takes the few places there that loads of w
// would wait in.
DUALFREE_INLINE void prefetch_line(const void* at) { __builtin_prefetch(at, 0, 2); }

// To be written: no other core has the line after that. The builtin knows no such instruction for all processors of a level; one
// that lacks it takes it for none.
DUALFREE_INLINE void take_line([[maybe_unused]] const void* at) {
#if defined(__x86_64__) && defined(__GNUC__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
#endif
}

// Every cache line of a short row, the first ones of a long row: there the hardware follows the stream itself.
constexpr Size most_entries = 256, line_bytes = 64;
template <class Value>
DUALFREE_INLINE void prefetch_entries(const Value* begin, const Value* end) {
    constexpr Size a_line = line_bytes / Size(sizeof(Value));
    for (const Value* at = begin; at < std::min(end, begin + most_entries); at += a_line) prefetch_line(at);
    prefetch_line(end - 1);
}

struct Pair {
    double first = 0, second = 0;
    void add(const Pair& scale, double x) {
        first += scale.first * x;
        second += scale.second * x;
    }
};

}  // namespace dualfree
