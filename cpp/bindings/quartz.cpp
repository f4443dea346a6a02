#include "kernels/quartz.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

static void quartz(nb::tuple rows_tuple, nb::tuple loss_tuple, double theta, In<double> scale, double inverse,
                   In<Size> indices, std::optional<In<Size>> start, Out<double> alpha, Out<double> combination,
                   Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const AnyDerivative l{loss};
    const Size n = examples_of(rows), d = features_of(rows);
    require_examples(indices, n);
    if (start) require_batches(*start, indices.size());
    if (scale.size() != 1) require_size("scale", scale.size(), n);
    require_size("alpha", alpha.size(), n);
    require_size("combination", combination.size(), d);
    require_size("w", w.size(), d);
    const Size batches = start ? Size(start->size()) - 1 : Size(indices.size()), stride = scale.size() == 1 ? 0 : 1;
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            Quartz(r, l, theta, scale.data(), stride, inverse, alpha.data(), combination.data(), w.data())
                .run(indices.data(), data_or_null(start), batches);
        },
        rows);
}

void bind_quartz(nb::module_& module) {
    module.def("quartz", &quartz, nb::arg("rows"), nb::arg("loss"), nb::arg("theta"), nb::arg("scale"),
               nb::arg("inverse"), nb::arg("indices"), nb::arg("start").none(), nb::arg("alpha").noconvert(),
               nb::arg("combination").noconvert(), nb::arg("w").noconvert());
}
