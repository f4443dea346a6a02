// The rows of X divided among threads by features: which entries of each are whose.
#pragma once
#include <algorithm>
#include <vector>

#include "crew.hpp"
#include "rows.hpp"

namespace dualfree {

// The features of one thread: `view.dot(stride * i, w)` is the product of row i with w over them alone.
template <class R>
struct Shard {
    R view;
    Size stride, first;  // w begins at feature `first` for the view
};

// bounds[(T + 1) i + t] .. bounds[(T + 1) i + t + 1] are the entries of row i that thread t owns.
template <class Values, class Index>
Shard<CsrRows<Values, Index>> shard_of(const CsrRows<Values, Index>& rows, const Index* bounds, const Size*, int threads,
                                       int t) {
    auto view = rows;
    view.start = bounds + t;
    return {view, threads + 1, 0};
}

template <class Value>
Shard<DenseRows<Value>> shard_of(const DenseRows<Value>& rows, const void*, const Size* cuts, int, int t) {
    auto view = rows;
    view.values += cuts[t] * rows.column_stride;
    view.width = view.d = cuts[t + 1] - cuts[t];
    return {view, 1, cuts[t]};
}

// For each feature, how many of every `every`-th row have it.
template <class R>
void count_features(const R& rows, Size every, Crew& crew, double* counts) {
    const int threads = crew.size();
    const Size seen = (rows.n + every - 1) / every;
    std::vector<std::vector<std::int32_t>> parts(std::size_t(threads), std::vector<std::int32_t>(std::size_t(rows.d)));
    crew.run([&](int t) {
        auto* own = parts[std::size_t(t)].data();
        for (Size k = cut(seen, threads, t); k < cut(seen, threads, t + 1); ++k)
            rows.for_each(k * every, [own](Size j, double) { ++own[j]; });
    });
    for (Size j = 0; j < rows.d; ++j) {
        double sum = 0;
        for (const auto& part : parts) sum += part[std::size_t(j)];
        counts[j] = sum;
    }
}

// The first of the increasing columns that is not below `wanted`, without a branch, which would be a guess at each half.
template <class Index>
const Index* first_from(const Index* first, const Index* last, Index wanted) {
    for (std::ptrdiff_t left = last - first; left > 0;) {
        const std::ptrdiff_t half = left - left / 2;
        first += first[half - 1] < wanted ? half : 0;
        left -= half;
    }
    return first;
}

// Where the entries of row i pass from one thread's features to the next one's, and sum_j beta_j A_ij^2.
template <class Values, class Index>
double divide_row(const CsrRows<Values, Index>& rows, Size i, const Size* cuts, int threads, const double* beta,
                  Index* bounds) {
    const Size first = rows.start[i], last = rows.start[i + 1];
    Index* own = bounds + (threads + 1) * i;
    own[0] = Index(first), own[threads] = Index(last);
    for (int t = 1; t < threads; ++t)
        own[t] = Index(first_from(rows.columns + own[t - 1], rows.columns + last, Index(cuts[t])) - rows.columns);
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Size k = first; k < last; ++k) sum += beta[rows.columns[k]] * double(rows.values[k]) * double(rows.values[k]);
    return sum;
}

template <class Value>  // of which each is divided in the same way
double divide_row(const DenseRows<Value>& rows, Size i, const Size*, int, const double* beta, const void*) {
    double sum = 0;
    rows.for_each(i, [&](Size j, double x) { sum += beta[j] * x * x; });
    return sum;
}

template <class R, class Bounds>
void divide_rows(const R& rows, const Size* cuts, const double* beta, Crew& crew, Bounds* bounds, double* shared) {
    const int threads = crew.size();
    crew.run([&](int t) {
        for (Size i = cut(rows.n, threads, t); i < cut(rows.n, threads, t + 1); ++i)
            shared[i] = divide_row(rows, i, cuts, threads, beta, bounds);
    });
}

}  // namespace dualfree
