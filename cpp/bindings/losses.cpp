#include "losses.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "kernels/tiles.hpp"

using namespace dualfree;

// One function of (i, z_i) for all examples.
template <class Function>
static void elementwise(const nb::tuple& loss_tuple, const In<double>& z, Out<double>& out, Function&& function) {
    const AnyLoss loss = loss_from(loss_tuple);
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& l) {
            const double* in = z.data();
            double* to = out.data();
            with_weights_known(l, [&](const auto& known) {
#pragma omp simd
                for (Size i = 0; i < Size(z.size()); ++i) to[i] = function(known, i, in[i]);
            });
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
    // sum of phi_i(z_i), and phi_i'(z_i) for each
    module.def("loss_slopes", [](nb::tuple loss_tuple, In<double> z, Out<double> derivatives) {
        require_size("derivatives", derivatives.size(), Size(z.size()));
        const auto loss = in_tiles_of(loss_from(loss_tuple));
        nb::gil_scoped_release release;
        Sum total;
        in_tiles(0, Size(z.size()), [&](Size at, Size count) {
            total.add(loss->value_and_derivatives(at, nullptr, count, z.data() + at, derivatives.data() + at));
        });
        return total.value();
    });
    // sum of phi_i'(z_i + b), of their absolute values, and of phi_i''(z_i + b)
    module.def("slope_sums", [](nb::tuple loss_tuple, In<double> z, double b) {
        const AnyLoss loss = loss_from(loss_tuple);
        double slope = 0, size = 0, curvature = 0;
        {
            nb::gil_scoped_release release;
            std::visit(
                [&](const auto& l) {
                    const double* at = z.data();
                    with_weights_known(l, [&](const auto& known) {
#pragma omp simd reduction(+ : slope, size, curvature)
                        for (Size i = 0; i < Size(z.size()); ++i) {
                            const double each = known.derivative(i, at[i] + b);
                            slope += each;
                            size += std::fabs(each);
                            curvature += known.curvature(i, at[i] + b);
                        }
                    });
                },
                loss);
        }
        return nb::make_tuple(slope, size, curvature);
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
