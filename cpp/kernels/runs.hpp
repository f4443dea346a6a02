// Products and sums of consecutive rows. Where rows are short and differ in length, the processor guesses wrong where a row
// ends, once for each row, which costs as much as the row. There the products of many rows are made as one stream, and each
// row takes its own from it in groups of 24, the last one filled up with zeros. That is as long as `ragged` lets the mean row be:
// whether there is a second group is one more guess, and must rarely be wrong.
#pragma once
#include <cstddef>

#include "rows.hpp"

namespace dualfree {

// One row after the other.
template <class R>
class Runs {
  public:
    explicit Runs(const R& rows) : rows_(rows) {}

    // out[k] = A_i^T w for i = first + k, k < count
    void dot(Size first, Size count, const double* w, double* out) const {
        for (Size k = 0; k < count; ++k) out[k] = rows_.dot(first + k, w);
    }

    // out += sum of A_i coefficient_k; numbers, or pairs of them
    template <class Number>
    void add(Size first, Size count, const Number* coefficients, Number* out) const {
        for (Size k = 0; k < count; ++k) rows_.add_to(first + k, coefficients[k], out);
    }

  private:
    const R& rows_;
};

// Dense rows: sums of four side by side, and where X lies column by column, all rows of a tile for one column after the other.
// Products are made row by row, for rows that come from memory should come one after the other.
template <class Value>
class Runs<DenseRows<Value>> {
  public:
    explicit Runs(const DenseRows<Value>& rows) : rows_(rows) {}

    void dot(Size first, Size count, const double* w, double* out) const {
        if (rows_.column_by_column()) return dot_columns(first, count, w, out);
        for (Size k = 0; k < count; ++k) out[k] = rows_.dot(first + k, w);
    }

    void add(Size first, Size count, const double* coefficients, double* out) const {
        if (rows_.column_by_column()) return add_columns(first, count, coefficients, out);
        Size k = 0;
        if (rows_.row_by_row())
            for (; k + 4 <= count; k += 4) rows_.add_four_to(first + k, coefficients + k, out);
        for (; k < count; ++k) rows_.add_to(first + k, coefficients[k], out);
    }

    void add(Size first, Size count, const Pair* coefficients, Pair* out) const {
        for (Size k = 0; k < count; ++k) rows_.add_to(first + k, coefficients[k], out);
    }

  private:
    void dot_columns(Size first, Size count, const double* w, double* out) const {
        const double always = rows_.constant != 0 ? rows_.offset + rows_.constant * w[rows_.width] : 0.0;
        std::fill(out, out + count, always);
        for (Size j = 0; j < rows_.width; ++j) {
            const Value* column = rows_.values + j * rows_.column_stride + first;
#pragma omp simd
            for (Size k = 0; k < count; ++k) out[k] += double(column[k]) * w[j];
        }
    }

    void add_columns(Size first, Size count, const double* coefficients, double* out) const {
        for (Size j = 0; j < rows_.width; ++j) {
            const Value* column = rows_.values + j * rows_.column_stride + first;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (Size k = 0; k < count; ++k) sum += double(column[k]) * coefficients[k];
            out[j] += sum;
        }
        if (rows_.constant != 0)
            for (Size k = 0; k < count; ++k) out[rows_.width] += coefficients[k] * rows_.constant;
    }

    const DenseRows<Value>& rows_;
};

// Whether rows are short and differ in length: asked of some of them, so that one data set has one answer.
template <class Values, class Index>
bool ragged(const CsrRows<Values, Index>& rows) {
    constexpr Size looks = 256, longest = 24, group = 4;
    Size changes = 0, total = 0, seen = 0;
    for (Size i = 0; i + 1 < rows.n; i += std::max<Size>(1, rows.n / looks), ++seen) {
        changes += (rows.nonzeros(i) + group - 1) / group != (rows.nonzeros(i + 1) + group - 1) / group;
        total += rows.nonzeros(i);
    }
    return total <= longest * seen && 4 * changes > seen;
}

template <class Values, class Index>
class Runs<CsrRows<Values, Index>> {
  public:
    explicit Runs(const CsrRows<Values, Index>& rows) : rows_(rows), ragged_(ragged(rows)) {}

