// Where a pass costs little, a kernel that asks whether a run may be done looks at all examples by itself.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/rounds.hpp"

namespace dualfree {

// What was seen after round r: P(w), the gap if w is the combination of alpha, and sum of |a_i - alpha_i|.
struct Seen {
    Size round;
    double value, gap, outside;
};

// What the class Lookout of lookout.py makes of it: its `promising` and `_learn`.
struct Outlook {
    double lambda, share, margin, tol, absolute_tol;
    double patience, wait;  // how far above the goal a gap may be, and for how many rounds, to wait for it
    double* margins;        // room for one number for each example
    Size since = -1;        // the round after which it began to wait

    double goal(double value) const { return std::max(tol * std::fabs(value), absolute_tol); }

    // Whether the run has to go on; then also what its moves are measured by from here on.
    bool far(const Seen& seen, double moved, Rounds& rounds) {
        const double small_enough = goal(seen.value);
        double gap = share * seen.gap;
        if (!(gap > small_enough)) {  // a gradient may be a proof
            if (since < 0) since = seen.round;
            gap = seen.gap;
            const bool near = gap > small_enough && gap <= patience * small_enough;
            if (!near || double(seen.round - since) >= wait) return false;
        }
        if (moved > 0 && std::isfinite(gap)) rounds.factor = margin * (gap / moved);
        rounds.goal = small_enough;
        return true;
    }
};

}  // namespace dualfree
