#include "kernels/checks.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

static nb::tuple check_rows(nb::tuple rows_tuple, Size stored, std::optional<Out<double>> squares, int threads) {
    const Rows rows = rows_from(rows_tuple);
    if (squares) require_size("squares", squares->size(), examples_of(rows));
    constexpr Size least = 500'000;  // entries for each thread: to start one takes as long as to look at some of these
    threads = int(std::clamp<Size>(stored / least, 1, std::max(threads, 1)));
    Finding found;
    std::pair<double, double> known;  // of the squares
    {
        nb::gil_scoped_release release;
        found = std::visit([&](const auto& r) { return check(r, stored, squares ? squares->data() : nullptr, threads); }, rows);
        if (squares) known = mean_and_largest(squares->data(), Size(squares->size()));
    }
    static const char* names[] = {"", "start", "column", "duplicate", "not finite"};
    return nb::make_tuple(names[int(found.fault)], found.row, found.column, found.sorted, found.same, known.first, known.second);
}

template <class Value>
static nb::object two_values_of(In<Value> values) {
    const auto found = two_values(values.data(), Size(values.size()));
    return found ? nb::object(nb::make_tuple(found->first, found->second)) : nb::none();
}

template <class Index>
static std::pair<double, double> bound_row_lengths(In<Index> start, Size every, std::optional<In<Size>> rows) {
    const Size n = Size(start.size()) - 1;
    if (n < 1 || every < 1) throw nb::value_error("start must hold a row at least, and every be 1 or more.");
    if (rows) require_examples(*rows, n);
    return row_lengths(start.data(), data_or_null(rows), rows ? Size(rows->size()) : n, every);
}

void bind_checks(nb::module_& module) {
    module.def("two_values", &two_values_of<double>, nb::arg("values"));
    module.def("two_values", &two_values_of<float>, nb::arg("values"));
    module.def("two_values", &two_values_of<std::int64_t>, nb::arg("values"));
    module.def("two_values", &two_values_of<std::int32_t>, nb::arg("values"));
    module.def("row_lengths", &bound_row_lengths<std::int32_t>, nb::arg("start").noconvert(), nb::arg("every"), nb::arg("rows").none());
    module.def("row_lengths", &bound_row_lengths<std::int64_t>, nb::arg("start").noconvert(), nb::arg("every"), nb::arg("rows").none());
    module.def("check_rows", &check_rows, nb::arg("rows"), nb::arg("stored"), nb::arg("squares").noconvert().none(), nb::arg("threads") = 1);
}