    void dot(Size first, Size count, const double* w, double* out) const {
        const Size last = first + count;
        double stream[room + group];
        for (Size at = first, next = at; at < last; at = next) {
            next = end_of_stream(at, last);
            if (ragged_ && rows_.start[next] - rows_.start[at] <= room)
                dot_stream(at, next, w, stream, out + (at - first));
            else
                for (Size i = at; i < next; ++i) {
                    prefetch_ahead(i, w);
                    out[i - first] = rows_.dot(i, w);
                }
        }
    }

    template <class Number>
    void add(Size first, Size count, const Number* coefficients, Number* out) const {
        const Size last = first + count;
        alignas(Number) std::byte memory[sizeof(Number) * (room + group)];
        for (Size at = first, next = at; at < last; at = next) {
            next = end_of_stream(at, last);
            if (ragged_ && rows_.start[next] - rows_.start[at] <= room)
                add_stream(at, next, coefficients + (at - first), reinterpret_cast<Number*>(memory), out);
            else
                for (Size i = at; i < next; ++i) {
                    prefetch_ahead(i, out);
                    rows_.add_to(i, coefficients[i - first], out);
                }
        }
    }

  private:
    static constexpr Size group = 24, room = 4096;

    template <class Number>
    DUALFREE_INLINE void prefetch_ahead(Size i, const Number* w) const {
        if (rows_.d >= long_w && i + weights_ahead < rows_.n) rows_.prefetch_weights(i + weights_ahead, w);
    }

    // As many rows from `at` on as the stream has room for, and at least one.
    Size end_of_stream(Size at, Size last) const {
        if (!ragged_ || rows_.start[last] - rows_.start[at] <= room) return last;
        Size next = at + 1;
        while (rows_.start[next + 1] - rows_.start[at] <= room) ++next;
        return next;
    }

    void dot_stream(Size at, Size end, const double* w, double* stream, double* out) const {
        const Size begin = rows_.start[at], size = rows_.start[end] - begin;
        const Index* columns = rows_.columns + begin;
        if (rows_.d >= long_w) rows_.prefetch_weights(begin, begin + size, w);
        for (Size k = 0; k < size; ++k) stream[k] = double(rows_.values[begin + k]) * w[columns[k]];
        for (Size i = at; i < end; ++i) {
            const double* own = stream + (rows_.start[i] - begin);
            double sum = 0;
            for (Size left = rows_.nonzeros(i); left > 0; left -= group, own += group) {
                double part = 0;
#pragma omp simd reduction(+ : part)
                for (Size q = 0; q < group; ++q) part += q < left ? own[q] : 0.0;
                sum += part;
            }
            out[i - at] = rows_.constant != 0 ? sum + rows_.offset + rows_.constant * w[rows_.d - 1] : sum;
        }
    }

    // Each row's coefficient is written as often as the row has entries, and further: the next row writes over that.
    template <class Number>
    void add_stream(Size at, Size end, const Number* coefficients, Number* stream, Number* out) const {
        const Size begin = rows_.start[at], size = rows_.start[end] - begin;
        if (rows_.d >= long_w) rows_.prefetch_weights(begin, begin + size, out);
        for (Size i = at; i < end; ++i) {
            Number* own = stream + (rows_.start[i] - begin);
            for (Size left = rows_.nonzeros(i); left > 0; left -= group, own += group)
                for (Size q = 0; q < group; ++q) own[q] = coefficients[i - at];
        }
        for (Size k = 0; k < size; ++k) add_one(out[rows_.columns[begin + k]], stream[k], double(rows_.values[begin + k]));
        if (rows_.constant != 0)
            for (Size i = at; i < end; ++i) add_one(out[rows_.d - 1], coefficients[i - at], rows_.constant);
    }

    static void add_one(double& out, double scale, double x) { out += scale * x; }
    static void add_one(Pair& out, const Pair& scale, double x) { out.add(scale, x); }

    const CsrRows<Values, Index>& rows_;
    const bool ragged_;
};

}  // namespace dualfree
