// The parts that share a round's visits, one for each thread: what each of them draws, and what it visits.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/exchange.hpp"
#include "kernels/rescaling.hpp"
#include "kernels/rounds.hpp"
#include "kernels/turn.hpp"

namespace dualfree {

// What is left of a list.
struct Listed {
    const Size *next, *last;
};

// What a part sees of its examples' alpha, of its features, and of what its visits won, when all alpha may be multiplied.
struct Look {
    Ray ray;
    double squares = 0, won = 0;
};

// What a part has drawn, and what it visits.
struct alignas(64) Part {
    Stream words{0, 0, 0};
    Size kept = 0, drawn = 0;
    const Size* chosen = nullptr;  // the first of those that it has drawn
    std::vector<Listed> lists;  // of what each part has drawn, its own share
    std::vector<Size> visits;
    std::vector<double> before;  // alpha of these
    double moved = 0, walked = 0;  // of them all: as alpha moved in the end, and as the visits would have it
    double latest = 0;           // of those since w was last moved
    double* sum = nullptr;       // of all parts' moves of its features
    Moves moves;                 // of these, and of its popular features
    double way = 0;              // that these have gone, squared
    double won = 0;              // by its visits of the round
    Look look;
    bool begun = false;  // whether its copy has been made once in this call
};

// Deals out the visits of one round after the other.
class Dealer {
  public:
    // All memory is had here: a thread of the crew must not throw.
    Dealer(std::vector<Part>& parts, const Rounds& rounds, Size n, const double* alpha)
        : parts_(parts), rounds_(rounds), n_(n), alpha_(alpha) {
        Size longest = 0;
        for (Size r = 0; r < rounds.count; ++r) longest = std::max(longest, rounds.visits(r));
        for (Part& p : parts_) {
            const Size size = longest / count() + count();  // each list that is dealt out may leave one over
            p.visits.reserve(std::size_t(size));
            p.before.reserve(std::size_t(size));
            p.lists.resize(parts_.size());
        }
    }

    void deal(Turn& turn, Unrest& unrest, Size r) {
        const Size visits = rounds_.visits(r);
        if (const Size* listed = rounds_.listed(r))
            turn.each([&](int t) { deal_listed(t, listed, visits); });
        else
            draw(turn, unrest, rounds_.begin(r), visits);
    }

  private:
    Part& part(int t) { return parts_[std::size_t(t)]; }
    int count() const { return int(parts_.size()); }
    Size low(Size size, int t) const { return cut(size, count(), t); }

    void deal_listed(int t, const Size* listed, Size visits) {
        Part& p = part(t);
        p.visits.clear();
        for (Size k = t; k < visits; k += count()) p.visits.push_back(listed[k]);
        remember(p);
    }

    // Each part draws from its own examples, and then all share what all have drawn: examples that were always in one part
    // together would hear of the others' moves too late.
    void draw(Turn& turn, Unrest& unrest, Size round, Size visits) {
        if (unrest.sure == 0) {
            const double floor = unrest.floor(n_);
            turn.each([](int) {});  // all have seen it
            turn.each([&](int t) { unrest.raise_to(floor, low(n_, t), low(n_, t + 1)); });
        }
        unrest.sure = round_threshold(unrest.u, n_, visits, unrest.sure);
        turn.each([&](int t) {
            Part& p = part(t);
            const Size first = low(n_, t), last = low(n_, t + 1);
            p.words = Stream(rounds_.seed, 8 + Word(t), Word(round));
            p.kept = unrest.sure > 0 ? pick_restless(unrest.u, first, last, unrest.sure, p.words.next(), unrest.room + first) : 0;
        });
        turn.each([&](int t) { choose(t, visits, unrest.room + low(n_, t)); });
        turn.each([&](int t) { deal_drawn(t); });
    }

    // This part's share of the visits: as large as its share of what was picked.
    void choose(int t, Size visits, Size* picked) {
        Size before = 0, all = 0;
        for (int s = 0; s < count(); ++s) {
            if (s == t) before = all;
            all += part(s).kept;
        }
        Part& p = part(t);
        const Size first = low(n_, t), size = low(n_, t + 1) - first;
        const bool alike = all < visits;  // nothing moves any more, or nothing is finite any more
        if (alike) {
            for (Size k = 0; k < size; ++k) picked[k] = first + k;
            before = first, all = n_;
        }
        const Size kept = alike ? size : p.kept;
        p.drawn = share(visits, before + kept, all) - share(visits, before, all);
        p.chosen = order_visits(p.words.next(), p.drawn, kept, picked, size, rounds_.near);
    }

    static Size share(Size visits, Size part, Size whole) {
        return Size(static_cast<unsigned __int128>(visits) * static_cast<unsigned __int128>(part) /
                    static_cast<unsigned __int128>(whole));
    }

    // One from each part's list by turns.
    void deal_drawn(int t) {
        Part& p = part(t);
        Size longest = 0, all = 0;
        for (int s = 0; s < count(); ++s) {
            const int turn = (t + s) % count();  // so that no part has all that is left over
            const Size* first = part(s).chosen;
            const Size from = low(part(s).drawn, turn), to = low(part(s).drawn, turn + 1);
            p.lists[std::size_t(s)] = {first + from, first + to};
            longest = std::max(longest, to - from);
            all += to - from;
        }
        p.visits.resize(std::size_t(all));
        Size* out = p.visits.data();
        for (Size k = 0; k < longest; ++k)
            for (Listed& list : p.lists)
                if (list.next != list.last) *out++ = *list.next++;
        remember(p);
    }

    // Which part visited an example last is chance, so that its alpha mostly comes from another core.
    void remember(Part& p) {
        constexpr std::size_t ahead = 24;
        p.before.resize(p.visits.size());
        for (std::size_t k = 0; k < p.visits.size(); ++k) {
            if (k + ahead < p.visits.size()) take_line(alpha_ + p.visits[k + ahead]);
            p.before[k] = alpha_[p.visits[k]];
        }
    }

    std::vector<Part>& parts_;
    const Rounds rounds_;
    const Size n_;
    const double* alpha_;
};

}  // namespace dualfree
