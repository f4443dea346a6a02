#include "kernels/passes.hpp"

#include <nanobind/stl/tuple.h>

#include "kernels/dense_gram.hpp"
#include "kernels/gram.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

static double bound_loss_and_gradient(nb::tuple rows_tuple, nb::tuple loss_tuple, In<double> w, Out<double> gradient,
                                      std::optional<In<Size>> indices, std::optional<Out<double>> margins,
                                      std::optional<Out<double>> derivatives, int threads) {
    const Rows rows = rows_from(rows_tuple);
    const auto loss = in_tiles_of(loss_from(loss_tuple));
    require_size("w", w.size(), features_of(rows));
    require_size("gradient", gradient.size(), features_of(rows));
    if (indices) require_examples(*indices, examples_of(rows));
    if (margins) require_size("margins", margins->size(), examples_of(rows));
    if (derivatives) require_size("derivatives", derivatives->size(), examples_of(rows));
    nb::gil_scoped_release release;
    return std::visit(
        [&](const auto& r) {
            if (indices)
                return loss_and_gradient_of(r, *loss, indices->data(), Size(indices->size()), w.data(), gradient.data());
            return loss_and_gradient(r, *loss, w.data(), gradient.data(), margins ? margins->data() : nullptr,
                                     derivatives ? derivatives->data() : nullptr, threads);
        },
        rows);
}

static std::pair<double, double> bound_certify(nb::tuple rows_tuple, nb::tuple loss_tuple, In<double> w,
                                               In<double> alpha, Out<double> sums, std::optional<In<double>> margins,
                                               int threads) {
    const Rows rows = rows_from(rows_tuple);
    const auto loss = in_tiles_of(loss_from(loss_tuple));
    require_size("w", w.size(), features_of(rows));
    require_size("alpha", alpha.size(), examples_of(rows));
    require_size("sums", sums.size(), 2 * features_of(rows));
    if (margins) require_size("margins", margins->size(), examples_of(rows));
    nb::gil_scoped_release release;
    const Certified c = std::visit(
        [&](const auto& r) {
            return certify(r, *loss, w.data(), alpha.data(), data_or_null(margins),
                           reinterpret_cast<Pair*>(sums.data()), threads);
        },
        rows);
    return {c.loss, c.fenchel};
}

Glanced dualfree::glance_at(const Rows& rows, const AnyLoss& loss, const double* w, const double* alpha, double* margins, int threads) {
    const auto in_tiles = in_tiles_of(loss);
    return std::visit([&](const auto& r) { return fenchel(r, *in_tiles, w, alpha, margins, threads); }, rows);
}

static std::tuple<double, double, double> bound_fenchel(nb::tuple rows_tuple, nb::tuple loss_tuple, In<double> w,
                                                        In<double> alpha, Out<double> margins, int threads) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    require_size("w", w.size(), features_of(rows));
    require_size("alpha", alpha.size(), examples_of(rows));
    require_size("margins", margins.size(), examples_of(rows));
    nb::gil_scoped_release release;
    const Glanced seen = glance_at(rows, loss, w.data(), alpha.data(), margins.data(), threads);
    const Certified c = seen.parts.value();
    return {c.loss, c.fenchel, seen.outside};
}

static std::tuple<double, double, Size> bound_fenchel_of_runs(nb::tuple rows_tuple, nb::tuple loss_tuple, In<double> w,
                                                              In<double> alpha, Size first, Size stride, Size length) {
    const Rows rows = rows_from(rows_tuple);
    const auto loss = in_tiles_of(loss_from(loss_tuple));
    require_size("w", w.size(), features_of(rows));
    require_size("alpha", alpha.size(), examples_of(rows));
    if (first < 0 || length < 1 || length > tile || stride < length)
        throw nb::value_error("runs must begin at 0 or later, have 1 to 128 examples and not overlap.");
    nb::gil_scoped_release release;
    const auto [sum, seen] = std::visit(
        [&](const auto& r) { return fenchel_of_runs(r, *loss, first, stride, length, w.data(), alpha.data()); }, rows);
    return {sum.loss, sum.fenchel, seen};
}

static std::tuple<double, double, double> bound_settle(Out<double> sums, In<double> w, double n, double lambda) {
    require_size("sums", sums.size(), 2 * Size(w.size()));
    nb::gil_scoped_release release;
    const Squares squares = settle(reinterpret_cast<Pair*>(sums.data()), w.data(), Size(w.size()), n, lambda);
    return {squares.w, squares.gradient, squares.apart};
}

static std::tuple<double, double> bound_settle_gradient(Out<double> sum, In<double> w, double n, double lambda) {
    require_size("sum", sum.size(), Size(w.size()));
    nb::gil_scoped_release release;
    const Squares squares = settle(sum.data(), w.data(), Size(w.size()), n, lambda);
    return {squares.w, squares.gradient};
}

// Of any strides.
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;

static double bound_inner(Vector first, Vector second) {
    require_size("second", second.size(), Size(first.size()));
    return inner(first.data(), first.stride(0), second.data(), second.stride(0), Size(first.size()));
}

static void bound_go_between(In<double> first, double t, Out<double> last) {
    require_size("last", last.size(), Size(first.size()));
    nb::gil_scoped_release release;
    go_between(first.data(), t, last.data(), Size(first.size()));
}

