#include "kernels/dfsdca.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

template <class Step>
static std::unique_ptr<BatchSteps> made(const AnyLoss& loss, const Step& step) {
    return std::visit(
        [&](const auto& l) -> std::unique_ptr<BatchSteps> {
            return std::make_unique<BatchStepsOf<std::decay_t<decltype(l)>, Step>>(l, step);
        },
        loss);
}

std::unique_ptr<BatchSteps> dualfree::steps_of(const AnyLoss& loss, Slack slack, const double* scale, Size stride) {
    return slack ? made(loss, ImplicitStep{scale, stride, *slack}) : made(loss, FixedStep{scale, stride});
}

template <class Step>
static Visited one_by_one(const Rows& rows, const AnyLoss& loss, const Step& step, double inverse, const Size* indices, Size count,
                          double* alpha, double* w, const Kept& kept = {}) {
    return std::visit([&](const auto& r, const auto& l) { return dfsdca_serial(r, l, step, inverse, indices, count, alpha, w, kept); },
                      rows, loss);
}

Visited dualfree::visit_each(const Rows& rows, const AnyLoss& loss, const FixedStep& step, double inverse, const Size* indices,
                            Size count, double* alpha, double* w, const Kept& kept) {
    return one_by_one(rows, loss, step, inverse, indices, count, alpha, w, kept);
}
Visited dualfree::visit_each(const Rows& rows, const AnyLoss& loss, const ImplicitStep& step, double inverse, const Size* indices,
                            Size count, double* alpha, double* w, const Kept& kept) {
    return one_by_one(rows, loss, step, inverse, indices, count, alpha, w, kept);
}

template <class Step>
static double run(const Rows& rows, const AnyLoss& loss, const Step& step, double inverse, const Batches& batches,
                  double* alpha, double* w, int threads) {
    if (!batches.start) return one_by_one(rows, loss, step, inverse, batches.indices, batches.count, alpha, w).moved;
    const auto steps = made(loss, step);
    return std::visit(
        [&](const auto& r) {
            return DfsdcaBatches<std::decay_t<decltype(r)>>{r, *steps, inverse, alpha, w}.run(batches, threads);
        },
        rows);
}

static double dfsdca(nb::tuple rows_tuple, nb::tuple loss_tuple, Slack slack, In<double> scale, double inverse,
                     In<Size> indices, std::optional<In<Size>> start, Out<double> alpha, Out<double> w, int threads) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const Size n = examples_of(rows);
    require_examples(indices, n);
    if (start) require_batches(*start, indices.size());
    require_size("alpha", alpha.size(), n);
    require_size("w", w.size(), features_of(rows));
    const Size stride = stride_of(scale, n);
    const Batches batches{indices.data(), data_or_null(start),
                          start ? Size(start->size()) - 1 : Size(indices.size())};
    nb::gil_scoped_release release;
    if (slack) return run(rows, loss, ImplicitStep{scale.data(), stride, *slack}, inverse, batches, alpha.data(), w.data(), threads);
    return run(rows, loss, FixedStep{scale.data(), stride}, inverse, batches, alpha.data(), w.data(), threads);
}

void bind_dfsdca(nb::module_& module) {
    module.def("dfsdca", &dfsdca, nb::arg("rows"), nb::arg("loss"), nb::arg("slack").noconvert().none(), nb::arg("scale"),
               nb::arg("inverse"), nb::arg("indices"), nb::arg("start").none(), nb::arg("alpha").noconvert(),
               nb::arg("w").noconvert(), nb::arg("threads") = 1);
}
