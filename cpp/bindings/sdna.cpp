#include "kernels/sdna.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

static double sdna(nb::tuple rows_tuple, nb::tuple loss_tuple, double inverse, In<Size> indices,
                   std::optional<In<Size>> start, Out<double> alpha, Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const auto loss = listed(loss_from(loss_tuple));
    const Size n = examples_of(rows);
    require_examples(indices, n);
    if (start) require_batches(*start, indices.size());
    require_size("alpha", alpha.size(), n);
    require_size("w", w.size(), features_of(rows));
    const Size batches = start ? Size(start->size()) - 1 : Size(indices.size());
    nb::gil_scoped_release release;
    return std::visit(
        [&](const auto& r) {
            return Sdna<std::decay_t<decltype(r)>>{r, *loss, inverse, alpha.data(), w.data()}.run(
                indices.data(), data_or_null(start), batches);
        },
        rows);
}

void bind_sdna(nb::module_& module) {
    module.def("sdna", &sdna, nb::arg("rows"), nb::arg("loss"), nb::arg("inverse"), nb::arg("indices"),
               nb::arg("start").none(), nb::arg("alpha").noconvert(), nb::arg("w").noconvert());
}