static void bound_margins(nb::tuple rows_tuple, In<double> w, Out<double> out, std::optional<In<Size>> indices,
                          int threads) {
    const Rows rows = rows_from(rows_tuple);
    require_size("w", w.size(), features_of(rows));
    require_size("out", out.size(), indices ? Size(indices->size()) : examples_of(rows));
    if (indices) require_examples(*indices, examples_of(rows));
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            if (indices)
                margins_of(r, indices->data(), Size(indices->size()), w.data(), out.data());
            else
                margins(r, w.data(), out.data(), threads);
        },
        rows);
}

static void bound_combine(nb::tuple rows_tuple, In<double> coefficients, Out<double> out,
                          std::optional<In<Size>> indices, int threads) {
    const Rows rows = rows_from(rows_tuple);
    require_size("coefficients", coefficients.size(), indices ? Size(indices->size()) : examples_of(rows));
    require_size("out", out.size(), features_of(rows));
    if (indices) require_examples(*indices, examples_of(rows));
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            if (indices)
                combine_of(r, indices->data(), Size(indices->size()), coefficients.data(), out.data());
            else
                combine(r, coefficients.data(), out.data(), threads);
        },
        rows);
}

static void bound_combine_pair(nb::tuple rows_tuple, In<double> first, In<double> second, Out<double> sums,
                               int threads) {
    const Rows rows = rows_from(rows_tuple);
    require_size("first", first.size(), examples_of(rows));
    require_size("second", second.size(), examples_of(rows));
    require_size("sums", sums.size(), 2 * features_of(rows));
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            combine_pair(r, first.data(), second.data(), reinterpret_cast<Pair*>(sums.data()), threads);
        },
        rows);
}

static void bound_upper_gram(nb::tuple rows_tuple, In<Size> indices, In<double> weights, Out<double> out, int threads) {
    const Rows rows = rows_from(rows_tuple);
    require_examples(indices, examples_of(rows));
    require_size("weights", weights.size(), Size(indices.size()));
    require_size("out", out.size(), features_of(rows) * features_of(rows));
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            if constexpr (requires { r.columns; })
                upper_gram(r, indices.data(), Size(indices.size()), weights.data(), out.data(), threads);
        },
        rows);
}

// Of rows that are taken as dense ones, zeros and all.
template <class Number>
static void bound_dense_gram(nb::tuple rows_tuple, In<Size> indices, In<double> weights, Out<Number> out, int threads) {
    const Rows rows = rows_from(rows_tuple);
    const Size d = features_of(rows);
    require_examples(indices, examples_of(rows));
    require_size("weights", weights.size(), Size(indices.size()));
    require_size("out", out.size(), d * d);
    nb::gil_scoped_release release;
    std::visit([&](const auto& r) { dense_gram(r, d, indices.data(), Size(indices.size()), weights.data(), out.data(), threads); }, rows);
}

void bind_passes(nb::module_& module) {
    module.def("dense_gram", &bound_dense_gram<double>, nb::arg("rows"), nb::arg("indices"), nb::arg("weights"),
               nb::arg("out").noconvert(), nb::arg("threads") = 1);
    module.def("dense_gram", &bound_dense_gram<float>, nb::arg("rows"), nb::arg("indices"), nb::arg("weights"),
               nb::arg("out").noconvert(), nb::arg("threads") = 1);
    module.def("loss_and_gradient", &bound_loss_and_gradient, nb::arg("rows"), nb::arg("loss"), nb::arg("w"),
               nb::arg("gradient").noconvert(), nb::arg("indices") = nb::none(), nb::arg("margins") = nb::none(),
               nb::arg("derivatives") = nb::none(), nb::arg("threads") = 1);
    module.def("certify", &bound_certify, nb::arg("rows"), nb::arg("loss"), nb::arg("w"), nb::arg("alpha"),
               nb::arg("sums").noconvert(), nb::arg("margins") = nb::none(), nb::arg("threads") = 1);
    module.def("fenchel_of_runs", &bound_fenchel_of_runs, nb::arg("rows"), nb::arg("loss"), nb::arg("w"), nb::arg("alpha"),
               nb::arg("first"), nb::arg("stride"), nb::arg("length"));
    module.def("fenchel", &bound_fenchel, nb::arg("rows"), nb::arg("loss"), nb::arg("w"), nb::arg("alpha"),
               nb::arg("margins").noconvert(), nb::arg("threads") = 1);
    module.def("settle", &bound_settle, nb::arg("sums").noconvert(), nb::arg("w"), nb::arg("n"), nb::arg("lam"));
    module.def("settle_gradient", &bound_settle_gradient, nb::arg("sum").noconvert(), nb::arg("w"), nb::arg("n"), nb::arg("lam"));
    module.def("go_between", &bound_go_between, nb::arg("first"), nb::arg("t"), nb::arg("last").noconvert());
    module.def("inner", &bound_inner, nb::arg("first"), nb::arg("second"));
    module.def("margins", &bound_margins, nb::arg("rows"), nb::arg("w"), nb::arg("out").noconvert(),
               nb::arg("indices") = nb::none(), nb::arg("threads") = 1);
    module.def("combine", &bound_combine, nb::arg("rows"), nb::arg("coefficients"), nb::arg("out").noconvert(),
               nb::arg("indices") = nb::none(), nb::arg("threads") = 1);
    module.def("combine_pair", &bound_combine_pair, nb::arg("rows"), nb::arg("first"), nb::arg("second"),
               nb::arg("sums").noconvert(), nb::arg("threads") = 1);
    module.def("upper_gram", &bound_upper_gram, nb::arg("rows"), nb::arg("indices"), nb::arg("weights"),
               nb::arg("out").noconvert(), nb::arg("threads") = 1);
}
