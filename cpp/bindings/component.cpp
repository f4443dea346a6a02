#include "kernels/component.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

static void bound_shift_and_invert(nb::tuple rows_tuple, In<Size> indices, In<double> g, In<double> scale,
                                   std::optional<In<double>> m, std::optional<In<double>> m_products, double step,
                                   double shift, Out<double> e) {
    const Rows rows = rows_from(rows_tuple);
    const Size n = examples_of(rows), d = features_of(rows);
    require_examples(indices, n);
    require_size("g", g.size(), d);
    require_size("scale", scale.size(), n);
    require_size("e", e.size(), d);
    if (m.has_value() != m_products.has_value()) throw nb::value_error("m and m_products go together.");
    if (m) {
        require_size("m", m->size(), d);
        require_size("m_products", m_products->size(), n);
    }
    const Shifted by{g.data(), scale.data(), data_or_null(m), data_or_null(m_products), step, shift};
    nb::gil_scoped_release release;
    std::visit([&](const auto& r) { shift_and_invert(r, by, indices.data(), Size(indices.size()), e.data()); }, rows);
}

void bind_component(nb::module_& module) {
    module.def("shift_and_invert", &bound_shift_and_invert, nb::arg("rows"), nb::arg("indices"), nb::arg("g"),
               nb::arg("scale"), nb::arg("m").none(), nb::arg("m_products").none(), nb::arg("step"),
               nb::arg("shift"), nb::arg("e").noconvert());
}
