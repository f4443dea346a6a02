// For blocks, v_i is the largest eigenvalue of sum_j beta_ij a_ij a_ij^T, a_ij the column j of the rows of block i: these
// m_i x m_i matrices, one after the other, without ever storing a beta for each nonzero.
#pragma once
#include <vector>

#include "kernels/eso.hpp"
#include "rows.hpp"

namespace dualfree {

struct BlockList {
    const Size* start;  // block i is the rows start[i] .. start[i + 1]
    Size count;
};

// The matrix of block i for beta(j); `column` is an array of length d that is zero between calls.
template <class R, class Beta>
void block_gram(const R& rows, const BlockList& blocks, Size i, std::vector<double>& column, double* out, Beta&& beta) {
    const Size first = blocks.start[i], m = blocks.start[i + 1] - first;
    for (Size r = 0; r < m; ++r) {
        rows.for_each(first + r, [&](Size j, double x) { column[std::size_t(j)] = beta(j) * x; });
        for (Size s = 0; s <= r; ++s) out[r * m + s] = out[s * m + r] = rows.dot(first + s, column.data());
        rows.for_each(first + r, [&](Size j, double) { column[std::size_t(j)] = 0; });
    }
}

// beta_ij = beta_j - less_i (either nullptr: all one, all zero)
template <class R>
void block_grams(const R& rows, const BlockList& blocks, const double* beta, const double* less, double* out) {
    std::vector<double> column(std::size_t(rows.d), 0.0);
    for (Size i = 0; i < blocks.count; ++i) {
        block_gram(rows, blocks, i, column, out,
                   [&](Size j) { return (beta ? beta[j] : 1.0) - (less ? less[i] : 0.0); });
        const Size m = blocks.start[i + 1] - blocks.start[i];
        out += m * m;
    }
}

// out[j] = sum of mass_i over the blocks with a nonzero in feature j, each block once (mass nullptr: their number)
template <class R>
void block_feature_sums(const R& rows, const BlockList& blocks, const double* mass, double* out) {
    std::vector<Size> seen(std::size_t(rows.d), -1);
    for (Size i = 0; i < blocks.count; ++i)
        for (Size r = blocks.start[i]; r < blocks.start[i + 1]; ++r)
            rows.for_each(r, [&](Size j, double) {
                if (seen[std::size_t(j)] == i) return;
                seen[std::size_t(j)] = i;
                out[j] += mass ? mass[i] : 1.0;
            });
}

// beta_ij = constant_G + s_jG (slope_G + coupling_G feature_j), for groups G of blocks, as for rows. `place[i]` is where
// the matrix of block i begins in `out`.
template <class R>
void grouped_block_grams(const R& rows, const BlockList& blocks, const Groups& groups, const double* mass,
                         const GroupBeta& beta, const Size* place, double* out) {
    std::vector<double> column(std::size_t(rows.d), 0.0), sums(std::size_t(rows.d), 0.0);
    std::vector<Size> seen(std::size_t(rows.d), -1);
    const auto over_rows_of = [&](Size g, auto&& visit) {
        for (Size k = groups.start[g]; k < groups.start[g + 1]; ++k)
            for (Size r = blocks.start[groups.members[k]]; r < blocks.start[groups.members[k] + 1]; ++r)
                rows.for_each(r, [&](Size j, double) { visit(groups.members[k], j); });
    };
    for (Size g = 0; g < groups.count; ++g) {
        over_rows_of(g, [&](Size i, Size j) {
            if (seen[std::size_t(j)] == i) return;
            seen[std::size_t(j)] = i;
            sums[std::size_t(j)] += mass ? mass[i] : 1.0;
        });
        for (Size k = groups.start[g]; k < groups.start[g + 1]; ++k) {
            const Size i = groups.members[k];
            block_gram(rows, blocks, i, column, out + place[i], [&](Size j) {
                return beta.constant[g] + sums[std::size_t(j)] * (beta.slope[g] + beta.coupling[g] * beta.feature[j]);
            });
        }
        over_rows_of(g, [&](Size, Size j) { sums[std::size_t(j)] = 0; });
    }
}

}  // namespace dualfree
