// Threads for the length of one fit, for calls that come one after the other and are too short to start threads for: to start and
// to join one takes a tenth of a millisecond and more.
#pragma once
#include <atomic>
#include <thread>
#include <vector>

#include "pool.hpp"

namespace dualfree {

// A process that is forked while a fit runs has none of these threads, and no use for them: the fit is not its own.
class Crew {
  public:
    explicit Crew(int threads) : size_(threads) {
        try {
            for (int t = 1; t < threads; ++t) others_.emplace_back([this, t] { serve(t); });
        } catch (...) {  // the system refuses a thread
            dismiss();
            throw;
        }
    }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew() { dismiss(); }

    int size() const { return size_; }

    // work(t) for t = 0 .. size - 1, one thread each. It must not throw.
    template <class Work>
    void run(Work&& work) {
        context_ = &work;
        task_ = [](void* context, int t) { (*static_cast<std::remove_reference_t<Work>*>(context))(t); };
        busy_.store(size_ - 1, std::memory_order_relaxed);
        resting_.store(false, std::memory_order_relaxed);
        call();
        work(0);
        spin_until([this] { return busy_.load(std::memory_order_acquire) == 0; });
    }

    // The next call will not come soon, and others may need the cores.
    void rest() { resting_.store(true, std::memory_order_relaxed); }

  private:
    void call() {
        calls_.fetch_add(1, std::memory_order_release);
        calls_.notify_all();
    }

    void dismiss() {
        dismissed_ = true;
        call();
        for (auto& other : others_) other.join();
    }

    // The next call mostly comes within some tens of microseconds; after a while the thread sleeps.
    void serve(int t) {
        constexpr int patience = 8000;  // pauses: 0.2 ms or so
        for (int seen = 0;; ++seen) {
            for (int k = 0; k < patience && calls_.load(std::memory_order_acquire) == seen; ++k) {
                if (resting_.load(std::memory_order_relaxed)) break;
                pause_briefly();
            }
            while (calls_.load(std::memory_order_acquire) == seen) calls_.wait(seen, std::memory_order_acquire);
            if (dismissed_) return;
            task_(context_, t);
            busy_.fetch_sub(1, std::memory_order_release);
        }
    }

    const int size_;
    void* context_ = nullptr;
    void (*task_)(void*, int) = nullptr;
    bool dismissed_ = false;
    std::atomic<bool> resting_{false};
    alignas(64) std::atomic<int> calls_{0};
    alignas(64) std::atomic<int> busy_{0};
    std::vector<std::thread> others_;  // last, since they use all of the above
};

}  // namespace dualfree
