// The methods with arbitrary sampling: of examples (QUARTZ, SDNA), and of features (NSync, UCDC, Hydra, ALPHA).
#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "kernels/coordinates.hpp"
#include "kernels/quartz.hpp"
#include "kernels/sdna.hpp"

using namespace dualfree;

static void quartz(nb::tuple rows_tuple, nb::tuple loss_tuple, double theta, In<double> scale, double inverse,
                   In<Size> indices, std::optional<In<Size>> start, Out<double> alpha, Out<double> combination,
                   Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const AnyDerivative l{loss};
    const Size n = examples_of(rows), d = features_of(rows);
    require_examples(indices, n);
    if (start) require_batches(*start, indices.size());
    require_size("alpha", alpha.size(), n);
    require_size("combination", combination.size(), d);
    require_size("w", w.size(), d);
    const Size batches = start ? Size(start->size()) - 1 : Size(indices.size()), stride = stride_of(scale, n);
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            Quartz(r, l, theta, scale.data(), stride, inverse, alpha.data(), combination.data(), w.data())
                .run(indices.data(), data_or_null(start), batches);
        },
        rows);
}

static double sdna(nb::tuple rows_tuple, nb::tuple loss_tuple, double inverse, In<Size> indices,
                   std::optional<In<Size>> start, Out<double> alpha, Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const auto loss = listed(loss_from(loss_tuple));
    const Size n = examples_of(rows);
    require_examples(indices, n);
    if (start) require_batches(*start, indices.size());
    require_size("alpha", alpha.size(), n);
    require_size("w", w.size(), features_of(rows));
    const Size batches = start ? Size(start->size()) - 1 : Size(indices.size());
    nb::gil_scoped_release release;
    return std::visit(
        [&](const auto& r) {
            return Sdna<std::decay_t<decltype(r)>>{r, *loss, inverse, alpha.data(), w.data()}.run(
                indices.data(), data_or_null(start), batches);
        },
        rows);
}

// What both kernels take: the columns of X as rows, and the sets of features to visit.
struct Visits {
    Rows columns;
    std::unique_ptr<ListedLoss> loss;
    const double* scale;
    const Size *indices, *start;
    Size batches, features, examples;

    Visits(const nb::tuple& columns_tuple, const nb::tuple& loss_tuple, const std::optional<In<double>>& row_scale,
           const In<Size>& drawn, const std::optional<In<Size>>& batch_start)
        : columns(rows_from(columns_tuple)), loss(listed(loss_from(loss_tuple))), scale(data_or_null(row_scale)),
          indices(drawn.data()), start(data_or_null(batch_start)),
          batches(batch_start ? Size(batch_start->size()) - 1 : Size(drawn.size())), features(examples_of(columns)),
          examples(features_of(columns)) {
        if (row_scale) require_size("scale", row_scale->size(), examples);
        require_examples(drawn, features);
        if (batch_start) require_batches(*batch_start, drawn.size());
    }
};

static void descent(nb::tuple columns, nb::tuple loss, std::optional<In<double>> scale, double lambda, In<double> rate,
                    In<Size> indices, std::optional<In<Size>> start, Out<double> w, Out<double> margins) {
    const Visits seen(columns, loss, scale, indices, start);
    require_size("rate", rate.size(), seen.features);
    require_size("w", w.size(), seen.features);
    require_size("margins", margins.size(), seen.examples);
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            using R = std::decay_t<decltype(r)>;
            Descent<R>{{r, *seen.loss, seen.scale}, lambda, 1.0 / double(seen.examples), rate.data(), w.data(),
                       margins.data()}
                .run(seen.indices, seen.start, seen.batches);
        },
        seen.columns);
}

// `progress` is (theta, the square of the theta before it, steps left before the restart).
static void accelerated(nb::tuple columns, nb::tuple loss, std::optional<In<double>> scale, double lambda,
                        In<double> rate, In<double> p, In<Size> indices, std::optional<In<Size>> start, Size period,
                        Out<double> progress, Out<double> w, Out<double> margins) {
    const Visits seen(columns, loss, scale, indices, start);
    require_size("rate", rate.size(), seen.features);
    require_size("p", p.size(), seen.features);
    require_size("progress", progress.size(), 3);
    require_size("w", w.size(), 2 * seen.features);
    require_size("margins", margins.size(), 2 * seen.examples);
    Size left = Size(progress.data()[2]);
    nb::gil_scoped_release release;
    std::visit(
        [&](const auto& r) {
            using R = std::decay_t<decltype(r)>;
            Accelerated<R>({r, *seen.loss, seen.scale}, lambda, 1.0 / double(seen.examples), rate.data(), p.data(),
                           reinterpret_cast<Pair*>(w.data()), reinterpret_cast<Pair*>(margins.data()))
                .run(seen.indices, seen.start, seen.batches, progress.data()[0], progress.data()[1], left, period);
        },
        seen.columns);
    progress.data()[2] = double(left);
}

void bind_arbitrary(nb::module_& module) {
    module.def("quartz", &quartz, nb::arg("rows"), nb::arg("loss"), nb::arg("theta"), nb::arg("scale"),
               nb::arg("inverse"), nb::arg("indices"), nb::arg("start").none(), nb::arg("alpha").noconvert(),
               nb::arg("combination").noconvert(), nb::arg("w").noconvert());
    module.def("sdna", &sdna, nb::arg("rows"), nb::arg("loss"), nb::arg("inverse"), nb::arg("indices"),
               nb::arg("start").none(), nb::arg("alpha").noconvert(), nb::arg("w").noconvert());
    module.def("descent", &descent, nb::arg("columns"), nb::arg("loss"), nb::arg("scale").none(), nb::arg("lam"),
               nb::arg("rate"), nb::arg("indices"), nb::arg("start").none(), nb::arg("w").noconvert(),
               nb::arg("margins").noconvert());
    module.def("accelerated_descent", &accelerated, nb::arg("columns"), nb::arg("loss"), nb::arg("scale").none(),
               nb::arg("lam"), nb::arg("rate"), nb::arg("p"), nb::arg("indices"), nb::arg("start").none(),
               nb::arg("period"), nb::arg("progress").noconvert(), nb::arg("w").noconvert(),
               nb::arg("margins").noconvert());
}
