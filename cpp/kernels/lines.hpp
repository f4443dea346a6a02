// Lines of numbers, each filled up with zeros to whole vectors that lie in one line of memory, and their products in blocks that
// stay in registers.
#pragma once
#include <vector>

#include "kernels/blocks.hpp"

namespace dualfree {

constexpr Size lines_high = 8;  // a line has a multiple of so many numbers, and a block so many lines
// As many numbers as a register has: of more the compiler makes loads and stores of single ones.
#if defined(__AVX512F__)
constexpr Size lines_wide = 8;
#elif defined(__AVX__)
constexpr Size lines_wide = 4;
#else
constexpr Size lines_wide = 2;
#endif
typedef double Wide __attribute__((vector_size(lines_wide * sizeof(double)), may_alias));

// The same of either precision, wherever they lie.
template <class Number>
using VectorOf [[gnu::vector_size(sizeof(Wide)), gnu::aligned(alignof(Number)), gnu::may_alias]] = Number;
template <class Number>
constexpr Size numbers_of_vector = Size(sizeof(Wide) / sizeof(Number));

template <class Number>
const VectorOf<Number>& vector_at(const Number* at) { return *reinterpret_cast<const VectorOf<Number>*>(at); }
template <class Number>
VectorOf<Number>& vector_at(Number* at) { return *reinterpret_cast<VectorOf<Number>*>(at); }

inline const Wide& wide_at(const double* at) { return *reinterpret_cast<const Wide*>(at); }
inline Wide& wide_at(double* at) { return *reinterpret_cast<Wide*>(at); }

inline Size line_length(Size numbers) { return (numbers + lines_high - 1) / lines_high * lines_high; }

// Memory for them that the thread keeps for the next time, from which one piece after the other is taken.
class LinesRoom {
    struct alignas(lines_high * sizeof(double)) Piece {
        double numbers[lines_high];
    };
    KeptMemory<Piece> memory;
    double* next;

public:
    explicit LinesRoom(Size numbers) : memory(std::size_t(numbers / lines_high)), next(memory.data()->numbers) {}

    // So many zeros, a multiple of a line's.
    double* take(Size numbers) {
        double* const taken = next;
        next += numbers;
        std::fill(taken, next, 0.0);
        return taken;
    }
};

// out, a block's lines, in columns from .. to, += sign times the sum of left_i right_i^T over `count` lines, of which `left` has those
// numbers that belong to the block's lines. All lines are `stride` apart, and the columns are whole vectors. So many vectors of
// `right` at a time.
template <Size at_once, class Number>
DUALFREE_INLINE void add_line_products_at(Size k, Size count, const Number* left, const Number* right, Size stride, Number sign, Number* out) {
    constexpr Size wide = numbers_of_vector<Number>;
    VectorOf<Number> sum[at_once][lines_high] = {};
    for (Size i = 0; i < count; ++i) {
        const Number* const factors = left + i * stride;
        VectorOf<Number> line[at_once];
        for (Size c = 0; c < at_once; ++c) line[c] = vector_at(right + i * stride + k + c * wide);
        for (Size r = 0; r < lines_high; ++r)
            for (Size c = 0; c < at_once; ++c) sum[c][r] += factors[r] * line[c];
    }
    for (Size c = 0; c < at_once; ++c)
        for (Size r = 0; r < lines_high; ++r) vector_at(out + r * stride + k + c * wide) += sign * sum[c][r];
}

template <class Number>
void add_line_products(Size count, const Number* left, const Number* right, Size stride, Size from, Size to, Number sign, Number* out) {
    constexpr Size wide = numbers_of_vector<Number>;
    Size k = from;
    if constexpr (lines_wide == 8)
        for (; k + 2 * wide <= to; k += 2 * wide) add_line_products_at<2>(k, count, left, right, stride, sign, out);
    for (; k < to; k += wide) add_line_products_at<1>(k, count, left, right, stride, sign, out);
}

}  // namespace dualfree
