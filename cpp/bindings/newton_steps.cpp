#include "kernels/newton_steps.hpp"

#include <nanobind/stl/tuple.h>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

static std::tuple<Size, double, double, double, bool> bound_newton_steps(nb::tuple rows_tuple, nb::tuple loss_tuple, double lambda,
                                                                         double tol, double absolute_tol, Size most, Size draws,
                                                                         In<double> squares, Out<double> w, Out<double> gradient,
                                                                         Out<double> margins, Out<double> derivatives) {
    const Rows rows = rows_from(rows_tuple);
    const auto loss = in_tiles_of(loss_from(loss_tuple));
    const Size n = examples_of(rows), d = features_of(rows);
    if (d > most_newton_features) throw nb::value_error("newton_steps takes at most 128 features.");
    require_size("w", w.size(), d);
    if (draws < n) require_size("squares", squares.size(), n);
    require_size("gradient", gradient.size(), d);
    require_size("margins", margins.size(), n);
    require_size("derivatives", derivatives.size(), n);
    const NewtonSample sample{draws, squares.data()};
    nb::gil_scoped_release release;
    const NewtonSteps done = std::visit(
        [&](const auto& r) {
            return newton_steps(r, *loss, {lambda, tol, absolute_tol}, most, sample, w.data(), gradient.data(), margins.data(),
                                derivatives.data());
        },
        rows);
    return {done.count, done.value, done.w_square, done.gradient_square, done.stuck};
}

void bind_newton_steps(nb::module_& module) {
    module.attr("most_newton_features") = most_newton_features;
    module.def("newton_steps", &bound_newton_steps, nb::arg("rows"), nb::arg("loss"), nb::arg("lam"), nb::arg("tol"),
               nb::arg("absolute_tol"), nb::arg("most"), nb::arg("draws"), nb::arg("squares"),
               nb::arg("w").noconvert(), nb::arg("gradient").noconvert(),
               nb::arg("margins").noconvert(), nb::arg("derivatives").noconvert());
}
