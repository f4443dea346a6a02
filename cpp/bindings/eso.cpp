#include "kernels/eso.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

template <class Function>
static void on_rows(const nb::tuple& rows_tuple, Function&& function) {
    const Rows rows = rows_from(rows_tuple);
    nb::gil_scoped_release release;
    std::visit(function, rows);
}

static Groups groups_from(const In<Size>& members, const In<Size>& start) {
    return {members.data(), start.data(), Size(start.size()) - 1};
}

void bind_eso(nb::module_& module) {
    module.def("feature_sums", [](nb::tuple rows, std::optional<In<double>> mass, Out<double> out) {
        const Rows seen = rows_from(rows);
        if (mass) require_size("mass", mass->size(), examples_of(seen));
        require_size("out", out.size(), features_of(seen));
        on_rows(rows, [&](const auto& r) { feature_sums(r, data_or_null(mass), out.data()); });
    }, nb::arg("rows"), nb::arg("mass").none(), nb::arg("out").noconvert());
    module.def("feature_squares", [](nb::tuple rows, In<double> mass, Out<double> out) {
        const Rows seen = rows_from(rows);
        require_size("mass", mass.size(), examples_of(seen));
        require_size("out", out.size(), features_of(seen));
        on_rows(rows, [&](const auto& r) { feature_squares(r, mass.data(), out.data()); });
    }, nb::arg("rows"), nb::arg("mass"), nb::arg("out").noconvert());
    module.def("square_norms", [](nb::tuple rows, std::optional<In<double>> beta, Out<double> out, int threads) {
        const Rows seen = rows_from(rows);
        if (beta) require_size("beta", beta->size(), features_of(seen));
        require_size("out", out.size(), examples_of(seen));
        on_rows(rows, [&](const auto& r) { square_norms(r, data_or_null(beta), out.data(), threads); });
    }, nb::arg("rows"), nb::arg("beta").none(), nb::arg("out").noconvert(), nb::arg("threads") = 1);
    module.def("mean_square", [](nb::tuple rows, Size runs, Size length) {
        if (runs < 2 || length < 1 || length > examples_of(rows_from(rows)))
            throw nb::value_error("runs must be at least 2, and length from 1 to the number of examples.");
        double mean = 0;
        on_rows(rows, [&](const auto& r) { mean = mean_square(r, runs, length); });
        return mean;
    }, nb::arg("rows"), nb::arg("runs"), nb::arg("length"));
    module.def("groups_touching", [](nb::tuple rows, In<Size> members, In<Size> start, Out<double> out) {
        on_rows(rows, [&](const auto& r) { groups_touching(r, groups_from(members, start), out.data()); });
    }, nb::arg("rows"), nb::arg("members"), nb::arg("start"), nb::arg("out").noconvert());
    module.def("grouped_square_norms",
               [](nb::tuple rows, In<Size> members, In<Size> start, std::optional<In<double>> mass,
                  In<double> constant, In<double> slope, In<double> coupling, In<double> feature, Out<double> out) {
        const GroupBeta beta{constant.data(), slope.data(), coupling.data(), feature.data()};
        on_rows(rows, [&](const auto& r) {
            grouped_square_norms(r, groups_from(members, start), data_or_null(mass), beta, out.data());
        });
    }, nb::arg("rows"), nb::arg("members"), nb::arg("start"), nb::arg("mass").none(), nb::arg("constant"),
       nb::arg("slope"), nb::arg("coupling"), nb::arg("feature"), nb::arg("out").noconvert());
}
