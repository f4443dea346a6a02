// dfSDCA in batches on threads of which each owns a range of features. For each batch a thread computes the products of all
// its rows over its own features, sends these sums to the others, waits for theirs, takes all steps of the batch itself, and
// updates its own features: no part of w ever travels from one core to another, and a batch has one wait.
// For one number of threads the answer is always the same.
#pragma once
#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "crew.hpp"
#include "kernels/shard_rows.hpp"
#include "kernels/shard_steps.hpp"

namespace dualfree {

// What a thread sends: two places by turns, so that one is read while the next is written. A thread begins to write a place again
// when all have sent what they send after reading it.
struct alignas(64) Mailbox {
    std::atomic<Size> sent{0};  // batches
    double overlap = 0;         // of the last batch that was looked at; there are others before the next one
    alignas(64) double products[2][most_together];
    double alpha[2][most_together];  // of the first thread alone: it owns alpha
};

// Whether v is large enough, from what is seen: the steps of a batch are safe where ||sum A_i delta_i||^2 is at most
// sum v_i delta_i^2. That is so on average where batches are random, but examples that are visited because they move may
// share more than others do; then `caution` grows.
class Caution {
  public:
    explicit Caution(double value) : value_(value) {}
    double value() const { return value_; }

    void learn(double overlap, double own, double shared) {
        constexpr double memory = 0.9, margin = 1.25;
        overlap_ = memory * overlap_ + overlap, own_ = memory * own_ + own, shared_ = memory * shared_ + shared;
        if (overlap_ > own_ + value_ * shared_ && shared_ > 0) value_ = margin * (overlap_ - own_) / shared_;
    }

  private:
    double value_, overlap_ = 0, own_ = 0, shared_ = 0;
};

constexpr Size probe_every = 16;  // batches; to look costs as much as the products of one

struct ShardVisits {
    const ShardSteps& steps;
    double inverse;  // 1 / (lambda n)
    const Size* indices;
    Size count;
    int together;  // examples of a batch
    double* alpha;
    double* w;
};

// One thread's work on its shard; or on all of them, with the same sums in the same order, where the others are busy with
// something else.
template <class R>
class ShardWorker {
  public:
    ShardWorker(const R& rows, std::vector<Shard<R>> shards, int first, const ShardVisits& visits,
                std::vector<Mailbox>& boxes, double caution)
        : shards_(std::move(shards)), updated_(shards_.size() == 1 ? shards_[0] : Shard<R>{rows, 1, 0}), first_(first),
          visits_(visits), boxes_(boxes), caution_(caution) {}

    void run() {
        for (Size b = 0; b * visits_.together < visits_.count; ++b) {
            const Size from = b * visits_.together;
            const Size* batch = visits_.indices + from;
            const int size = int(std::min<Size>(visits_.together, visits_.count - from));
            for (std::size_t s = 0; s < shards_.size(); ++s) send(shards_[s], box(s), b, from, size);
            double delta[most_together];
            take_steps(b, batch, size, delta);
            for (int k = 0; k < size; ++k)
                updated_.view.add_to(updated_.stride * batch[k], visits_.inverse * delta[k], visits_.w + updated_.first);
            if (b % probe_every == 0) probe(b, batch, size, delta);
        }
    }

    double moved() const { return moved_; }
    double caution() const { return caution_.value(); }

  private:
    Mailbox& box(std::size_t s) { return boxes_[std::size_t(first_) + s]; }

    void send(const Shard<R>& shard, Mailbox& box, Size b, Size from, int size) {
        for (int k = 0; k < size; ++k) {
            prefetch_ahead(shard, from + k);
            const Size i = visits_.indices[from + k];
            box.products[b & 1][k] = shard.view.dot(shard.stride * i, visits_.w + shard.first);
            if (&box == boxes_.data()) box.alpha[b & 1][k] = visits_.alpha[i];
        }
        box.sent.store(b + 1, std::memory_order_release);
    }

