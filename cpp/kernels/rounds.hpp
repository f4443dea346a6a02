// dfSDCA in rounds of visits to what moves: each round is drawn, visited and learnt from without a call in between.
#pragma once
#include <vector>

#include "kernels/restless.hpp"

namespace dualfree {

// Round r is iterations ends[r] .. ends[r + 1]; its visits are listed in `order`, from ends[0] on, or drawn where that is null.
struct Rounds {
    Word seed;
    const Size* ends;
    Size count;
    const Size* order;
};

// What is learnt: see the class _Memory of samplings/restless.py, whose rounds these are, to the last bit.
struct Unrest {
    const double* size;
    double growth, least, smallest_unit;
    double* u;
    double unit, sure;
    Size* room;  // n + 1

    void draw(Word seed, Size round, Size n, Size count) {
        if (sure == 0) raise_to(least * *std::max_element(u, u + n), n);
        draw_restless(seed, round, u, n, count, sure, room);
    }

    void learn(const Size* visited, Size count, const double* before, const double* alpha, Size n) {
        learn_unrest(visited, count, before, alpha, 1, nullptr, size, unit, least * sure, u);
        unit /= growth;
        if (unit >= smallest_unit) return;
        for (Size i = 0; i < n; ++i) u[i] /= unit;
        sure /= unit;
        unit = 1;
    }

    void raise_to(double floor, Size n) {
        for (Size i = 0; i < n; ++i) u[i] = std::max(u[i], floor);
    }
};

// `visit` takes the steps of a list of examples, and returns what alpha moved, squared.
template <class Visit>
double in_rounds(const Rounds& rounds, Unrest& unrest, const double* alpha, Size n, const Visit& visit) {
    std::vector<double> before;
    double moved = 0;
    for (Size r = 0; r < rounds.count; ++r) {
        const Size begin = rounds.ends[r], count = rounds.ends[r + 1] - begin;
        if (!rounds.order) unrest.draw(rounds.seed, begin, n, count);
        const Size* visited = rounds.order ? rounds.order + (begin - rounds.ends[0]) : unrest.room;
        before.resize(std::size_t(count));
        for (Size k = 0; k < count; ++k) before[std::size_t(k)] = alpha[visited[k]];
        moved += visit(visited, count);
        unrest.learn(visited, count, before.data(), alpha, n);
    }
    return moved;
}

}  // namespace dualfree
