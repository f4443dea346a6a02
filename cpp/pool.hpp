// Threads for the length of one call: none works beyond it, so forking and pickling need no care.
#pragma once
#include <atomic>
#include <limits>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "rows.hpp"

namespace dualfree {

inline void pause_briefly() {
#if defined(__x86_64__) || defined(_M_X64)
    __builtin_ia32_pause();
#endif
}

// Waits by spinning at first, some microseconds; where there are more threads than cores a spinning one would keep out the one that
// it waits for.
template <class Ready>
void spin_until(Ready&& ready, int patience = 100) {
    for (int spins = 0; !ready(); ++spins) {
        if (spins < patience)
            pause_briefly();
        else
            std::this_thread::yield();
    }
}

// All threads wait until all have come, mostly for microseconds.
class Barrier {
  public:
    explicit Barrier(int threads) : threads_(threads) {}

    void wait() {
        const int round = round_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            arrived_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            return;
        }
        spin_until([&] { return round_.load(std::memory_order_acquire) != round; }, 4000);
    }

  private:
    const int threads_;
    alignas(64) std::atomic<int> arrived_{0};
    alignas(64) std::atomic<int> round_{0};
};

// work(t) for t = 0 .. threads - 1, one thread each; nobody begins before all threads have been started, so that a
// system that refuses a thread leaves nobody waiting at a barrier.
template <class Work>
void in_parallel(int threads, Work&& work) {
    if (threads <= 1) {
        work(0);
        return;
    }
    enum Signal { wait, go, give_up };
    std::atomic<int> signal{wait};
    std::vector<std::jthread> others;
    others.reserve(std::size_t(threads) - 1);
    try {
        for (int t = 1; t < threads; ++t)
            others.emplace_back([&signal, &work, t] {
                signal.wait(wait, std::memory_order_acquire);
                if (signal.load(std::memory_order_acquire) == go) work(t);
            });
    } catch (...) {
        signal.store(give_up, std::memory_order_release);
        signal.notify_all();
        throw;
    }
    signal.store(go, std::memory_order_release);
    signal.notify_all();
    work(0);
}

// Part t of 0 .. size when it is cut into `parts`
inline Size cut(Size size, Size parts, Size t) { return size / parts * t + std::min(t, size % parts); }

// A room that may be entered until it is closed.
class Door {
  public:
    bool enter() {
        int inside = inside_.load(std::memory_order_relaxed);
        while (inside >= 0)
            if (inside_.compare_exchange_weak(inside, inside + 1, std::memory_order_acquire)) return true;
        return false;
    }

    void leave() { inside_.fetch_sub(1, std::memory_order_release); }

    // Waits until all who are inside have left.
    void close() {
        inside_.fetch_add(closed, std::memory_order_relaxed);
        spin_until([this] { return inside_.load(std::memory_order_acquire) == closed; });
    }

  private:
    static constexpr int closed = std::numeric_limits<int>::min() / 2;
    std::atomic<int> inside_{0};
};

// Threads beside the first one, for work that is taken in pieces. Each starts two others and then works, so that nobody has to start
// all of them. A system that refuses a thread does with fewer.
template <class Work>
void start_helpers(int t, int threads, const std::shared_ptr<Door>& door, const Work& work) {
    for (int other = 2 * t + 1; other <= 2 * t + 2 && other < threads; ++other) {
        try {
            std::thread([other, threads, door, &work] {
                if (!door->enter()) return;
                start_helpers(other, threads, door, work);
                work();
                door->leave();
            }).detach();
        } catch (const std::system_error&) {
        }
    }
}

// work() by this thread, and by others that come while it is at it. Whoever has no core until it is done goes home without having
// seen it: nobody waits for a thread that another program keeps from beginning.
template <class Work>
void with_helpers(int threads, const Work& work) {
    const auto door = std::make_shared<Door>();
    struct Closing {
        Door& door;
        ~Closing() { door.close(); }
    } closing{*door};
    start_helpers(0, threads, door, work);
    work();
}

// Pieces 0 .. count - 1 of some work, each for whichever thread is free: one that has no core for a while, or a slow one, keeps
// the others waiting for the piece in its hands alone. `finish` waits until all are done, by whomever.
class Pieces {
  public:
    explicit Pieces(Size count) : count_(count) {}

    template <class Work>
    void take(Work&& work) {
        for (Size k; (k = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) {
            work(k);
            done_.fetch_add(1, std::memory_order_release);
        }
    }

    void finish() const {
        spin_until([this] { return done_.load(std::memory_order_acquire) == count_; });
    }

  private:
    const Size count_;
    alignas(64) std::atomic<Size> next_{0};
    alignas(64) std::atomic<Size> done_{0};
};

// work(first, last) for parts of 0 .. size - 1, several for each thread.
template <class Work>
void in_pieces(int threads, Size size, Work&& work) {
    const Size count = threads <= 1 ? 1 : 8 * threads;
    Pieces pieces(count);
    with_helpers(threads, [&] { pieces.take([&](Size k) { work(cut(size, count, k), cut(size, count, k + 1)); }); });
}

// Threads that are worth starting for so much work (nonzeros): starting one costs as much as some 20,000 of them.
inline int useful_threads(int offered, Size work) {
    constexpr Size least = 100'000;
    return int(std::clamp<Size>(work / least, 1, offered));
}

}  // namespace dualfree
