#include "kernels/checks.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

static nb::tuple check_rows(nb::tuple rows_tuple, Size stored) {
    const Rows rows = rows_from(rows_tuple);
    Finding found;
    {
        nb::gil_scoped_release release;
        found = std::visit([&](const auto& r) { return check(r, stored); }, rows);
    }
    static const char* names[] = {"", "start", "column", "duplicate", "not finite"};
    return nb::make_tuple(names[int(found.fault)], found.row, found.column, found.sorted, found.same);
}

void bind_checks(nb::module_& module) {
    module.def("check_rows", &check_rows, nb::arg("rows"), nb::arg("stored"));
}
