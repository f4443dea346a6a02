#include "kernels/asdca.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

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

void bind_asdca(nb::module_& module) {
    module.def("asdca", &bound_asdca, nb::arg("rows"), nb::arg("loss"), nb::arg("theta"), nb::arg("inverse"),
               nb::arg("indices"), nb::arg("start").none(), nb::arg("alpha").noconvert(),
               nb::arg("combination").noconvert(), nb::arg("w").noconvert());
}
