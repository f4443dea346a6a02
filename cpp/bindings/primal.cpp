#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "kernels/s2cd.hpp"
#include "kernels/sgd.hpp"
#include "kernels/variance_reduced.hpp"

using namespace dualfree;

static void bound_sgd(nb::tuple rows_tuple, nb::tuple loss_tuple, double step, double lambda, In<Size> indices,
                      Size first, Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const AnyDerivative l{loss};
    require_examples(indices, examples_of(rows));
    require_size("w", w.size(), features_of(rows));
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            Sgd<std::decay_t<decltype(r)>, AnyDerivative>{r, l, step, lambda, w.data()}.run(
                indices.data(), Size(indices.size()), first);
        },
        rows);
}

static void bound_variance_reduced(nb::tuple rows_tuple, nb::tuple loss_tuple, double step, double lambda,
                                   double gain, double memory, In<Size> indices, std::optional<In<Size>> start,
                                   Out<double> table, Out<double> average, Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const AnyDerivative l{loss};
    require_examples(indices, examples_of(rows));
    if (start) require_batches(*start, indices.size());
    require_size("table", table.size(), examples_of(rows));
    require_size("average", average.size(), features_of(rows));
    require_size("w", w.size(), features_of(rows));
    const Size batches = start ? Size(start->size()) - 1 : Size(indices.size());
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            VarianceReduced(r, l, step, lambda, gain, memory, table.data(), average.data(), w.data())
                .run(indices.data(), data_or_null(start), batches);
        },
        rows);
}

static void bound_snapshot(nb::tuple rows_tuple, nb::tuple loss_tuple, In<double> w, Out<double> table,
                           Out<double> average) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const AnyDerivative l{loss};
    require_size("w", w.size(), features_of(rows));
    require_size("table", table.size(), examples_of(rows));
    require_size("average", average.size(), features_of(rows));
    nb::gil_scoped_release release;
    std::visit([&](const auto& r) { snapshot(r, l, w.data(), table.data(), average.data()); }, rows);
}

static void bound_pair_weights(nb::tuple rows_tuple, In<double> l, double lambda, Out<double> share,
                               Out<double> curvature, Out<double> row_sums, Out<double> feature_sums) {
    const Rows rows = rows_from(rows_tuple);
    const Size n = examples_of(rows), d = features_of(rows);
    require_size("l", l.size(), n);
    require_size("share", share.size(), d);
    require_size("curvature", curvature.size(), n);
    require_size("row_sums", row_sums.size(), n);
    require_size("feature_sums", feature_sums.size(), d);
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            pair_weights(r, l.data(), lambda, share.data(), curvature.data(), row_sums.data(), feature_sums.data());
        },
        rows);
}

static void bound_s2cd(nb::tuple rows_tuple, nb::tuple loss_tuple, double step, double total, In<double> share,
                       In<double> curvature, In<double> row_sums, In<double> table, In<double> full, In<double> anchor,
                       In<Size> indices, Word seed, Word first, Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const AnyDerivative l{loss};
    const Size n = examples_of(rows), d = features_of(rows);
    require_examples(indices, n);
    require_size("share", share.size(), d);
    require_size("curvature", curvature.size(), n);
    require_size("row_sums", row_sums.size(), n);
    require_size("table", table.size(), n);
    require_size("full", full.size(), d);
    require_size("anchor", anchor.size(), d);
    require_size("w", w.size(), d);
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            S2cd<std::decay_t<decltype(r)>, AnyDerivative>{
                r, l, step, total, share.data(), curvature.data(), row_sums.data(), table.data(), full.data(),
                anchor.data(), w.data()}
                .run(indices.data(), Size(indices.size()), seed, first);
        },
        rows);
}

void bind_primal(nb::module_& module) {
    module.def("pair_weights", &bound_pair_weights, nb::arg("rows"), nb::arg("l"), nb::arg("lam"),
               nb::arg("share").noconvert(), nb::arg("curvature").noconvert(), nb::arg("row_sums").noconvert(),
               nb::arg("feature_sums").noconvert());
    module.def("s2cd", &bound_s2cd, nb::arg("rows"), nb::arg("loss"), nb::arg("step"), nb::arg("total"),
               nb::arg("share"), nb::arg("curvature"), nb::arg("row_sums"), nb::arg("table"), nb::arg("full"),
               nb::arg("anchor"), nb::arg("indices"), nb::arg("seed"), nb::arg("first"), nb::arg("w").noconvert());
    module.def("sgd", &bound_sgd, nb::arg("rows"), nb::arg("loss"), nb::arg("step"), nb::arg("lam"),
               nb::arg("indices"), nb::arg("first"), nb::arg("w").noconvert());
    module.def("variance_reduced", &bound_variance_reduced, nb::arg("rows"), nb::arg("loss"), nb::arg("step"),
               nb::arg("lam"), nb::arg("gain"), nb::arg("memory"), nb::arg("indices"), nb::arg("start").none(),
               nb::arg("table").noconvert(), nb::arg("average").noconvert(), nb::arg("w").noconvert());
    module.def("snapshot", &bound_snapshot, nb::arg("rows"), nb::arg("loss"), nb::arg("w"),
               nb::arg("table").noconvert(), nb::arg("average").noconvert());
}
