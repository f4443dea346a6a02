#include "vector_losses.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "bindings/vectors.hpp"
#include "kernels/blocks.hpp"

using namespace dualfree;

// A loss of several numbers on given products: function(loss, place) for each example.
template <class Function>
static void for_each_example(const nb::tuple& places_tuple, const nb::tuple& loss_tuple, std::size_t size,
                             Function&& function) {
    const Places places = places_from(places_tuple);
    const auto loss = checked_loss(loss_tuple, places);
    require_size("z", size, places.total);
    nb::gil_scoped_release release;
    for (Size i = 0; i < places.n; ++i) function(*loss, places.place(i));
}

// phi_i(z_i + b) added up, their gradients and their curvatures, for multi-output examples and an intercept b
static double slope_sums(nb::tuple places_tuple, nb::tuple loss_tuple, In<double> z, In<double> b, Out<double> gradient,
                         Out<double> hessian) {
    const Size m = Size(b.size());
    require_size("gradient", gradient.size(), m);
    require_size("hessian", hessian.size(), m * m);
    const std::size_t size = b.size();
    std::vector<double> at(size), slope(size), scratch(scratch_of_a_step * size);
    Sum total;
    for_each_example(places_tuple, loss_tuple, z.size(), [&](const VectorLoss& loss, Place p) {
        for (Size k = 0; k < m; ++k) at[std::size_t(k)] = z.data()[p.at + k] + b.data()[k];
        total.add(loss.value_and_gradient({p.i, p.at, m}, at.data(), slope.data()));
        for (Size k = 0; k < m; ++k) gradient.data()[k] += slope[std::size_t(k)];
        loss.add_curvature({p.i, p.at, m}, at.data(), hessian.data(), scratch.data());
    });
    return total.value();
}

void bind_vector_losses(nb::module_& module) {
    // the sum of phi_i(z_i), with each of them where `values` is given, and the gradients where `gradients` is
    module.def("vector_slopes",
               [](nb::tuple places, nb::tuple loss_tuple, In<double> z, Out<double> gradients,
                  std::optional<Out<double>> values) {
        require_size("gradients", gradients.size(), Size(z.size()));
        if (values) require_size("values", values->size(), places_from(places).n);
        Sum total;
        for_each_example(places, loss_tuple, z.size(), [&](const VectorLoss& loss, Place p) {
            const double value = loss.value_and_gradient(p, z.data() + p.at, gradients.data() + p.at);
            if (values) values->data()[p.i] = value;
            total.add(value);
        });
        return total.value();
    }, nb::arg("places"), nb::arg("loss"), nb::arg("z"), nb::arg("gradients").noconvert(), nb::arg("values") = nb::none());
    module.def("vector_conjugates", [](nb::tuple places, nb::tuple loss_tuple, In<double> alpha, Out<double> out) {
        require_size("out", out.size(), places_from(places).n);
        for_each_example(places, loss_tuple, alpha.size(), [&](const VectorLoss& loss, Place p) {
            out.data()[p.i] = loss.conjugate(p, alpha.data() + p.at);
        });
    });
    module.def("vector_project", [](nb::tuple places, nb::tuple loss_tuple, In<double> alpha, Out<double> out) {
        require_size("out", out.size(), Size(alpha.size()));
        for_each_example(places, loss_tuple, alpha.size(), [&](const VectorLoss& loss, Place p) {
            loss.project(p, alpha.data() + p.at, out.data() + p.at);
        });
    });
    // the m_i by m_i Hessian of each phi_i at z_i, one after the other, added to `out`
    module.def("vector_curvatures", [](nb::tuple places_tuple, nb::tuple loss_tuple, In<double> z, Out<double> out) {
        const Places places = places_from(places_tuple);
        Size size = 0, at = 0;
        for (Size i = 0; i < places.n; ++i) size += places.place(i).m * places.place(i).m;
        require_size("out", out.size(), size);
        std::vector<double> scratch(std::size_t(scratch_of_a_step * places.most));
        for_each_example(places_tuple, loss_tuple, z.size(), [&](const VectorLoss& loss, Place p) {
            loss.add_curvature(p, z.data() + p.at, out.data() + at, scratch.data());
            at += p.m * p.m;
        });
    }, nb::arg("places"), nb::arg("loss"), nb::arg("z"), nb::arg("out").noconvert());
    module.def("vector_slope_sums", &slope_sums);
}
