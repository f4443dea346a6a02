#include "kernels/asdca.hpp"
#include "kernels/proximal.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

static double bound_proximal(nb::tuple rows_tuple, nb::tuple loss_tuple, Slack slack, In<double> scale,
                             double inverse, double threshold, In<Size> indices, std::optional<In<Size>> start,
                             Out<double> alpha, Out<double> combination, int threads) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const Size n = examples_of(rows), stride = stride_of(scale, n);
    require_examples(indices, n);
    if (start) require_batches(*start, indices.size());
    require_size("alpha", alpha.size(), n);
    require_size("combination", combination.size(), features_of(rows));
    const Batches batches{indices.data(), data_or_null(start),
                          start ? Size(start->size()) - 1 : Size(indices.size())};
    const auto steps = steps_of(loss, slack, scale.data(), stride);
    const AnyStep step{*steps, alpha.data(), scale.data(), stride};
    const AnyDerivative derivative{loss};
    nb::gil_scoped_release release;
    return std::visit(
        [&](const auto& r) {
            return proximal(r, threshold, derivative, step, inverse, batches, alpha.data(), combination.data(),
                            threads);
        },
        rows);
}

static void bound_asdca(nb::tuple rows_tuple, nb::tuple loss_tuple, double theta, double inverse, In<Size> indices,
                        std::optional<In<Size>> start, Out<double> alpha, Out<double> combination, Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const AnyDerivative derivative{loss};
    require_examples(indices, examples_of(rows));
    if (start) require_batches(*start, indices.size());
    require_size("alpha", alpha.size(), examples_of(rows));
    require_size("combination", combination.size(), features_of(rows));
    require_size("w", w.size(), features_of(rows));
    const Size batches = start ? Size(start->size()) - 1 : Size(indices.size());
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            Asdca(r, derivative, theta, inverse, alpha.data(), combination.data(), w.data())
                .run(indices.data(), data_or_null(start), batches);
        },
        rows);
}

void bind_dual(nb::module_& module) {
    module.def("asdca", &bound_asdca, nb::arg("rows"), nb::arg("loss"), nb::arg("theta"), nb::arg("inverse"),
               nb::arg("indices"), nb::arg("start").none(), nb::arg("alpha").noconvert(),
               nb::arg("combination").noconvert(), nb::arg("w").noconvert());
    module.def("proximal", &bound_proximal, nb::arg("rows"), nb::arg("loss"), nb::arg("slack").noconvert().none(), nb::arg("scale"),
               nb::arg("inverse"), nb::arg("threshold"), nb::arg("indices"), nb::arg("start").none(),
               nb::arg("alpha").noconvert(), nb::arg("combination").noconvert(), nb::arg("threads") = 1);
}
