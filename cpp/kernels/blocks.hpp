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

// visit(first, last, sums) for each block; all sums end up in `out`, which is `size` numbers of a type that can be added.
// What the visits return is returned, one for each block.
template <class R, class Number, class Visit>
auto over_blocks(const R& rows, int threads, Size size, Number* out, Visit&& visit) {
    const std::vector<Size> start = blocks_of(rows, size);
    const Size count = Size(start.size()) - 1;
    std::vector<decltype(visit(Size(0), Size(0), out))> found(static_cast<std::size_t>(count));
    threads = std::min(useful_threads(threads, rows.work_before(rows.n)), int(count));
    if (threads == 1) {  // the same sums in the same order, and one piece of memory for all, which small ones keep
        static thread_local std::vector<Number> kept;
        constexpr Size most = Size(1 << 22) / Size(sizeof(Number));
        std::vector<Number> fresh;
        std::vector<Number>& sums = size <= most ? kept : fresh;
        for (Size b = 0; b < count; ++b) {
            if (b > 0) sums.assign(std::size_t(size), Number{});
            found[std::size_t(b)] = visit(start[std::size_t(b)], start[std::size_t(b) + 1], b == 0 ? out : sums.data());
            for (Size j = 0; b > 0 && j < size; ++j) out[j] += sums[std::size_t(j)];
        }
        return found;
    }
    std::vector<Number> sums(std::size_t((count - 1) * size));
    Barrier barrier(threads);
    in_parallel(threads, [&](int t) {
        for (Size b = cut(count, threads, t); b < cut(count, threads, t + 1); ++b)
            found[std::size_t(b)] = visit(start[std::size_t(b)], start[std::size_t(b) + 1],
                                          b == 0 ? out : sums.data() + (b - 1) * size);
        barrier.wait();
        const Size first = cut(size, threads, t), last = cut(size, threads, t + 1);
        for (Size b = 1; b < count; ++b) {
            const Number* block = sums.data() + (b - 1) * size;
            for (Size j = first; j < last; ++j) out[j] += block[j];
        }
    });
    return found;
}

// The same for a pass that fills one number for each example and gathers nothing.
template <class R, class Visit>
void over_rows(const R& rows, int threads, Visit&& visit) {
    const std::vector<Size> start = blocks_of(rows, 1);
    const Size count = Size(start.size()) - 1;
    threads = std::min(useful_threads(threads, rows.work_before(rows.n)), int(count));
    in_parallel(threads, [&](int t) {
        visit(start[std::size_t(cut(count, threads, t))], start[std::size_t(cut(count, threads, t + 1))]);
    });
}

}  // namespace dualfree
