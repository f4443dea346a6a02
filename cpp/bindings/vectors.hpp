// From Python's tuples to examples with several outputs and their losses.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>

#include "bindings/arrays.hpp"
#include "kernels/vectors.hpp"

namespace dualfree {

// Where each block begins: from 0, never decreasing, up to the number of rows. Returns the size of the largest.
inline Size require_blocks(const In<Size>& start, Size rows) {
    require_batches(start, std::size_t(rows));
    Size most = 0;
    for (std::size_t i = 1; i < start.size(); ++i) most = std::max(most, start.data()[i] - start.data()[i - 1]);
    return most;
}

// (rows, m, offsets or None) for multi-output examples, (rows, start of each block) for blocks
inline std::unique_ptr<VectorExamples> vectors_from(const nb::tuple& t) {
    const Rows rows = rows_from(nb::cast<nb::tuple>(t[0]));
    if (t.size() == 3) {
        const Size m = nb::cast<Size>(t[1]);
        const double* offset = nullptr;
        if (!t[2].is_none()) {
            const auto offsets = nb::cast<In<double>>(t[2], false);
            require_size("offset", offsets.size(), m);
            offset = offsets.data();
        }
        if (m < 1) throw nb::value_error("the number of outputs must be at least 1.");
        return std::visit(
            [&](const auto& r) -> std::unique_ptr<VectorExamples> {
                return std::make_unique<MultiOutput<std::decay_t<decltype(r)>>>(r, m, offset);
            },
            rows);
    }
    const auto start = nb::cast<In<Size>>(t[1], false);
    const Places places{Size(start.size()) - 1, require_blocks(start, examples_of(rows)), start.data()};
    return std::visit(
        [&](const auto& r) -> std::unique_ptr<VectorExamples> {
            return std::make_unique<Blocks<std::decay_t<decltype(r)>>>(r, places);
        },
        rows);
}

// ("softmax", y, weight): the number of the class of each example; ("cross-entropy", y, weight): a distribution for each;
// ("squared", y, weight) and ("huber", y, weight, delta): a target for each output;
// ("compiled", y, weight, address, smoothness), y one number for each example or for each output
inline std::unique_ptr<VectorLoss> vector_loss_from(const nb::tuple& t, Size n, Size total) {
    const std::string_view kind = nb::cast<nb::str>(t[0]).c_str();
    const auto targets = nb::cast<In<double>>(t[1], false);
    const double* y = targets.data();
    const double* weight = nullptr;
    if (!t[2].is_none()) {
        const auto weights = nb::cast<In<double>>(t[2], false);
        require_size("weight", weights.size(), n);
        weight = weights.data();
    }
    const auto make = [&](auto f) -> std::unique_ptr<VectorLoss> {
        return std::make_unique<Weighted<decltype(f)>>(f, weight);
    };
    if (kind == "softmax") {
        require_size("y", targets.size(), n);
        return make(CrossEntropy{y, true});
    }
    if (kind == "compiled") {
        const auto smoothness = nb::cast<In<double>>(t[4], false);
        require_size("smoothness", smoothness.size(), n);
        const bool one_target = Size(targets.size()) == n;
        if (!one_target) require_size("y", targets.size(), total);
        return make(CompiledVector{reinterpret_cast<CompiledVector::Function>(nb::cast<std::uintptr_t>(t[3])), y,
                                   one_target, smoothness.data()});
    }
    require_size("y", targets.size(), total);
    if (kind == "cross-entropy") return make(CrossEntropy{y, false});
    if (kind == "squared") return make(Separable<Squared>{{}, y});
    if (kind == "huber") return make(Separable<Huber>{{nb::cast<double>(t[3])}, y});
    throw nb::value_error("loss: unknown kind for several outputs");
}

// The last line of defence for classes, which are places to write to.
inline void require_classes(const nb::tuple& loss, const Places& places) {
    if (std::string_view(nb::cast<nb::str>(loss[0]).c_str()) != "softmax") return;
    const double* y = nb::cast<In<double>>(loss[1], false).data();
    for (Size i = 0; i < places.n; ++i)
        if (!(y[i] >= 0 && y[i] < double(places.place(i).m)))
            throw nb::value_error(("y of example " + std::to_string(i) + " is not the number of one of its outputs.").c_str());
}

// (n, m), or (the start of each block,)
inline Places places_from(const nb::tuple& t) {
    if (t.size() == 2) return {nb::cast<Size>(t[0]), nb::cast<Size>(t[1]), nullptr};
    const auto start = nb::cast<In<Size>>(t[0], false);
    if (start.size() == 0) throw nb::value_error("the start of the blocks is empty.");
    const Size most = require_blocks(start, start.data()[start.size() - 1]);
    return {Size(start.size()) - 1, most, start.data()};
}

inline std::unique_ptr<VectorLoss> checked_loss(const nb::tuple& loss, const Places& places) {
    auto found = vector_loss_from(loss, places.n, places.total);
    require_classes(loss, places);
    return found;
}

}  // namespace dualfree
