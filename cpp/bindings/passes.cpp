#include "kernels/passes.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

static double bound_loss_and_gradient(nb::tuple rows_tuple, nb::tuple loss_tuple, In<double> w,
                                      Out<double> gradient) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    require_size("w", w.size(), features_of(rows));
    require_size("gradient", gradient.size(), features_of(rows));
    nb::gil_scoped_release release;
    return std::visit(
        [&](const auto& r, const auto& l) { return loss_and_gradient(r, l, w.data(), gradient.data()); }, rows,
        loss);
}

static std::pair<double, double> bound_certify(nb::tuple rows_tuple, nb::tuple loss_tuple, In<double> w,
                                               In<double> alpha, Out<double> sums) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    require_size("w", w.size(), features_of(rows));
    require_size("alpha", alpha.size(), examples_of(rows));
    require_size("sums", sums.size(), 2 * features_of(rows));
    nb::gil_scoped_release release;
    const Certified c = std::visit(
        [&](const auto& r, const auto& l) {
            return certify(r, l, w.data(), alpha.data(), reinterpret_cast<Pair*>(sums.data()));
        },
        rows, loss);
    return {c.loss, c.fenchel};
}

static void bound_margins(nb::tuple rows_tuple, In<double> w, Out<double> out, std::optional<In<Size>> indices) {
    const Rows rows = rows_from(rows_tuple);
    require_size("w", w.size(), features_of(rows));
    require_size("out", out.size(), indices ? Size(indices->size()) : examples_of(rows));
    if (indices) require_examples(*indices, examples_of(rows));
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            if (indices)
                margins_of(r, indices->data(), Size(indices->size()), w.data(), out.data());
            else
                margins(r, w.data(), out.data());
        },
        rows);
}

static void bound_combine(nb::tuple rows_tuple, In<double> coefficients, Out<double> out,
                          std::optional<In<Size>> indices) {
    const Rows rows = rows_from(rows_tuple);
    require_size("coefficients", coefficients.size(), indices ? Size(indices->size()) : examples_of(rows));
    require_size("out", out.size(), features_of(rows));
    if (indices) require_examples(*indices, examples_of(rows));
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            if (indices)
                combine_of(r, indices->data(), Size(indices->size()), coefficients.data(), out.data());
            else
                combine(r, coefficients.data(), out.data());
        },
        rows);
}

static void bound_combine_pair(nb::tuple rows_tuple, In<double> first, In<double> second, Out<double> sums) {
    const Rows rows = rows_from(rows_tuple);
    require_size("first", first.size(), examples_of(rows));
    require_size("second", second.size(), examples_of(rows));
    require_size("sums", sums.size(), 2 * features_of(rows));
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            combine_pair(r, first.data(), second.data(), reinterpret_cast<Pair*>(sums.data()));
        },
        rows);
}

static void bound_weighted_gram(nb::tuple rows_tuple, In<double> weights, Out<double> out) {
    const Rows rows = rows_from(rows_tuple);
    require_size("weights", weights.size(), examples_of(rows));
    require_size("out", out.size(), features_of(rows) * features_of(rows));
    nb::gil_scoped_release release;
    std::visit([&](const auto& r) { weighted_gram(r, weights.data(), out.data()); }, rows);
}

void bind_passes(nb::module_& module) {
    module.def("loss_and_gradient", &bound_loss_and_gradient, nb::arg("rows"), nb::arg("loss"), nb::arg("w"),
               nb::arg("gradient").noconvert());
    module.def("certify", &bound_certify, nb::arg("rows"), nb::arg("loss"), nb::arg("w"), nb::arg("alpha"),
               nb::arg("sums").noconvert());
    module.def("margins", &bound_margins, nb::arg("rows"), nb::arg("w"), nb::arg("out").noconvert(),
               nb::arg("indices") = nb::none());
    module.def("combine", &bound_combine, nb::arg("rows"), nb::arg("coefficients"), nb::arg("out").noconvert(),
               nb::arg("indices") = nb::none());
    module.def("combine_pair", &bound_combine_pair, nb::arg("rows"), nb::arg("first"), nb::arg("second"),
               nb::arg("sums").noconvert());
    module.def("weighted_gram", &bound_weighted_gram, nb::arg("rows"), nb::arg("weights"),
               nb::arg("out").noconvert());
}
