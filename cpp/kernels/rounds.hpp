// dfSDCA on several threads that do not wait for each step of another: in a round each thread visits examples of its own, on
// a copy of w of its own, and then all moves are added up. The sum of T moves is at most T times as long, squared, as they
// add up to; so each thread counts its moves T times in its copy and in its curvature, and what all of them do is
// safe. For one number of threads the answer is always the same.
#pragma once
#include <vector>

#include "kernels/blocks.hpp"
#include "kernels/dfsdca.hpp"
#include "pool.hpp"

namespace dualfree {

// Visits the listed examples, each by the thread that owns it, in `rounds` rounds; `scale` holds v_i / (lambda n).
template <class R, class Loss>
double dfsdca_rounds(const R& rows, const Loss& loss, const double* scale, double inverse, const Size* indices,
                     Size count, Size rounds, int threads, double* alpha, double* w) {
    const double together = threads;
    const Size work = rows.work_before(rows.n);
    std::vector<std::vector<double>> copies(std::size_t(threads), std::vector<double>(w, w + rows.d));
    std::vector<std::vector<Size>> visits(static_cast<std::size_t>(threads));
    for (auto& list : visits) list.reserve(std::size_t(count));
    std::vector<double> scaled(static_cast<std::size_t>(rows.n)), moved(static_cast<std::size_t>(threads));
    Barrier barrier(threads);
    in_parallel(threads, [&](int t) {
        const Size first = row_at(rows, work / threads * t);
        const Size last = t + 1 == threads ? rows.n : row_at(rows, work / threads * (t + 1));
        auto& own = visits[std::size_t(t)];
        for (Size k = 0; k < count; ++k)
            if (indices[k] >= first && indices[k] < last) own.push_back(indices[k]);
        for (const Size i : own) scaled[std::size_t(i)] = together * scale[i];
        const ImplicitStep step{scaled.data(), 1};
        const Size low = cut(rows.d, threads, t), high = cut(rows.d, threads, t + 1), mine = Size(own.size());
        double total = 0;
        for (Size r = 0; r < rounds; ++r) {
            const Size from = cut(mine, rounds, r), to = cut(mine, rounds, r + 1);
            total += dfsdca_serial(rows, loss, step, together * inverse, own.data() + from, to - from, alpha,
                                   copies[std::size_t(t)].data());
            barrier.wait();
            for (Size j = low; j < high; ++j) {
                double sum = 0;
                for (const auto& copy : copies) sum += copy[std::size_t(j)] - w[j];
                w[j] += sum / together;
            }
            for (auto& copy : copies) std::copy(w + low, w + high, copy.data() + low);
            barrier.wait();
        }
        moved[std::size_t(t)] = total;
    });
    double total = 0;
    for (const double part : moved) total += part;
    return total;
}

}  // namespace dualfree
