// Work that is cut into parts, one for each thread, and the threads that do it.
#pragma once
#include <chrono>

#include "crew.hpp"

namespace dualfree {

// The parts that a thread works for: one, or all where the other threads are busy with something else.
struct Turn {
    using Clock = std::chrono::steady_clock;
    int first, last;
    Barrier* barrier;
    Clock::time_point since = Clock::now();  // how long it has waited since then
    std::chrono::duration<double> waited{0};

    // All parts are through with it when this returns.
    template <class Work>
    void each(Work&& work) {
        for (int t = first; t < last; ++t) work(t);
        if (!barrier) return;
        const auto begun = Clock::now();
        barrier->wait();
        waited += Clock::now() - begun;
    }

    void count_from_now() {
        since = Clock::now();
        waited = {};
    }

    // Whether most of that time went by with waiting: the others have no core.
    bool deserted() const { return barrier && 2 * waited > Clock::now() - since; }

    void go_alone(int parts) {
        last = parts;
        barrier = nullptr;
    }
};

}  // namespace dualfree
