#include "kernels/cholesky.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

// Numbers of a line of the factor: whole vectors of either precision; and lines.
static Size factor_stride(Size d) { return (d + 15) / 16 * 16; }
static Size factor_room(Size d) { return line_length(d) * factor_stride(d); }

template <class Number>
static bool bound_cholesky(In<double> matrix, Size d, Out<Number> factor, int threads) {
    require_size("matrix", matrix.size(), d * d);
    require_size("factor", factor.size(), factor_room(d));
    const Size stride = factor_stride(d);
    nb::gil_scoped_release release;
    std::fill(factor.data(), factor.data() + factor.size(), Number(0));
    for (Size k = 0; k < d; ++k)
        for (Size j = k; j < d; ++j) factor.data()[k * stride + j] = Number(matrix.data()[k * d + j]);
    return Cholesky<Number>(d, stride, factor.data()).factorise(threads);
}

template <class Number>
static void bound_cholesky_solve(In<Number> factor, Out<double> v) {
    const Size d = Size(v.size());
    require_size("factor", factor.size(), factor_room(d));
    nb::gil_scoped_release release;
    cholesky_solve(factor.data(), d, factor_stride(d), v.data());
}

template <class Number>
static void bind_precision(nb::module_& module) {
    module.def("cholesky", &bound_cholesky<Number>, nb::arg("matrix"), nb::arg("d"), nb::arg("factor").noconvert(), nb::arg("threads") = 1);
    module.def("cholesky_solve", &bound_cholesky_solve<Number>, nb::arg("factor").noconvert(), nb::arg("v").noconvert());
}

void bind_cholesky(nb::module_& module) {
    module.def("cholesky_room", &factor_room, nb::arg("d"));
    bind_precision<double>(module);
    bind_precision<float>(module);
}
