// One loop of shift-and-invert for the leading eigenvector of C = (1/n) sum of (a_i - m)(a_i - m)^T, m zero or the mean.
// With v of length one, theta = v^T C v and a shift mu > theta, the solution of (mu I - C) w = v is w ~ v + e, where e solves
//     (mu I - C) e = C v - theta v = -g.
// SVRG with its anchor at e = 0 and examples drawn with probability p_i takes
//     e <- e - h (mu e - scale_i (a_i - m)(a_i - m)^T e + g),   scale_i = 1 / (n p_i).
// The parts along g and m touch every feature, so e is kept as s u + r g - q m and a step changes three numbers and the
// features of one row. u and g lie side by side; the products of the rows with m are known ahead.
#pragma once
#include <vector>

#include "kernels/visits.hpp"
#include "rows.hpp"

namespace dualfree {

struct Shifted {
    const double *g, *scale;
    const double *m, *m_products;  // nullptr: not centred
    double step, shift;

    DUALFREE_INLINE void prefetch(Size i) const {
        prefetch_line(scale + i);
        if (m) prefetch_line(m_products + i);
    }
};

template <class R>
void shift_and_invert(const R& rows, const Shifted& by, const Size* indices, Size count, double* e) {
    std::vector<Pair> pairs(static_cast<std::size_t>(rows.d));  // u, g
    double m_g = 0, m_m = 0;
    for (Size j = 0; j < rows.d; ++j) {
        pairs[std::size_t(j)] = {0, by.g[j]};
        if (by.m) m_g += by.m[j] * by.g[j], m_m += by.m[j] * by.m[j];
    }
    const double shrink = 1 - by.step * by.shift;
    double s = 1, r = 0, q = 0, m_u = 0;
    for (Size t = 0; t < count; ++t) {
        prefetch_visit(rows, by, indices, t, count);
        const Size i = indices[t];
        const Pair products = rows.dot(i, pairs.data());
        double product = s * products.first + r * products.second;
        if (by.m) product -= q * by.m_products[i] + (s * m_u + r * m_g - q * m_m);
        s *= shrink;
        r = shrink * r - by.step;
        const double move = by.step * by.scale[i] * product, to_u = move / s;
        rows.add_to(i, Pair{to_u, 0}, pairs.data());
        if (by.m) q = shrink * q + move, m_u += to_u * by.m_products[i];
        if (s < least_scale) {
            for (Pair& pair : pairs) pair.first *= s;
            m_u *= s;
            s = 1;
        }
    }
    for (Size j = 0; j < rows.d; ++j)
        e[j] = s * pairs[std::size_t(j)].first + r * by.g[j] - (by.m ? q * by.m[j] : 0.0);
}

}  // namespace dualfree
