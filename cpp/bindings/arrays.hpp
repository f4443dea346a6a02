// From Python's arrays to the views that kernels take, and back. Nothing is copied on the way in.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "indirect.hpp"
#include "losses.hpp"
#include "rows.hpp"

namespace nb = nanobind;

namespace dualfree {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
const T* data_or_null(const std::optional<In<T>>& array) {
    return array ? array->data() : nullptr;
}

// Hands a vector's memory to NumPy.
template <class T>
Array<T> to_array(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(owned->data(), {owned->size()}, owner);
}

// (values, columns, start, d, constant, offset, sorted) for CSR, (X, constant, offset) for dense: what examples/ hands
// over. d counts the constant feature, which there is unless `constant` is 0. One value for many columns: all the same.
template <class Value, class Index>
bool try_csr(const nb::tuple& t, Rows& rows) {
    In<Value> values;
    In<Index> columns, start;
    if (!nb::try_cast(t[0], values, false) || !nb::try_cast(t[1], columns, false) ||
        !nb::try_cast(t[2], start, false))
        return false;
    const auto make = [&](auto seen) {
        rows = CsrRows<decltype(seen), Index>{seen, columns.data(), start.data(), Size(start.size()) - 1,
                                              nb::cast<Size>(t[3]), nb::cast<double>(t[4]), nb::cast<double>(t[5]),
                                              nb::cast<bool>(t[6])};
    };
    if (values.size() == 1 && columns.size() > 1)
        make(Same{double(values.data()[0])});
    else
        make(values.data());
    return true;
}

template <class Value>
bool try_dense(const nb::tuple& t, Rows& rows) {
    nb::ndarray<const Value, nb::ndim<2>, nb::device::cpu> x;
    if (!nb::try_cast(t[0], x, false)) return false;
    const Size width = Size(x.shape(1));
    const double constant = nb::cast<double>(t[1]);
    rows = DenseRows<Value>{x.data(), Size(x.shape(0)), width, x.stride(0), x.stride(1), width + (constant != 0),
                            constant, nb::cast<double>(t[2])};
    return true;
}

inline Rows rows_from(const nb::tuple& t) {
    Rows rows;
    if (t.size() == 7 && (try_csr<double, std::int32_t>(t, rows) || try_csr<double, std::int64_t>(t, rows) ||
                          try_csr<float, std::int32_t>(t, rows) || try_csr<float, std::int64_t>(t, rows)))
        return rows;
    if (t.size() == 3 && (try_dense<double>(t, rows) || try_dense<float>(t, rows)))
        return rows;
    throw nb::type_error("rows: expected what dualfree.examples makes of CSR or dense data of float32 or float64");
}

// The last line of defence: whatever Python hands over, a kernel must not read or write out of bounds.
inline void require_size(const char* name, std::size_t size, Size wanted) {
    if (Size(size) == wanted) return;
    throw nb::value_error((std::string(name) + " has " + std::to_string(size) + " entries; it must have " +
                           std::to_string(wanted) + ".").c_str());
}

// What lies between the scales of two steps: one for each example, or one for all.
inline Size stride_of(const In<double>& scale, Size n) {
    if (scale.size() == 1) return 0;
    require_size("scale", scale.size(), n);
    return 1;
}

inline void require_examples(const In<Size>& indices, Size n) {
    Size least = 0, largest = -1;
    for (std::size_t k = 0; k < indices.size(); ++k) {
        least = std::min(least, indices.data()[k]);
        largest = std::max(largest, indices.data()[k]);
    }
    if (least >= 0 && largest < n) return;
    throw nb::value_error(("indices names example " + std::to_string(least < 0 ? least : largest) +
                           "; examples are numbered 0.." + std::to_string(n - 1) + ".").c_str());
}

// Where each of the batches begins: from 0, never decreasing, up to the number of indices.
inline void require_batches(const In<Size>& start, std::size_t indices) {
    bool good = start.size() > 0 && start.data()[0] == 0 && start.data()[start.size() - 1] == Size(indices);
    for (std::size_t k = 1; good && k < start.size(); ++k) good = start.data()[k - 1] <= start.data()[k];
    if (!good) throw nb::value_error("batch_start must go from 0 to the number of indices and never decrease.");
}

inline Size examples_of(const Rows& rows) {
    return std::visit([](const auto& r) { return r.n; }, rows);
}
inline Size features_of(const Rows& rows) {
    return std::visit([](const auto& r) { return r.d; }, rows);
}

// ("logistic", y, weight or None) or ("huber", y, weight, delta) or
// ("compiled", y, weight, (value, derivative)), each function (address, user_data address, takes_data)
inline Compiled::Function function_from(nb::handle h) {
    const auto t = nb::cast<nb::tuple>(h);
    return {reinterpret_cast<void*>(nb::cast<std::uintptr_t>(t[0])),
            reinterpret_cast<void*>(nb::cast<std::uintptr_t>(t[1])), nb::cast<bool>(t[2])};
}

inline AnyLoss loss_from(const nb::tuple& t) {
    const std::string_view kind = nb::cast<nb::str>(t[0]).c_str();
    const double* y = nb::cast<In<double>>(t[1], false).data();
    const double* weight = t[2].is_none() ? nullptr : nb::cast<In<double>>(t[2], false).data();
    if (kind == "logistic") return Losses<Logistic>{{}, y, {weight}};
    if (kind == "squared") return Losses<Squared>{{}, y, {weight}};
    if (kind == "squared-hinge") return Losses<SquaredHinge>{{}, y, {weight}};
    if (kind == "smoothed-hinge") return Losses<SmoothedHinge>{{nb::cast<double>(t[3])}, y, {weight}};
    if (kind == "huber") return Losses<Huber>{{nb::cast<double>(t[3])}, y, {weight}};
    if (const auto found = indirect_loss(kind, t.size() > 3 && kind != "compiled" ? nb::cast<double>(t[3]) : 0.0))
        return Losses<Compiled>{*found, y, {weight}};
    if (kind == "compiled") {
        const auto pair = nb::cast<nb::tuple>(t[3]);
        return Losses<Compiled>{{function_from(pair[0]), function_from(pair[1])}, y, {weight}};
    }
    throw nb::value_error("loss: unknown kind");
}

}  // namespace dualfree
