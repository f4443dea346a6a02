// Sums over all examples that a step of Newton's method takes, for few features. Rows are copied a tile at a time, filled up with zeros,
// so that sparse and dense ones of all kinds meet the same loops of whole vectors; there is no copy of X, but where all rows are one tile
// of a second cache, it is written once for all steps. Sparse rows of few entries are added as they are.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/gram.hpp"
#include "kernels/newton_system.hpp"
#include "kernels/passes.hpp"

namespace dualfree {

// Sums over all examples at one point, and the memory of a tile.
template <class R>
class NewtonSums {
    static constexpr Size rows_a_tile = 32;
    static constexpr Size short_lines = 64;  // that are read faster as lines, and longer ones as they lie
    static constexpr Size most_at_once = 1 << 18;         // bytes of rows that stay where they were written
    static constexpr Size crowded = 4, crowded_once = 6;  // rows of which one entry in so many is stored, or more, are like dense ones
    static constexpr bool sparse = requires(const R& r) { r.columns; };

    const R& rows;
    const TileLoss& loss;
    Size d, stride;
    bool at_once, scattered, by_lines;
    LinesRoom room;
    double *x = nullptr, *scaled = nullptr;  // a tile of rows, or all, and a tile of the same times their curvature

    bool is_scattered() const {
        return sparse && (at_once ? crowded_once : crowded) * (rows.work_before(rows.n) - rows.n) < rows.n * d;
    }
    Size written() const { return at_once ? rows.n : rows_a_tile; }  // rows

    // The lines of rows from `at` on.
    const double* lines_of(Size at, Size count) {
        if (at_once) return x + at * stride;
        for (Size i = 0; i < count; ++i) rows.write_to(at + i, x + i * stride);
        return x;
    }

public:
    static constexpr Size spare_lines = 4;  // for who takes the steps

    NewtonSystem system;
    double total = 0;
    double* gradient;  // of the sum of the losses

    // With `all` rows in each Hessian, and not draws of some.
    NewtonSums(const R& r, const TileLoss& l, bool all)
        : rows(r), loss(l), d(r.d), stride(line_length(d)), at_once(all && r.n * stride * Size(sizeof(double)) <= most_at_once),
          scattered(is_scattered()), by_lines(!scattered && d <= short_lines),
          room(NewtonSystem::room(d) + (scattered ? 0 : written() + rows_a_tile) * stride + (1 + spare_lines) * stride), system(d, room),
          gradient(line()) {
        if (scattered) return;
        x = room.take(written() * stride);
        scaled = room.take(rows_a_tile * stride);
        if (at_once)
            for (Size i = 0; i < rows.n; ++i) rows.write_to(i, x + i * stride);
    }

    double* line() { return room.take(stride); }

    // The sum of the losses and its gradient; w has zeros behind it.
    void look(const double* w, double* margins, double* derivatives) {
        std::fill(gradient, gradient + stride, 0.0);
        total = by_lines ? look_by_lines(w, margins, derivatives)
                         : loss_and_gradient(rows, loss, w, gradient, margins, derivatives, 1);
    }

    // The Hessian of that sum where these are the margins.
    void curve(const double* margins) {
        system.clear();
        Listed listed;
        in_tiles(0, rows.n, [&](Size at, Size count) {
            loss.curvatures(at, count, margins + at, listed.weight);
            std::iota(listed.index, listed.index + count, at);
            add(listed, count, scattered ? nullptr : lines_of(at, count));
        }, rows_a_tile);
    }

    // An estimate of it from so many draws, an example the more often the more of it is its own: the k-th draw is at (k + 1/2) / draws
    // of the way through the sum of all curvature_i |A_i|^2, and a drawn example stands for the others.
    void curve_by_draws(const double* margins, const double* squares, Size draws) {
        system.clear();
        KeptMemory<double> memory(std::size_t(rows.n));
        double *const share = memory.data(), all = 0;
        in_tiles(0, rows.n, [&](Size at, Size count) { loss.curvatures(at, count, margins + at, share + at); });
        for (Size i = 0; i < rows.n; ++i) all += share[i] *= squares[i];
        const double step = all / double(draws);
        if (!(step > 0)) return;
        double passed = 0.5 * step;
        Listed listed;
        Size count = 0;
        for (Size i = 0; i < rows.n; ++i) {
            if ((passed += share[i]) < step) continue;
            const double times = std::floor(passed / step);
            passed -= times * step;
            listed.index[count] = i, listed.weight[count] = times * step / squares[i];
            if (++count == rows_a_tile) add_listed(listed, count), count = 0;
        }
        add_listed(listed, count);
    }

private:
    // Some examples with the weights of their products.
    struct Listed {
        Size index[rows_a_tile];
        double weight[rows_a_tile];
    };

    void add_listed(const Listed& listed, Size count) {
        if (!scattered)
            for (Size i = 0; i < count; ++i) rows.write_to(listed.index[i], x + i * stride);
        add(listed, count, x);
    }

    void add(const Listed& listed, Size count, [[maybe_unused]] const double* lines) {
        if constexpr (sparse) {
            if (scattered) {
                for (Size i = 0; i < count; ++i)
                    if (listed.weight[i] != 0) add_products(rows, listed.index[i], listed.weight[i], system.hessian(), stride);
                return;
            }
        }
        for (Size i = 0; i < count; ++i)
            for (Size k = i * stride; k < (i + 1) * stride; k += lines_wide) wide_at(scaled + k) = listed.weight[i] * wide_at(lines + k);
        for (Size j = 0; j < d; j += lines_high)  // of the blocks below the diagonal none is needed
            add_line_products(count, scaled + j, lines, stride, j, stride, 1.0, system.hessian() + j * stride);
    }

    double look_by_lines(const double* w, double* margins, double* derivatives) {
        alignas(Wide) double parts[rows_a_tile * lines_wide];  // of the products, added up where none waits for another
        double sum_of_losses = 0;
        in_tiles(0, rows.n, [&](Size at, Size count) {
            double *z = margins + at, *slope = derivatives + at;
            const double* const lines = lines_of(at, count);
            for (Size i = 0; i < count; ++i) {
                Wide sum = {};
                for (Size k = 0; k < stride; k += lines_wide) sum += wide_at(lines + i * stride + k) * wide_at(w + k);
                wide_at(parts + i * lines_wide) = sum;
            }
            for (Size i = 0; i < count; ++i) z[i] = std::accumulate(parts + i * lines_wide, parts + (i + 1) * lines_wide, 0.0);
            sum_of_losses += loss.value_and_derivatives(at, nullptr, count, z, slope);
            for (Size k = 0; k < stride; k += lines_wide) {
                const double* const column = lines + k;
                Wide sum[4] = {};  // nor here
                Size i = 0;
                for (; i + 4 <= count; i += 4)
                    for (Size r = 0; r < 4; ++r) sum[r] += slope[i + r] * wide_at(column + (i + r) * stride);
                for (; i < count; ++i) sum[0] += slope[i] * wide_at(column + i * stride);
                wide_at(gradient + k) += (sum[0] + sum[1]) + (sum[2] + sum[3]);
            }
        }, rows_a_tile);
        return sum_of_losses;
    }
};

}  // namespace dualfree
