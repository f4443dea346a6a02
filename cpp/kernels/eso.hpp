// The sums behind the ESO formulas: v_i = sum_j beta_ij A_ij^2, without ever storing a beta for each nonzero.
#pragma once
#include <vector>

#include "kernels/blocks.hpp"
#include "rows.hpp"

namespace dualfree {

// out[j] = sum of mass_k over the examples k with a nonzero in feature j (mass nullptr: their number)
template <class R>
void feature_sums(const R& rows, const double* mass, double* out) {
    for (Size i = 0; i < rows.n; ++i) {
        const double add = mass ? mass[i] : 1.0;
        rows.for_each(i, [&](Size j, double) { out[j] += add; });
    }
}

// out[j] = sum_i mass_i A_ij^2
template <class R>
void feature_squares(const R& rows, const double* mass, double* out) {
    for (Size i = 0; i < rows.n; ++i) rows.for_each(i, [&](Size j, double x) { out[j] += mass[i] * x * x; });
}

// out[i] = sum_j beta_j A_ij^2 (beta nullptr: all one)
template <class R>
void square_norms(const R& rows, const double* beta, double* out, int threads) {
    over_rows(rows, threads, [&](Size first, Size last) {
        for (Size i = first; i < last; ++i) {
            if (!beta) {
                out[i] = rows.square(i);
                continue;
            }
            double sum = 0;
            rows.for_each(i, [&](Size j, double x) { sum += beta[j] * x * x; });
            out[i] = sum;
        }
    });
}

// Mean of |A_i|^2 over runs of `length` examples, the first at the beginning and the last at the end; there are two at least.
template <class R>
double mean_square(const R& rows, Size runs, Size length) {
    double sum = 0;
    for (Size k = 0; k < runs; ++k) {
        const Size first = (rows.n - length) * k / (runs - 1);
        for (Size i = first; i < first + length; ++i) sum += rows.square(i);
    }
    return sum / double(runs * length);
}

// A partition of the examples: group g is members[start[g]] .. members[start[g + 1]].
struct Groups {
    const Size* members;
    const Size* start;
    Size count;
};

// Runs `visit(g, sums)` for each group, where sums[j] = sum of mass_k over the group's examples with a
// nonzero in j. One array of length d serves all groups: it is cleared only where it was touched.
template <class R, class Visit>
void for_each_group(const R& rows, const Groups& groups, const double* mass, Visit&& visit) {
    std::vector<double> sums(std::size_t(rows.d), 0.0);
    for (Size g = 0; g < groups.count; ++g) {
        const Size first = groups.start[g], last = groups.start[g + 1];
        for (Size k = first; k < last; ++k) {
            const double add = mass ? mass[groups.members[k]] : 1.0;
            rows.for_each(groups.members[k], [&](Size j, double) { sums[std::size_t(j)] += add; });
        }
        visit(g, sums);
        for (Size k = first; k < last; ++k)
            rows.for_each(groups.members[k], [&](Size j, double) { sums[std::size_t(j)] = 0; });
    }
}

// out[j] = number of groups with a nonzero in feature j
template <class R>
void groups_touching(const R& rows, const Groups& groups, double* out) {
    std::vector<Size> seen(std::size_t(rows.d), -1);
    for (Size g = 0; g < groups.count; ++g)
        for (Size k = groups.start[g]; k < groups.start[g + 1]; ++k)
            rows.for_each(groups.members[k], [&](Size j, double) {
                if (seen[std::size_t(j)] != g) {
                    seen[std::size_t(j)] = g;
                    out[j] += 1;
                }
            });
}

// beta_ij = constant_G + s_jG * (slope_G + coupling_G * feature_j), G the group of i, s_jG the sum of mass over
// the examples of G with a nonzero in j. Every grouped sampling of the library is of this form.
struct GroupBeta {
    const double *constant, *slope, *coupling;  // one for each group
    const double* feature;                      // one for each feature
};

template <class R>
void grouped_square_norms(const R& rows, const Groups& groups, const double* mass, const GroupBeta& beta,
                          double* out) {
    for_each_group(rows, groups, mass, [&](Size g, const std::vector<double>& sums) {
        for (Size k = groups.start[g]; k < groups.start[g + 1]; ++k) {
            const Size i = groups.members[k];
            double total = 0;
            rows.for_each(i, [&](Size j, double x) {
                total += (beta.constant[g] + sums[std::size_t(j)] * (beta.slope[g] + beta.coupling[g] * beta.feature[j])) * x * x;
            });
            out[i] = total;
        }
    });
}

}  // namespace dualfree
