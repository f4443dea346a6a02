// Features that many examples share.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/exchange.hpp"

namespace dualfree {

// Up to `most` features, those in which some hundred rows have the largest sums of squares, in order of their number. `squares` is
// room for one number for each feature.
template <class R>
std::vector<Size> popular_features(const R& rows, Size most, double* squares) {
    constexpr Size looked_at = 300;
    std::vector<Size> found;
    if (most == 0) return found;
    std::fill(squares, squares + rows.d, 0.0);
    for (Size i = 0; i < rows.n; i += std::max<Size>(1, rows.n / looked_at))
        rows.for_each(i, [&](Size j, double x) {
            if (squares[j] == 0) found.push_back(j);
            squares[j] += x * x;
        });
    const auto last = found.begin() + std::min(most, Size(found.size()));
    const auto larger = [&](Size j, Size k) { return std::pair(-squares[j], j) < std::pair(-squares[k], k); };
    std::nth_element(found.begin(), last, found.end(), larger);
    found.erase(last, found.end());
    std::sort(found.begin(), found.end());
    return found;
}

// The features that most examples share, in order of their number: of these the parts hear from each other more often.
// Their copies lie side by side, so that little memory goes from core to core.
class Popular {
  public:
    Popular(const Size* features, Size count, int parts, double* room)
        : features_(features), count_(count), began_(room), exchange_{count, room + count, room + 2 * count, parts} {}

    static Size room_for(int parts, Size count) { return (parts + 2) * count; }

    Size size() const { return count_; }
    const Exchange& exchange() const { return exchange_; }

    // Those among the features first .. last - 1.
    std::pair<Size, Size> within(Size first, Size last) const {
        const auto at = [&](Size feature) { return std::lower_bound(features_, features_ + count_, feature) - features_; };
        return {at(first), at(last)};
    }

    // From the copy of part t, and back.
    void gather(int t, const double* copy) const { take(copy, exchange_.copy_of(t), 0, count_); }
    void spread(double* copy) const { put(exchange_.w, copy, 0, count_); }

    // For some of them: a block of visits begins at w; it ends, and of what it moved all but the last stretch goes into w; and
    // visit(feature, where it began).
    void begin(const double* w, std::pair<Size, Size> part) const { take(w, exchange_.w, part.first, part.second); }
    void end(double* w, std::pair<Size, Size> part) const {
        take(w, began_, part.first, part.second);
        put(exchange_.w, w, part.first, part.second);
    }
    template <class Visit>
    void since(std::pair<Size, Size> part, Visit&& visit) const {
        for (Size k = part.first; k < part.second; ++k) visit(features_[k], began_[k]);
    }

  private:
    void take(const double* from, double* to, Size first, Size last) const {
        for (Size k = first; k < last; ++k) to[k] = from[features_[k]];
    }
    void put(const double* from, double* to, Size first, Size last) const {
        for (Size k = first; k < last; ++k) to[features_[k]] = from[k];
    }

    const Size* features_;
    const Size count_;
    double* const began_;  // w when the block began
    const Exchange exchange_;
};

}  // namespace dualfree
