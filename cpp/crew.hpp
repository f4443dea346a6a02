// Threads for the length of one fit, for calls that come one after the other and are too short to start threads for: to start and
// to join one takes a tenth of a millisecond and more.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "pool.hpp"

namespace dualfree {

// A process that is forked while a fit runs has none of these threads, and no use for them: the fit is not its own.
// Nobody waits for a thread that is told to go: one without a core would take milliseconds to hear of it.
class Crew {
  public:
    explicit Crew(int threads) : size_(threads) {
        try {
            for (int t = 1; t < threads; ++t) std::thread([post = post_, t] { serve(*post, t); }).detach();
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
        spin_until([this] { return idle(); });
        post_->context = &work;
        post_->task = [](void* context, int t) { (*static_cast<std::remove_reference_t<Work>*>(context))(t); };
        call();
        work(0);
        spin_until([this] { return idle(); });
    }

    // Whether each of them has a core: then it answers within microseconds, or some tens of these if it was asleep.
    bool present() {
        using Clock = std::chrono::steady_clock;
        if (idle()) {  // else the last question is still open
            post_->task = nullptr;
            call();
        }
        const auto latest = Clock::now() + std::chrono::microseconds(100);
        while (!idle() && Clock::now() < latest) pause_briefly();
        return idle();
    }

    // The next call will not come soon, and others may need the cores.
    void rest() { post_->resting.store(true, std::memory_order_relaxed); }

  private:
    // What all threads see.
    struct Post {
        void* context = nullptr;
        void (*task)(void*, int) = nullptr;
        std::atomic<bool> dismissed{false}, resting{false};
        alignas(64) std::atomic<int> calls{0};
        alignas(64) std::atomic<int> busy{0};
    };

    bool idle() const { return post_->busy.load(std::memory_order_acquire) == 0; }

    void call() {
        post_->busy.store(size_ - 1, std::memory_order_relaxed);
        post_->resting.store(false, std::memory_order_relaxed);
        wake();
    }

    void wake() {
        post_->calls.fetch_add(1, std::memory_order_release);
        post_->calls.notify_all();
    }

    void dismiss() {
        post_->dismissed.store(true, std::memory_order_relaxed);
        wake();
    }

    // The next call mostly comes within some tens of microseconds; after a while the thread sleeps.
    static void serve(Post& post, int t) {
        constexpr int patience = 8000;  // pauses: 0.2 ms or so
        for (int seen = 0;; ++seen) {
            for (int k = 0; k < patience && post.calls.load(std::memory_order_acquire) == seen; ++k) {
                if (post.resting.load(std::memory_order_relaxed)) break;
                pause_briefly();
            }
            while (post.calls.load(std::memory_order_acquire) == seen) post.calls.wait(seen, std::memory_order_acquire);
            if (post.dismissed.load(std::memory_order_relaxed)) return;
            if (post.task) post.task(post.context, t);
            post.busy.fetch_sub(1, std::memory_order_release);
        }
    }

    const int size_;
    const std::shared_ptr<Post> post_ = std::make_shared<Post>();  // before the threads, which have it too
};

}  // namespace dualfree
