// Algorithm 1 (dfSDCA), many iterations a call. For every i of a batch, all at the same w:
//     g_i = phi_i'(A_i^T w) + alpha_i,   alpha_i += delta_i,   w += A_i delta_i / (lambda n),
// with delta_i = -(theta / p_i) g_i for a fixed step, or the implicit step.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/visits.hpp"
#include "losses.hpp"
#include "pool.hpp"
#include "rows.hpp"

namespace dualfree {

// `scale` holds theta / p_i, one for each example or one for all (stride 0).
struct FixedStep {
    const double* scale;
    Size stride;
    template <class Loss>
    double delta(const Loss& loss, Size i, double z, double alpha) const {
        return -scale[i * stride] * (loss.derivative(i, z) + alpha);
    }
    double response(Size) const { return 0; }
};

// `scale` holds v_i / (lambda n), up to a factor that is the same for all; `slack` says how nearly, see Losses.
struct ImplicitStep {
    const double* scale;
    Size stride;
    double slack = 0, factor = 1;
    template <class Loss>
    double delta(const Loss& loss, Size i, double z, double alpha) const {
        return loss.implicit_move(i, z, alpha, response(i), slack);
    }
    double response(Size i) const { return factor * scale[i * stride]; }
};

struct Batches {
    const Size* indices;
    const Size* start;  // batch b is indices[start[b]] .. indices[start[b + 1]]; nullptr: one each
    Size count;         // batches
};

// What visits see when `scale` times the vector that they have is w: the product with w, which has the rows' `offset` beside it.
struct Kept {
    double scale = 1, offset = 0;
    double product(double seen) const { return scale == 1 ? seen : (1 - scale) * offset + scale * seen; }
};

// Sums over visits, which cost nothing to know: delta_i^2, which falls with the duality gap, and delta_i A_i^T w and
// c_i delta_i^2, c_i = ||A_i||^2 / (lambda n), which tell what lambda n ||w||^2 has become where steps are implicit.
struct Visited {
    double moved = 0, along = 0, own = 0;
};

// One example at a time.
template <class R, class Loss, class Step>
[[gnu::noinline]] Visited dfsdca_serial(const R& rows, const Loss& loss, const Step& step, double inverse, const Size* indices, Size count,
                     double* alpha, double* w, const Kept kept = {}) {
    Visited seen;
    const bool w_is_long = rows.d >= long_w;
    inverse /= kept.scale;
    for (Size t = 0; t < count; ++t) {
        prefetch_visit(rows, loss, indices, t, count, alpha);
        if (t + far_ahead < count) prefetch_line(step.scale + indices[t + far_ahead] * step.stride);
        if constexpr (requires { rows.prefetch_weights(0, w); })
            if (w_is_long && t + weights_ahead < count) rows.prefetch_weights(indices[t + weights_ahead], w);
        const Size i = indices[t];
        const double z = kept.product(rows.dot(i, w)), delta = step.delta(loss, i, z, alpha[i]);
        alpha[i] += delta;
        rows.add_to(i, inverse * delta, w);
        const double square = delta * delta;
        seen.moved += square;
        seen.own += step.response(i) * square;
        seen.along += delta * (z - kept.offset);
    }
    return seen;
}

// The steps of a batch's examples: `values` holds their products with w and receives delta_i.
struct BatchSteps {
    virtual ~BatchSteps() = default;
    virtual void operator()(const Size* batch, Size count, const double* alpha, double* values) const = 0;
};

template <class Loss, class Step>
struct BatchStepsOf final : BatchSteps {
    Loss loss;
    Step step;
    BatchStepsOf(const Loss& l, const Step& s) : loss(l), step(s) {}
    void operator()(const Size* batch, Size count, const double* alpha, double* values) const override {
        for (Size k = 0; k < count; ++k) values[k] = step.delta(loss, batch[k], values[k], alpha[batch[k]]);
    }
};

// What Python says of a step: none for fixed ones, see StepRule in steps.py.
using Slack = std::optional<double>;

// These are compiled once, in bindings/dfsdca.cpp: visits one after the other, and a batch's steps, whose `scale` is that of
// FixedStep or ImplicitStep.
Visited visit_each(const Rows& rows, const AnyLoss& loss, const FixedStep& step, double inverse, const Size* indices, Size count,
                   double* alpha, double* w, const Kept& kept = {});
Visited visit_each(const Rows& rows, const AnyLoss& loss, const ImplicitStep& step, double inverse, const Size* indices, Size count,
                   double* alpha, double* w, const Kept& kept = {});
std::unique_ptr<BatchSteps> steps_of(const AnyLoss& loss, Slack slack, const double* scale, Size stride);

template <class R>
struct DfsdcaBatches {
    const R& rows;
    const BatchSteps& steps;
    double inverse;  // 1 / (lambda n)
    double* alpha;
    double* w;

