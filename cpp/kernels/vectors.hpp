// Examples with several outputs: A_i = x_i (x) I_m, whose w holds m weights for each feature side by side (multi-output), or
// the rows of X that belong together (a block). Both have `products`, z = A_i^T w, and `add`, w += scale A_i delta, behind
// virtual calls: the work of an example outweighs one, and the kernels need not be compiled for each kind of rows.
#pragma once
#include <algorithm>

#include "rows.hpp"
#include "vector_losses.hpp"

namespace dualfree {

// Where the outputs of examples lie in arrays of one number for each output.
struct Places {
    Size n;              // examples
    Size most;           // outputs of an example, or of the largest block
    const Size* start;   // block i is the rows start[i] .. start[i + 1]; nullptr: `most` outputs each
    Size total = start ? start[n] : n * most;

    Place place(Size i) const {
        return start ? Place{i, start[i], start[i + 1] - start[i]} : Place{i, i * most, most};
    }
};

// Examples that will be visited soon: the row of the first is asked for, and where that of the second lies; -1: none.
struct Ahead {
    Size near = -1, far = -1;
};

struct VectorExamples : Places {
    Size weights;  // length of w
    VectorExamples(const Places& places, Size length) : Places(places), weights(length) {}
    virtual ~VectorExamples() = default;
    virtual Size work_before(Size i) const = 0;
    virtual void products(Size i, const double* w, double* z, Ahead ahead = {}) const = 0;
    virtual void add(Size i, double scale, const double* delta, double* w) const = 0;
};

template <class R>
struct MultiOutput final : VectorExamples {
    R rows;
    Size outputs;
    const double* offset;  // what is added to every product, one number for each output, or nullptr
    MultiOutput(const R& r, Size m, const double* b)
        : VectorExamples({r.n, m, nullptr}, r.d * m), rows(r), outputs(m), offset(b) {}

    Size work_before(Size i) const override { return rows.work_before(i) * outputs; }

    void products(Size i, const double* w, double* z, Ahead ahead) const override {
        if (ahead.far >= 0) rows.prefetch_bounds(ahead.far);
        if (ahead.near >= 0) rows.prefetch(ahead.near);
        with_outputs(outputs, [&](auto m) { products_of(m, i, w, z); });
        if (offset)
            for (Size k = 0; k < outputs; ++k) z[k] += offset[k];
    }

    void add(Size i, double scale, const double* delta, double* w) const override {
        with_outputs(outputs, [&](auto m) { add_of(m, i, scale, delta, w); });
    }

  private:
    // visit(j, x) for each stored entry, the constant one too
    template <class Visit>
    DUALFREE_INLINE void each(Size i, Visit&& visit) const {
        if constexpr (requires { rows.columns; }) {
            const Size last = rows.start[i + 1];
            for (Size k = rows.start[i]; k < last; ++k) visit(Size(rows.columns[k]), double(rows.values[k]));
        } else {
            const auto* row = rows.values + i * rows.row_stride;
            for (Size j = 0; j < rows.width; ++j) visit(j, double(row[j * rows.column_stride]));
        }
        if (rows.constant != 0) visit(rows.d - 1, rows.constant);
    }

    template <Size M>
    void products_of(std::integral_constant<Size, M> m, Size i, const double* w, double* z) const {
        double even[M] = {}, odd[M] = {};  // two sums side by side, that none waits for the other
        bool turn = false;
        if constexpr (requires { rows.columns; }) {
            const Size last = rows.start[i + 1];
            Size k = rows.start[i];
            for (; k + 2 <= last; k += 2) {
                const double *a = w + rows.columns[k] * m, *b = w + rows.columns[k + 1] * m;
                const double x = double(rows.values[k]), y = double(rows.values[k + 1]);
                for (Size o = 0; o < M; ++o) even[o] += x * a[o];
                for (Size o = 0; o < M; ++o) odd[o] += y * b[o];
            }
            if (k < last)
                for (Size o = 0; o < M; ++o) even[o] += double(rows.values[k]) * w[rows.columns[k] * m + o];
            if (rows.constant != 0)
                for (Size o = 0; o < M; ++o) odd[o] += rows.constant * w[(rows.d - 1) * m + o];
        } else {
            each(i, [&](Size j, double x) {
                double* sums = turn ? odd : even;
                for (Size o = 0; o < M; ++o) sums[o] += x * w[j * M + o];
                turn = !turn;
            });
        }
        for (Size o = 0; o < M; ++o) z[o] = even[o] + odd[o];
    }

    // Four features at a time, so that z is read and written a quarter as often.
    void products_of(Size m, Size i, const double* w, double* z) const {
        std::fill(z, z + m, 0.0);
        const double* weights_of[4];
        double x[4];
        int held = 0;
        each(i, [&](Size j, double value) {
            weights_of[held] = w + j * m, x[held] = value;
            if (++held < 4) return;
            const double *a = weights_of[0], *b = weights_of[1], *c = weights_of[2], *d = weights_of[3];
            const double xa = x[0], xb = x[1], xc = x[2], xd = x[3];
#pragma omp simd
            for (Size k = 0; k < m; ++k) z[k] += (xa * a[k] + xb * b[k]) + (xc * c[k] + xd * d[k]);
            held = 0;
        });
        for (int h = 0; h < held; ++h)
            for (Size k = 0; k < m; ++k) z[k] += x[h] * weights_of[h][k];
    }

    template <class M>
    DUALFREE_INLINE void add_of(M m, Size i, double scale, const double* delta, double* w) const {
        each(i, [&](Size j, double x) {
            double* to = w + j * m;
            const double by = scale * x;
#pragma omp simd
            for (Size k = 0; k < m; ++k) to[k] += by * delta[k];
        });
    }
};

template <class R>
struct Blocks final : VectorExamples {
    R rows;
    Blocks(const R& r, const Places& places) : VectorExamples(places, r.d), rows(r) {}

    Size work_before(Size i) const override { return rows.work_before(start[i]); }

    void products(Size i, const double* w, double* z, Ahead ahead) const override {
        if (ahead.far >= 0) rows.prefetch_bounds(start[ahead.far]);
        if (ahead.near >= 0) rows.prefetch(start[ahead.near]);
        const Place p = place(i);
        for (Size k = 0; k < p.m; ++k) z[k] = rows.dot(p.at + k, w);
    }
    void add(Size i, double scale, const double* delta, double* w) const override {
        const Place p = place(i);
        for (Size k = 0; k < p.m; ++k)
            if (delta[k] != 0) rows.add_to(p.at + k, scale * delta[k], w);
    }
};

}  // namespace dualfree
