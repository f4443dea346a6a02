// dfSDCA in rounds of visits to what moves: each round is drawn, visited and learnt from without a call in between.
#pragma once
#include <cmath>
#include <vector>

#include "kernels/restless.hpp"

namespace dualfree {

// Rounds number first, first + 1, ...: of about `length` iterations each, beginning at the whole numbers next to its multiples.
// The visits of the first ones are listed in `order`, which has `ordered` of them, and those of all others drawn.
// Where they are `near`, neighbours are visited within a short time: see restless.hpp.
// After each `every` rounds it is asked how far alpha has moved in these: see the class Watch of lookout.py.
struct Rounds {
    Word seed;
    Size first;
    double length;
    Size count;
    const Size* order;
    Size ordered, every;
    double factor, goal;
    bool near;

    Size begin(Size r) const { return Size(std::nearbyint(double(first + r) * length)); }
    Size visits(Size r) const { return begin(r + 1) - begin(r); }
    const Size* listed(Size r) const { return begin(r + 1) - begin(0) <= ordered ? order + (begin(r) - begin(0)) : nullptr; }

    bool asked_after(Size r) const { return (r + 1) % every == 0 || r + 1 == count; }
    bool may_be_done(double moved) const { return !(factor * moved > goal); }
};

// What is learnt: see the class _Memory of samplings/restless.py, whose rounds these are, to the last bit.
struct Unrest {
    const double* size;
    double growth, least, smallest_unit;
    double* u;
    double unit, sure;
    Size* room;  // n + 1

    double floor(Size n) const { return least * *std::max_element(u, u + n); }

    void raise_to(double floor, Size first, Size last) {
        for (Size i = first; i < last; ++i) u[i] = std::max(u[i], floor);
    }

    void learn_from(const Size* visited, Size count, const double* before, const double* alpha) {
        learn_unrest(visited, count, before, alpha, 1, nullptr, size, unit, least * sure, u);
    }

    // A round has passed; whether the unit has become too small, and all of u is to be given in that of now.
    bool grow() {
        unit /= growth;
        return !(unit >= smallest_unit);
    }

    void rescale(Size first, Size last) {
        for (Size i = first; i < last; ++i) u[i] /= unit;
    }

    // After that, where there was need for it.
    void begin_again() {
        if (unit >= smallest_unit) return;
        sure /= unit;
        unit = 1;
    }
};

// `visit` takes the steps of a list of examples, and returns what alpha moved, squared; `end_round` follows when all is learnt from
// them. Where the moves say that it may be done, `far` may know better: it says whether to go on, and what to ask from then on.
// Returns what alpha moved for each question.
template <class Visit, class EndRound, class Far>
std::vector<double> in_rounds(Rounds rounds, Unrest& unrest, const double* alpha, Size n, const Visit& visit, const EndRound& end_round,
                              const Far& far) {
    constexpr Size piece = 4096;
    std::vector<double> before, answers;
    double moved = 0;
    for (Size r = 0; r < rounds.count; ++r) {
        const Size count = rounds.visits(r);
        const Size* visited = rounds.listed(r);
        if (!visited) {
            if (unrest.sure == 0) unrest.raise_to(unrest.floor(n), 0, n);
            visited = draw_restless(rounds.seed, rounds.begin(r), unrest.u, n, count, rounds.near, unrest.sure, unrest.room);
        }
        before.resize(std::size_t(std::min(piece, count)));
        for (Size from = 0; from < count; from += piece) {  // so that what is known of them is in a cache when it is learnt from
            const Size some = std::min(piece, count - from);
            for (Size k = 0; k < some; ++k) before[std::size_t(k)] = alpha[visited[from + k]];
            moved += visit(visited + from, some);
            unrest.learn_from(visited + from, some, before.data(), alpha);
        }
        if (unrest.grow()) unrest.rescale(0, n);
        unrest.begin_again();
        end_round();
        if (!rounds.asked_after(r)) continue;
        answers.push_back(moved);
        if (rounds.may_be_done(moved) && !far(rounds, moved, r)) break;
        moved = 0;
    }
    return answers;
}

}  // namespace dualfree
