#include "kernels/dfsdca.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

static void dfsdca(nb::tuple rows_tuple, nb::tuple loss_tuple, bool implicit, In<double> scale, double inverse,
                   In<Size> indices, std::optional<In<Size>> start, Out<double> alpha, Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const Size n = examples_of(rows);
    require_examples(indices, n);
    if (start) require_batches(*start, indices.size());
    require_size("alpha", alpha.size(), n);
    require_size("w", w.size(), features_of(rows));
    if (scale.size() != 1) require_size("scale", scale.size(), n);
    const Batches batches{indices.data(), data_or_null(start),
                          start ? Size(start->size()) - 1 : Size(indices.size())};
    const Size stride = scale.size() == 1 ? 0 : 1;
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r, const auto& l) {
            if (implicit) {
                Dfsdca<std::decay_t<decltype(r)>, std::decay_t<decltype(l)>, ImplicitStep>{
                    r, l, {scale.data(), stride}, inverse, alpha.data(), w.data()}
                    .run(batches);
            } else {
                Dfsdca<std::decay_t<decltype(r)>, std::decay_t<decltype(l)>, FixedStep>{
                    r, l, {scale.data(), stride}, inverse, alpha.data(), w.data()}
                    .run(batches);
            }
        },
        rows, loss);
}

void bind_dfsdca(nb::module_& module) {
    module.def("dfsdca", &dfsdca, nb::arg("rows"), nb::arg("loss"), nb::arg("implicit"), nb::arg("scale"),
               nb::arg("inverse"), nb::arg("indices"), nb::arg("start").none(), nb::arg("alpha").noconvert(),
               nb::arg("w").noconvert());
}