    // The paper's parallel step. The margins of a batch are split over the threads by work, all at one w; then each thread
    // updates the features that it owns, in the order of the batch: the same bits for any number of threads. So it may be tried
    // whether they gain anything: each w that one thread moves and another reads goes from core to core, and where cores are far
    // from each other that costs more than it saves.
    double run(const Batches& b, int threads) const {
        Size largest = 0;
        for (Size t = 0; t < b.count; ++t) largest = std::max(largest, b.start[t + 1] - b.start[t]);
        std::vector<double> deltas(static_cast<std::size_t>(largest));
        double moved = 0;
        const Size trial = threads > 1 ? batches_of_a_trial(b) : b.count;
        threads = 3 * trial < b.count ? worth_while(b, threads) : 1;
        const double alone = seconds([&] { advance(b, 0, threads > 1 ? trial : b.count, Team{}, deltas.data(), moved); });
        if (threads == 1) return moved;
        Barrier barrier(threads);
        bool gain = false;
        in_parallel(threads, [&](int thread) {
            const Team team{threads, thread, &barrier};
            barrier.wait();  // all have come
            const double together = seconds([&] { advance(b, trial, 2 * trial, team, deltas.data(), moved); });
            if (thread == 0) gain = together < least_gain * alone;
            barrier.wait();
            if (gain || thread == 0) advance(b, 2 * trial, b.count, gain ? team : Team{}, deltas.data(), moved);
        });
        return moved;
    }

  private:
    static constexpr double least_gain = 0.95;  // of the time of one thread that several may take at most

    struct Team {
        int threads = 1, thread = 0;
        Barrier* barrier = nullptr;
        void wait() const {
            if (barrier) barrier->wait();
        }
    };

    // The batches first .. last - 1, of which each thread of a team does its share; the first of them adds up what alpha moves.
    void advance(const Batches& b, Size first, Size last, const Team& team, double* deltas, double& moved) const {
        const Size low = cut(rows.d, team.threads, team.thread), high = cut(rows.d, team.threads, team.thread + 1);
        for (Size t = first; t < last; ++t) {
            const Size* batch = b.indices + b.start[t];
            const Size size = b.start[t + 1] - b.start[t], after = b.start[b.count] - b.start[t];
            const auto [from, to] = share_of(batch, size, team.threads, team.thread);
            for (Size k = from; k < to; ++k) {  // the margins first: no row waits for another's loss
                prefetch_ahead(rows, alpha, batch, k, after);
                deltas[k] = rows.dot(batch[k], w);
            }
            steps(batch + from, to - from, alpha, deltas + from);
            team.wait();
            for (Size k = 0; k < size; ++k) {
                if (team.thread == 0) alpha[batch[k]] += deltas[k], moved += deltas[k] * deltas[k];
                if (team.threads == 1)
                    rows.add_to(batch[k], inverse * deltas[k], w);
                else
                    rows.add_to(batch[k], inverse * deltas[k], w, low, high);
            }
            team.wait();
        }
    }

    // As many as have some work, so that a clock tells: a tenth of a millisecond or so.
    Size batches_of_a_trial(const Batches& b) const {
        constexpr Size enough = 100'000;  // nonzeros
        Size work = 0, count = 0;
        for (; count < b.count && work < enough; ++count)
            for (Size k = b.start[count]; k < b.start[count + 1]; ++k) work += rows.nonzeros(b.indices[k]) + 1;
        return count;
    }

    template <class Work>
    static double seconds(Work&& work) {
        const auto begun = std::chrono::steady_clock::now();
        work();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    }

    // A barrier takes a microsecond or so: a batch must have that much work for each thread.
    int worth_while(const Batches& b, int threads) const {
        constexpr Size least = 1000;  // nonzeros for each thread
        if (threads <= 1 || b.count == 0) return 1;
        Size work = 0;
        const Size seen = std::min<Size>(b.start[b.count], 1000);  // a sample tells
        for (Size k = 0; k < seen; ++k) work += rows.nonzeros(b.indices[k]);
        const Size each = seen == 0 ? 0 : work / seen * (b.start[b.count] / b.count);
        return int(std::clamp<Size>(each / least, 1, threads));
    }

    // The part of a batch that a thread computes: about the same number of nonzeros for each.
    std::pair<Size, Size> share_of(const Size* batch, Size size, int threads, int thread) const {
        if (threads == 1) return {0, size};
        Size total = 0;
        for (Size k = 0; k < size; ++k) total += rows.nonzeros(batch[k]) + 1;
        const Size from = cut(total, threads, thread), to = cut(total, threads, thread + 1);
        Size before = 0, first = size, last = size;
        for (Size k = 0; k < size; ++k) {
            if (before >= from && first == size) first = k;
            if (before >= to) {
                last = k;
                break;
            }
            before += rows.nonzeros(batch[k]) + 1;
        }
        return {std::min(first, last), last};
    }
};

}  // namespace dualfree
