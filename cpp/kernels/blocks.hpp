// A pass over all examples in blocks of about equal work. The blocks depend on the data alone, each gathers its sums in
// memory of its own, and these are added up in order: the same bits for any number of threads.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "pool.hpp"
#include "rows.hpp"

namespace dualfree {

// A sum that carries its rounding error along (Neumaier), so that 1e8 terms keep all their digits.
struct Sum {
    double total = 0, lost = 0;
    void add(double x) {
        const double next = total + x;
        if (std::isfinite(next)) lost += std::fabs(total) >= std::fabs(x) ? (total - next) + x : (x - next) + total;
        total = next;
    }
    double value() const { return total + lost; }
};

// The first row with at least this much work before it.
template <class R>
Size row_at(const R& rows, Size work) {
    Size low = 0, high = rows.n;
    while (low < high) {
        const Size middle = low + (high - low) / 2;
        if (rows.work_before(middle) < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Where each block begins. Blocks are many enough for many threads, and few enough that their sums, `features` numbers
// each, stay small beside the data.
template <class R>
std::vector<Size> blocks_of(const R& rows, Size features) {
    constexpr Size most = 64, share = 4;
    const Size work = rows.work_before(rows.n);
    Size count = 1;
    while (2 * count <= most && 2 * count * share * features <= work) count *= 2;
    std::vector<Size> start{0};
    for (Size b = 1; b < count; ++b) start.push_back(row_at(rows, work / count * b));
    start.push_back(rows.n);
    return start;
}

// Memory that the thread keeps for its next pass, unless it is much: pages that are touched for the first time cost more than
// what is written to them.
template <class Number>
class KeptMemory {
  public:
    explicit KeptMemory(std::size_t size) : used_(size * sizeof(Number) <= most ? kept() : fresh_) {
        if (used_.size() < size) used_.resize(size);
    }
    Number* data() { return used_.data(); }

  private:
    static constexpr std::size_t most = 1 << 24;  // bytes
    static std::vector<Number>& kept() {
        static thread_local std::vector<Number> memory;
        return memory;
    }
    std::vector<Number> fresh_;
    std::vector<Number>& used_;
};

// Where each of so many blocks of a list begins.
inline std::vector<Size> cut_evenly(Size size, Size count) {
    std::vector<Size> start;
    for (Size b = 0; b <= count; ++b) start.push_back(cut(size, count, b));
    return start;
}

// How many blocks may have a d by d array each.
inline Size most_square_blocks(Size d) {
    constexpr Size most = 64, room = 1 << 21;  // numbers
    return std::clamp<Size>(room / (d * d), 1, most);
}

// visit(first, last, sums) for each block, of which block b begins at start[b]; all sums end up in `out`, which is `size` numbers of a
// type that can be added. What the visits return is returned, one for each block.
template <class Number, class Visit>
auto in_blocks(const std::vector<Size>& start, int threads, Size size, Number* out, Visit&& visit) {
    const Size count = Size(start.size()) - 1;
    std::vector<decltype(visit(Size(0), Size(0), out))> found(static_cast<std::size_t>(count));
    threads = std::min(threads, int(count));
    const bool alone = threads == 1;  // the same sums in the same order, and one piece of memory for all
    KeptMemory<Number> sums(std::size_t(alone ? std::min<Size>(count - 1, 1) : count - 1) * std::size_t(size));
    const auto fill = [&](Size b) {
        Number* block = b == 0 ? out : sums.data() + (alone ? 0 : b - 1) * size;
        if (b > 0) std::fill(block, block + size, Number{});
        found[std::size_t(b)] = visit(start[std::size_t(b)], start[std::size_t(b) + 1], block);
    };
    const auto add = [&](Size b, Size first, Size last) {
        const Number* block = sums.data() + (alone ? 0 : b - 1) * size;
        for (Size j = first; j < last; ++j) out[j] += block[j];
    };
    if (alone) {
        fill(0);
        for (Size b = 1; b < count; ++b) fill(b), add(b, 0, size);
        return found;
    }
    Pieces blocks(count), features(threads);
    with_helpers(threads, [&] {
        blocks.take(fill);
        blocks.finish();
        features.take([&](Size t) {
            for (Size b = 1; b < count; ++b) add(b, cut(size, threads, t), cut(size, threads, t + 1));
        });
    });
    return found;
}

// The same for blocks of rows.
template <class R, class Number, class Visit>
auto over_blocks(const R& rows, int threads, Size size, Number* out, Visit&& visit) {
    return in_blocks(blocks_of(rows, size), useful_threads(threads, rows.work_before(rows.n)), size, out, visit);
}

// The same for a pass that fills one number for each example and gathers nothing.
template <class R, class Visit>
void over_rows(const R& rows, int threads, Visit&& visit) {
    const std::vector<Size> start = blocks_of(rows, 1);
    const Size count = Size(start.size()) - 1;
    threads = std::min(useful_threads(threads, rows.work_before(rows.n)), int(count));
    if (threads == 1) return visit(0, rows.n);
    Pieces blocks(count);
    with_helpers(threads, [&] {
        blocks.take([&](Size b) { visit(start[std::size_t(b)], start[std::size_t(b) + 1]); });
    });
}

}  // namespace dualfree