    void take_steps(Size b, const Size* batch, int size, double* delta) {
        const bool probed = b > 0 && (b - 1) % probe_every == 0;
        double z[most_together] = {}, overlap = 0;
        for (auto& box : boxes_) {
            spin_until([&] { return box.sent.load(std::memory_order_acquire) > b; });
            for (int k = 0; k < size; ++k) z[k] += box.products[b & 1][k];
            if (probed) overlap += box.overlap;
        }
        if (probed) caution_.learn(overlap, own_, shared_);
        const double* alpha = boxes_[0].alpha[b & 1];
        visits_.steps(batch, size, z, alpha, caution_.value(), delta);
        if (first_ != 0) return;
        for (int k = 0; k < size; ++k) {
            visits_.alpha[batch[k]] = alpha[k] + delta[k];
            moved_ += delta[k] * delta[k];
        }
    }

    // ||sum A_i delta_i||^2 / (lambda n) over each shard's features: by how much the steps changed their own products.
    void probe(Size b, const Size* batch, int size, const double* delta) {
        for (std::size_t s = 0; s < shards_.size(); ++s) {
            const auto& shard = shards_[s];
            double overlap = 0;
            for (int k = 0; k < size; ++k) {
                const double after = shard.view.dot(shard.stride * batch[k], visits_.w + shard.first);
                overlap += delta[k] * (after - box(s).products[b & 1][k]);
            }
            box(s).overlap = overlap;
        }
        own_ = shared_ = 0;
        for (int k = 0; k < size; ++k) {
            own_ += visits_.steps.curvatures.scale[2 * batch[k]] * delta[k] * delta[k];
            shared_ += visits_.steps.curvatures.scale[2 * batch[k] + 1] * delta[k] * delta[k];
        }
    }

    // The visiting order is known: first what says where a row lies, then the row.
    DUALFREE_INLINE void prefetch_ahead(const Shard<R>& shard, Size at) const {
        constexpr Size far_ahead = 24, near_ahead = 12;
        if (at + far_ahead < visits_.count) {
            const Size i = visits_.indices[at + far_ahead];
            shard.view.prefetch_bounds(shard.stride * i);
            __builtin_prefetch(visits_.steps.y + i);
            __builtin_prefetch(visits_.steps.curvatures.scale + 2 * i);
            if (first_ == 0) __builtin_prefetch(visits_.alpha + i);
        }
        if (at + near_ahead < visits_.count) shard.view.prefetch(shard.stride * visits_.indices[at + near_ahead]);
    }

    const std::vector<Shard<R>> shards_;
    const Shard<R> updated_;  // all of them as one: a sum of products depends on its order, an update does not
    const int first_;  // the number of the first of them
    const ShardVisits visits_;
    std::vector<Mailbox>& boxes_;
    Caution caution_;
    double moved_ = 0, own_ = 0, shared_ = 0;
};

// One visit to each listed example; `alone`: by this thread, with the same bits. Returns the sum of delta_i^2; `caution` goes
// in and comes out.
template <class R, class Bounds>
double dfsdca_shards(const R& rows, const Bounds* bounds, const Size* cuts, const ShardVisits& visits, Crew& crew,
                     bool alone, double& caution) {
    const int threads = crew.size();
    std::vector<Mailbox> boxes(static_cast<std::size_t>(threads));
    double moved = 0, learnt = caution;
    const auto work = [&](int first, int last) {
        std::vector<Shard<R>> own;
        for (int t = first; t < last; ++t) own.push_back(shard_of(rows, bounds, cuts, threads, t));
        ShardWorker<R> worker(rows, std::move(own), first, visits, boxes, caution);
        worker.run();
        if (first == 0) moved = worker.moved(), learnt = worker.caution();
    };
    if (alone)
        work(0, threads);
    else
        crew.run([&](int t) { work(t, t + 1); });
    caution = learnt;
    return moved;
}

}  // namespace dualfree
