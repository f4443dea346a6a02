#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "kernels/sgd.hpp"
#include "kernels/variance_reduced.hpp"

using namespace dualfree;

static void bound_sgd(nb::tuple rows_tuple, nb::tuple loss_tuple, double step, double lambda, In<Size> indices,
                      Size first, Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    require_examples(indices, examples_of(rows));
    require_size("w", w.size(), features_of(rows));
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r, const auto& l) {
            Sgd<std::decay_t<decltype(r)>, std::decay_t<decltype(l)>>{r, l, step, lambda, w.data()}.run(
                indices.data(), Size(indices.size()), first);
        },
        rows, loss);
}

static void bound_variance_reduced(nb::tuple rows_tuple, nb::tuple loss_tuple, double step, double lambda,
                                   double gain, double memory, In<Size> indices, std::optional<In<Size>> start,
                                   Out<double> table, Out<double> average, Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    require_examples(indices, examples_of(rows));
    if (start) require_batches(*start, indices.size());
    require_size("table", table.size(), examples_of(rows));
    require_size("average", average.size(), features_of(rows));
    require_size("w", w.size(), features_of(rows));
    const Size batches = start ? Size(start->size()) - 1 : Size(indices.size());
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r, const auto& l) {
            VarianceReduced(r, l, step, lambda, gain, memory, table.data(), average.data(), w.data())
                .run(indices.data(), data_or_null(start), batches);
        },
        rows, loss);
}

static void bound_snapshot(nb::tuple rows_tuple, nb::tuple loss_tuple, In<double> w, Out<double> table,
                           Out<double> average) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    require_size("w", w.size(), features_of(rows));
    require_size("table", table.size(), examples_of(rows));
    require_size("average", average.size(), features_of(rows));
    nb::gil_scoped_release release;
    std::visit([&](const auto& r, const auto& l) { snapshot(r, l, w.data(), table.data(), average.data()); }, rows,
               loss);
}

void bind_primal(nb::module_& module) {
    module.def("sgd", &bound_sgd, nb::arg("rows"), nb::arg("loss"), nb::arg("step"), nb::arg("lam"),
               nb::arg("indices"), nb::arg("first"), nb::arg("w").noconvert());
    module.def("variance_reduced", &bound_variance_reduced, nb::arg("rows"), nb::arg("loss"), nb::arg("step"),
               nb::arg("lam"), nb::arg("gain"), nb::arg("memory"), nb::arg("indices"), nb::arg("start").none(),
               nb::arg("table").noconvert(), nb::arg("average").noconvert(), nb::arg("w").noconvert());
    module.def("snapshot", &bound_snapshot, nb::arg("rows"), nb::arg("loss"), nb::arg("w"),
               nb::arg("table").noconvert(), nb::arg("average").noconvert());
}
