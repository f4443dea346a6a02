#include "kernels/shards.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

// Offsets are of the kind that X has; dense rows need none.
using AnyArray = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Index>
static Index* bounds_of(AnyArray& bounds, Size n, int threads) {
    if (bounds.dtype() != nb::dtype<Index>()) throw nb::type_error("bounds must have the type of X's offsets.");
    require_size("bounds", bounds.size(), n * (threads + 1));
    return static_cast<Index*>(bounds.data());
}

static void require_cuts(const In<Size>& cuts, int threads, Size d) {
    require_size("cuts", cuts.size(), threads + 1);
    if (cuts.data()[0] != 0 || cuts.data()[threads] != d || !std::is_sorted(cuts.data(), cuts.data() + threads + 1))
        throw nb::value_error("cuts must go from 0 to the number of features and never decrease.");
}

template <class Values, class Index, class Use>
static auto with_bounds(const CsrRows<Values, Index>& rows, AnyArray& bounds, int threads, Use&& use) {
    if (!rows.sorted) throw nb::value_error("rows: the columns of every row must increase.");
    return use(rows, bounds_of<Index>(bounds, rows.n, threads));
}
template <class Value, class Use>
static auto with_bounds(const DenseRows<Value>& rows, AnyArray&, int, Use&& use) {
    return use(rows, static_cast<Size*>(nullptr));
}

static void feature_counts(Crew& crew, nb::tuple rows_tuple, Size every, Out<double> counts) {
    const Rows rows = rows_from(rows_tuple);
    if (every < 1) throw nb::value_error("every must be at least 1.");
    require_size("counts", counts.size(), features_of(rows));
    nb::gil_scoped_release release;
    std::visit([&](const auto& r) { count_features(r, every, crew, counts.data()); }, rows);
}

static void divide(Crew& crew, nb::tuple rows_tuple, In<Size> cuts, In<double> beta, AnyArray bounds,
                   Out<double> shared) {
    const Rows rows = rows_from(rows_tuple);
    require_cuts(cuts, crew.size(), features_of(rows));
    require_size("beta", beta.size(), features_of(rows));
    require_size("shared", shared.size(), examples_of(rows));
    std::visit(
        [&](const auto& r) {
            with_bounds(r, bounds, crew.size(), [&](const auto& known, auto* out) {
                nb::gil_scoped_release release;
                divide_rows(known, cuts.data(), beta.data(), crew, out, shared.data());
            });
        },
        rows);
}

static double visit_shards(Crew& crew, nb::tuple rows_tuple, nb::tuple loss_tuple, In<Size> cuts, AnyArray bounds,
                           In<double> scale, double inverse, In<Size> indices, int together, bool alone,
                           Out<double> caution, Out<double> alpha, Out<double> w) {
    const Rows rows = rows_from(rows_tuple);
    const AnyLoss loss = loss_from(loss_tuple);
    const Size n = examples_of(rows);
    require_cuts(cuts, crew.size(), features_of(rows));
    require_examples(indices, n);
    require_size("scale", scale.size(), 2 * n);
    require_size("caution", caution.size(), 1);
    require_size("alpha", alpha.size(), n);
    require_size("w", w.size(), features_of(rows));
    if (together < 1 || together > most_together)
        throw nb::value_error("together must be between 1 and 32, the most examples that a batch may have.");
    const auto steps = shard_steps(loss, {scale.data()});
    const ShardVisits visits{*steps, inverse, indices.data(), Size(indices.size()), together, alpha.data(), w.data()};
    return std::visit(
        [&](const auto& r) {
            if (r.constant != 0) throw nb::value_error("rows: a constant feature is not taken.");
            return with_bounds(r, bounds, crew.size(), [&](const auto& known, auto* found) {
                nb::gil_scoped_release release;
                return dfsdca_shards(known, found, cuts.data(), visits, crew, alone, *caution.data());
            });
        },
        rows);
}

void bind_shards(nb::module_& module) {
    nb::class_<Crew>(module, "Crew")
        .def("__init__",
             [](Crew* crew, int threads) {
                 if (threads < 1) throw nb::value_error("threads must be at least 1.");
                 new (crew) Crew(threads);
             })
        .def_prop_ro("size", &Crew::size);
    module.def("shard_counts", &feature_counts, nb::arg("crew"), nb::arg("rows"), nb::arg("every"),
               nb::arg("counts").noconvert());
    module.def("divide_rows", &divide, nb::arg("crew"), nb::arg("rows"), nb::arg("cuts"), nb::arg("beta"),
               nb::arg("bounds").noconvert(), nb::arg("shared").noconvert());
    module.def("dfsdca_shards", &visit_shards, nb::arg("crew"), nb::arg("rows"), nb::arg("loss"), nb::arg("cuts"),
               nb::arg("bounds").noconvert(), nb::arg("scale"), nb::arg("inverse"), nb::arg("indices"),
               nb::arg("together"), nb::arg("alone"), nb::arg("caution").noconvert(), nb::arg("alpha").noconvert(),
               nb::arg("w").noconvert());
}
