// Features of which each part has a copy of its own, and what the copies have moved.
#pragma once
#include <algorithm>

#include "rows.hpp"

namespace dualfree {

// sum_t move_t^2 and (sum_t move_t)^2
struct Moves {
    double apart = 0, together = 0;
    void add(const Moves& other) { apart += other.apart, together += other.together; }
};

struct Exchange {
    Size size;
    double* w;       // where all copies began
    double* copies;  // parts times size
    int parts;

    double* copy_of(int t) const { return copies + t * size; }

    // Moves w, and the copy of part t, by `factor` times what all copies moved the features first .. last - 1; these sums, not
    // yet multiplied, go to `sum`.
    Moves add_up(int t, Size first, Size last, double factor, double* sum) const {
        Moves moves;
        for (Size from = first; from < last; from += block) {
            ask_for(from + block, std::min(from + 2 * block, last));
            moves.add(add_block(t, from, std::min(block, last - from), factor, sum + (from - first)));
        }
        return moves;
    }

    static constexpr Size block = 512;  // features at a time, for a first cache

  private:
    // To be written: the other parts have read these lines since, and each would be taken back when its turn comes.
    void ask_for(Size first, Size last) const {
        for (Size j = first; j < last; j += line_bytes / Size(sizeof(double))) take_line(w + j);
    }

    Moves add_block(int t, Size from, Size count, double factor, double* sum) const {
        double apart = 0, together = 0;
        double *at = w + from, *own = copy_of(t) + from;
        std::fill(sum, sum + count, 0.0);
        for (int s = 0; s < parts; ++s) {
            const double* copy = copy_of(s) + from;
#pragma omp simd reduction(+ : apart)
            for (Size j = 0; j < count; ++j) {
                const double move = copy[j] - at[j];
                apart += move * move;
                sum[j] += move;
            }
        }
#pragma omp simd reduction(+ : together)
        for (Size j = 0; j < count; ++j) {
            together += sum[j] * sum[j];
            own[j] = at[j] += factor * sum[j];
        }
        return {apart, together};
    }
};

}  // namespace dualfree
