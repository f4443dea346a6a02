// Short rows of different lengths, some hundred at a time, those of the same length one after the other: each length has a loop of
// its own without an end to guess. For rows in a cache whose stored values are all the same; others wait for memory, which likes
// them in order, and gain little.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/runs.hpp"
#include "rows.hpp"

namespace dualfree {

template <class R>
constexpr bool may_go_by_length = false;
template <class Index>
constexpr bool may_go_by_length<CsrRows<Same, Index>> = true;

template <class R>
bool goes_by_length(const R& rows) {
    if constexpr (may_go_by_length<R>) return rows.work_before(rows.n) <= cached_work && ragged(rows);
    return false;
}

template <class R>
class ByLength {
  public:
    static constexpr Size most = 512;  // rows at a time

    explicit ByLength(const R& rows) : rows_(rows) {}

    // How many of so many rows to take at a time, so that no turn is much shorter than the others.
    static Size at_a_time(Size rows) {
        const Size turns = (rows + most - 1) / most;
        return turns == 0 ? most : (rows + turns - 1) / turns;
    }

    // The rows at, ..., at + count - 1 are the next ones.
    void sort(Size at, Size count) {
        std::int32_t begin[buckets + 1] = {};
        std::uint8_t bucket[most];
        at_ = at, count_ = count;
        for (Size k = 0; k < count; ++k) bucket[k] = std::uint8_t(std::min<Size>(rows_.nonzeros(at + k), longest + 1));
        for (Size k = 0; k < count; ++k) ++begin[bucket[k] + 1];
        for (Size b = 0; b < buckets; ++b) begin[b + 1] += begin[b];
        for (Size k = 0; k < count; ++k) order_[begin[bucket[k]]++] = std::int32_t(k);
        for (Size b = 0; b < buckets; ++b) end_[b] = begin[b];
    }

    // out[k] = A_i^T w for i = at + k
    void dot(const double* w, double* out) const {
        const double always = rows_.constant != 0 ? rows_.offset + rows_.constant * w[rows_.d - 1] : 0.0;
        for_each_length([&](auto length) { dot_rows<length()>(w, always, out); });
        for (Size q = end_[longest]; q < count_; ++q) out[order_[q]] = rows_.dot(at_ + order_[q], w);
    }

    // out += sum of A_i coefficient_k
    void add(const double* coefficients, double* out) const {
        for_each_length([&](auto length) { add_rows<length()>(coefficients, out); });
        if (rows_.constant != 0)
            for (Size q = 0; q < end_[longest]; ++q) out[rows_.d - 1] += coefficients[order_[q]] * rows_.constant;
        for (Size q = end_[longest]; q < count_; ++q) rows_.add_to(at_ + order_[q], coefficients[order_[q]], out);
    }

  private:
    static constexpr int longest = 23;  // with a loop of its own
    static constexpr Size buckets = longest + 2;
    using Index = std::remove_cvref_t<decltype(*R{}.columns)>;

    template <class Use>
    static void for_each_length(const Use& use) {
        [&]<int... length>(std::integer_sequence<int, length...>) {
            (use(std::integral_constant<int, length>()), ...);
        }(std::make_integer_sequence<int, longest + 1>());
    }

    template <int length>
    [[gnu::noinline]] void dot_rows(const double* w, double always, double* out) const {
        const Index *columns = rows_.columns, *start = rows_.start + at_;
        const double value = rows_.values.value;
        for (Size q = length == 0 ? 0 : end_[length - 1]; q < end_[length]; ++q) {
            const Size k = order_[q];
            const Index* row = columns + start[k];
            double sums[4] = {};
#pragma GCC unroll 32
            for (int j = 0; j < length; ++j) sums[j % 4] += w[row[j]];
            out[k] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) * value + always;
        }
    }

    template <int length>
    [[gnu::noinline]] void add_rows(const double* coefficients, double* out) const {
        const Index *columns = rows_.columns, *start = rows_.start + at_;
        const double value = rows_.values.value;
        for (Size q = length == 0 ? 0 : end_[length - 1]; q < end_[length]; ++q) {
            const Size k = order_[q];
            const Index* row = columns + start[k];
            const double scale = coefficients[k] * value;
#pragma GCC unroll 32
            for (int j = 0; j < length; ++j) out[row[j]] += scale;
        }
    }

    const R& rows_;
    Size at_ = 0, count_ = 0, end_[buckets] = {};
    std::int32_t order_[most];
};

}  // namespace dualfree
