// Draws in proportion to weights of which the drawn one is divided by `shrink` each time.
#pragma once
#include <vector>

#include "kernels/draws.hpp"

namespace dualfree {

// A binary tree of sums: a parent is its two children added up, so that nothing drifts, however often a weight changes.
inline void draw_shrinking(Word seed, Size epoch, const double* weights, Size n, double shrink, Size count, Size* out) {
    Size leaves = 1;
    while (leaves < n) leaves *= 2;
    std::vector<double> sums(std::size_t(2 * leaves), 0.0);
    for (Size i = 0; i < n; ++i) sums[std::size_t(leaves + i)] = weights[i];
    for (Size node = leaves - 1; node > 0; --node) sums[std::size_t(node)] = sums[std::size_t(2 * node)] + sums[std::size_t(2 * node + 1)];
    Stream words(seed, 6, Word(epoch));
    for (Size k = 0; k < count; ++k) {
        double left = unit(words.next()) * sums[1];
        Size node = 1;
        while (node < leaves) {
            node *= 2;
            const double here = sums[std::size_t(node)];
            if (left >= here && sums[std::size_t(node + 1)] > 0) {  // rounding may leave more than there is
                left -= here;
                ++node;
            }
        }
        out[k] = node - leaves;
        sums[std::size_t(node)] /= shrink;
        for (node /= 2; node > 0; node /= 2) sums[std::size_t(node)] = sums[std::size_t(2 * node)] + sums[std::size_t(2 * node + 1)];
    }
}

}  // namespace dualfree
