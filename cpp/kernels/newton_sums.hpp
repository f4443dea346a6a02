// Sums over all examples that a step of Newton's method takes, for few features. Rows are copied a tile at a time, filled up with zeros,
// so that sparse and dense ones of all kinds meet the same loops of whole vectors; there is no copy of X.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/inner.hpp"
#include "kernels/tiles.hpp"

namespace dualfree {

// Lines of numbers, each filled up with zeros to whole vectors that lie in one line of memory.
class Lines {
    static constexpr std::size_t wide = 8;
    struct alignas(wide * sizeof(double)) Piece {
        double numbers[wide] = {};
    };
    std::vector<Piece> pieces;

public:
    Lines(Size count, Size stride) : pieces(std::size_t(count * stride) / wide) {}
    double* data() { return pieces.data()->numbers; }
    const double* data() const { return pieces.data()->numbers; }
    Size size() const { return Size(pieces.size() * wide); }
    void clear() { std::fill(data(), data() + size(), 0.0); }
    void swap(Lines& other) { pieces.swap(other.pieces); }
};

// Sums over all examples at one point, and the memory of a tile.
class NewtonSums {
    static constexpr Size rows_a_tile = 32, high = 8;
    // As many numbers as a register has: of more the compiler makes loads and stores of single ones.
#if defined(__AVX512F__)
    static constexpr Size wide = 8;
#elif defined(__AVX__)
    static constexpr Size wide = 4;
#else
    static constexpr Size wide = 2;
#endif
    typedef double Wide __attribute__((vector_size(wide * sizeof(double)), may_alias));

    Size d, stride;
    Lines x, scaled, hessian, factor;  // a tile of rows, the same times their curvature; two arrays of d lines

    static const Wide& wide_at(const double* at) { return *reinterpret_cast<const Wide*>(at); }
    static Wide& wide_at(double* at) { return *reinterpret_cast<Wide*>(at); }

    template <class R>
    void read(const R& rows, Size at, Size count) {
        for (Size i = 0; i < count; ++i) rows.write_to(at + i, x.data() + i * stride);
    }

    // hessian += sum of scaled_k x_k^T, in blocks that stay in registers; of the blocks below the diagonal none is needed.
    void add_products(Size count) {
        for (Size j = 0; j < d; j += high) {
            for (Size k = j; k < stride; k += wide) {
                Wide sum[high] = {};
                for (Size i = 0; i < count; ++i) {
                    const Wide line = wide_at(x.data() + i * stride + k);
                    const double* factors = scaled.data() + i * stride + j;
                    for (Size r = 0; r < high; ++r) sum[r] += factors[r] * line;
                }
                for (Size r = 0; r < high; ++r) wide_at(hessian.data() + (j + r) * stride + k) += sum[r];
            }
        }
    }

public:
    double total = 0;
    Lines gradient;  // of the sum of the losses

    explicit NewtonSums(Size features)
        : d(features), stride((features + high - 1) / high * high), x(rows_a_tile, stride), scaled(rows_a_tile, stride),
          hessian(stride, stride), factor(stride, stride), gradient(1, stride) {}

    Lines line() const { return Lines(1, stride); }

    // The sum of the losses and its gradient; w has zeros behind it.
    template <class R>
    void look(const R& rows, const TileLoss& loss, const double* w, double* margins, double* derivatives) {
        alignas(wide * sizeof(double)) double parts[rows_a_tile * wide];  // of the products, added up where none waits for another
        total = 0;
        gradient.clear();
        in_tiles(0, rows.n, [&](Size at, Size count) {
            double *z = margins + at, *slope = derivatives + at;
            read(rows, at, count);
            for (Size i = 0; i < count; ++i) {
                Wide sum = {};
                for (Size k = 0; k < stride; k += wide) sum += wide_at(x.data() + i * stride + k) * wide_at(w + k);
                wide_at(parts + i * wide) = sum;
            }
            for (Size i = 0; i < count; ++i) z[i] = std::accumulate(parts + i * wide, parts + (i + 1) * wide, 0.0);
            total += loss.value_and_derivatives(at, nullptr, count, z, slope);
            for (Size k = 0; k < stride; k += wide) {
                const double* const column = x.data() + k;
                Wide sum[4] = {};  // nor here
                Size i = 0;
                for (; i + 4 <= count; i += 4)
                    for (Size r = 0; r < 4; ++r) sum[r] += slope[i + r] * wide_at(column + (i + r) * stride);
                for (; i < count; ++i) sum[0] += slope[i] * wide_at(column + i * stride);
                wide_at(gradient.data() + k) += (sum[0] + sum[1]) + (sum[2] + sum[3]);
            }
        }, rows_a_tile);
    }

    // The Hessian of that sum where these are the margins.
    template <class R>
    void curve(const R& rows, const TileLoss& loss, const double* margins) {
        hessian.clear();
        double curvature[rows_a_tile];
        in_tiles(0, rows.n, [&](Size at, Size count) {
            read(rows, at, count);
            loss.curvatures(at, count, margins + at, curvature);
            for (Size i = 0; i < count; ++i)
                for (Size k = i * stride; k < (i + 1) * stride; k += wide)
                    wide_at(scaled.data() + k) = curvature[i] * wide_at(x.data() + k);
            add_products(count);
        }, rows_a_tile);
    }

    // The square of g without its last entry, at the best value of the last feature, by the Hessian that is at hand.
    double square_without_last(const double* g) const {
        const auto shared = [&](Size j) { return hessian.data()[j * stride + d - 1]; };
        if (!(shared(d - 1) > 0)) return infinity;
        const double move = g[d - 1] / shared(d - 1);
        double square = 0;
        for (Size j = 0; j < d - 1; ++j) square += (g[j] - move * shared(j)) * (g[j] - move * shared(j));
        return square;
    }

    // out = (hessian / n + lambda I)^-1 g, I for the first `penalised` features, by a Cholesky factor U, whose lines are those of the
    // upper triangle; false where it has none.
    bool solve(double n, double lambda, Size penalised, const double* g, double* out) {
        const auto line = [&](Size k) { return factor.data() + k * stride; };
        std::transform(hessian.data(), hessian.data() + hessian.size(), factor.data(), [n](double sum) { return sum / n; });
        for (Size k = 0; k < penalised; ++k) line(k)[k] += lambda;
        for (Size k = 0; k < d; ++k) {
            const double* const pivot = line(k);
            if (!(pivot[k] > 0)) return false;
            const double inverse = 1 / std::sqrt(pivot[k]);
            for (Size j = k; j < stride; ++j) line(k)[j] *= inverse;
            for (Size i = k + 1; i < d; ++i) {
                const double share = pivot[i];
                double* const below = line(i);
                for (Size j = i / wide * wide; j < stride; ++j) below[j] -= share * pivot[j];
            }
        }
        std::copy(g, g + d, out);
        for (Size k = 0; k < d; ++k) {
            out[k] /= line(k)[k];
            for (Size j = k + 1; j < d; ++j) out[j] -= out[k] * line(k)[j];
        }
        for (Size k = d - 1; k >= 0; --k) out[k] = (out[k] - inner(line(k) + k + 1, 1, out + k + 1, 1, d - k - 1)) / line(k)[k];
        return true;
    }
};

}  // namespace dualfree
