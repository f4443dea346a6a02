#include "losses.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "kernels/passes.hpp"

using namespace dualfree;

// One function of (i, z_i) for all examples.
template <class Function>
static void elementwise(const nb::tuple& loss_tuple, const In<double>& z, Out<double>& out, Function&& function) {
    const AnyLoss loss = loss_from(loss_tuple);
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& l) {
            for (Size i = 0; i < Size(z.size()); ++i) out.data()[i] = function(l, i, z.data()[i]);
        },
        loss);
}

void bind_losses(nb::module_& module) {
    module.def("loss_value", [](nb::tuple loss, In<double> z, Out<double> out) {
        elementwise(loss, z, out, [](const auto& l, Size i, double x) { return l.value(i, x); });
    });
    module.def("loss_derivative", [](nb::tuple loss, In<double> z, Out<double> out) {
        elementwise(loss, z, out, [](const auto& l, Size i, double x) { return l.derivative(i, x); });
    });
    module.def("loss_curvature", [](nb::tuple loss, In<double> z, Out<double> out) {
        elementwise(loss, z, out, [](const auto& l, Size i, double x) { return l.curvature(i, x); });
    });
    module.def("loss_conjugate", [](nb::tuple loss, In<double> alpha, Out<double> out) {
        elementwise(loss, alpha, out, [](const auto& l, Size i, double x) { return l.conjugate(i, x); });
    });
    module.def("loss_project", [](nb::tuple loss, In<double> alpha, Out<double> out) {
        elementwise(loss, alpha, out, [](const auto& l, Size i, double x) { return l.project(i, x); });
    });
    module.def("conjugate_sum", [](nb::tuple loss_tuple, In<double> alpha) {
        const AnyLoss loss = loss_from(loss_tuple);
        nb::gil_scoped_release release;
        return std::visit([&](const auto& l) { return conjugate_sum(l, alpha.data(), Size(alpha.size())); }, loss);
    });
}
