#include "kernels/dfsdca.hpp"
#include "kernels/rounds.hpp"

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

std::unique_ptr<BatchSteps> dualfree::steps_of(const AnyLoss& loss, bool implicit, const double* scale, Size stride) {
    return implicit ? made(loss, ImplicitStep{scale, stride}) : made(loss, FixedStep{scale, stride});
}

template <class Step>
static double run(const Rows& rows, const AnyLoss& loss, const Step& step, double inverse, const Batches& batches,
                  double* alpha, double* w, int threads) {
    if (!batches.start)
        return std::visit(
            [&](const auto& r, const auto& l) {
                return dfsdca_serial(r, l, step, inverse, batches.indices, batches.count, alpha, w);
            },
            rows, loss);
    const auto steps = made(loss, step);
    return std::visit(
        [&](const auto& r) {
            return DfsdcaBatches<std::decay_t<decltype(r)>>{r, *steps, inverse, alpha, w}.run(batches, threads);
        },
        rows);
}

// The same with the step as Python names it.
static double run(const Rows& rows, const AnyLoss& loss, bool implicit, const In<double>& scale, double inverse,
                  const Batches& batches, double* alpha, double* w, int threads) {
    const Size stride = scale.size() == 1 ? 0 : 1;
    if (implicit) return run(rows, loss, ImplicitStep{scale.data(), stride}, inverse, batches, alpha, w, threads);
    return run(rows, loss, FixedStep{scale.data(), stride}, inverse, batches, alpha, w, threads);
}

static double dfsdca(nb::tuple rows_tuple, nb::tuple loss_tuple, bool implicit, In<double> scale, double inverse,
                     In<Size> indices, std::optional<In<Size>> start, Out<double> alpha, Out<double> w, int threads) {
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
    nb::gil_scoped_release release;
    return run(rows, loss, implicit, scale, inverse, batches, alpha.data(), w.data(), threads);
}

// Returns what alpha moved, squared, and the unit and the sure unrest after the last round.
static nb::tuple dfsdca_rounds(nb::tuple rows_tuple, nb::tuple loss_tuple, bool implicit, In<double> scale, double inverse, Word seed,
                               In<Size> ends, std::optional<In<Size>> order, In<double> size, double growth, double least,
                               double smallest_unit, Out<double> unrest, double unit, double sure, Out<Size> room,
                               Out<double> alpha, Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const Size n = examples_of(rows);
    require_size("alpha", alpha.size(), n);
    require_size("w", w.size(), features_of(rows));
    require_size("size", size.size(), n);
    require_size("unrest", unrest.size(), n);
    require_size("room", room.size(), n + 1);
    if (scale.size() != 1) require_size("scale", scale.size(), n);
    if (ends.size() < 1) throw nb::value_error("ends must hold the start of a round.");
    const Rounds rounds{seed, ends.data(), Size(ends.size()) - 1, data_or_null(order)};
    for (Size r = 0; r < rounds.count; ++r)
        if (ends.data()[r + 1] < ends.data()[r] || ends.data()[r + 1] - ends.data()[r] > n)
            throw nb::value_error("ends must not decrease, and no round may have more visits than there are examples.");
    if (order) {
        require_examples(*order, n);
        require_size("order", order->size(), ends.data()[rounds.count] - ends.data()[0]);
    }
    Unrest learnt{size.data(), growth, least, smallest_unit, unrest.data(), unit, sure, room.data()};
    double moved = 0;
    {
        nb::gil_scoped_release release;
        moved = in_rounds(rounds, learnt, alpha.data(), n, [&](const Size* visited, Size count) {
            return run(rows, loss, implicit, scale, inverse, Batches{visited, nullptr, count}, alpha.data(), w.data(), 1);
        });
    }
    return nb::make_tuple(moved, learnt.unit, learnt.sure);
}

void bind_dfsdca(nb::module_& module) {
    module.def("dfsdca", &dfsdca, nb::arg("rows"), nb::arg("loss"), nb::arg("implicit"), nb::arg("scale"),
               nb::arg("inverse"), nb::arg("indices"), nb::arg("start").none(), nb::arg("alpha").noconvert(),
               nb::arg("w").noconvert(), nb::arg("threads") = 1);
    module.def("dfsdca_rounds", &dfsdca_rounds, nb::arg("rows"), nb::arg("loss"), nb::arg("implicit"), nb::arg("scale"),
               nb::arg("inverse"), nb::arg("seed"), nb::arg("ends"), nb::arg("order").none(), nb::arg("size"), nb::arg("growth"),
               nb::arg("least"), nb::arg("smallest_unit"), nb::arg("unrest").noconvert(), nb::arg("unit"), nb::arg("sure"),
               nb::arg("room").noconvert(), nb::arg("alpha").noconvert(), nb::arg("w").noconvert());
}
