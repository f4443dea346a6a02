#include "kernels/libsvm_read.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/module.hpp"
#include "kernels/libsvm_write.hpp"

namespace nb = nanobind;

namespace {

using namespace dualfree::libsvm;

template <class T>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::tuple as_tuple(const Progress& progress) {
    return nb::make_tuple(static_cast<int>(progress.status), progress.rows, progress.entries, progress.consumed,
                          progress.lines, progress.column, progress.number, progress.lowest, progress.highest,
                          progress.highest_line, progress.highest_column);
}

template <class Value, class Index>
void bind_parse(nb::module_& module) {
    module.def(
        "parse_libsvm",
        [](Array<const std::uint8_t> text, std::int64_t rows, std::int64_t entries, Array<double> labels,
           Array<std::int64_t> row_ends, Array<Index> columns, Array<Value> values,
           std::optional<Array<std::int64_t>> queries, std::int64_t base, std::int64_t least, std::int64_t most) {
            const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
            const Options options{base, least, most, queries.has_value()};
            const Output<Value, Index> output{labels.data(), row_ends.data(), columns.data(), values.data(),
                                              queries ? queries->data() : nullptr};
            Progress progress;
            {
                nb::gil_scoped_release release;
                progress = parse(view, options, output, rows, entries);
            }
            return as_tuple(progress);
        },
        nb::arg("text").noconvert(), nb::arg("rows"), nb::arg("entries"), nb::arg("labels").noconvert(),
        nb::arg("row_ends").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
        nb::arg("queries").noconvert().none(), nb::arg("base"), nb::arg("least"), nb::arg("most"));
}

template <class Value, class Index>
void bind_write(nb::module_& module) {
    module.def(
        "write_libsvm",
        [](Array<std::uint8_t> out, std::int64_t first, std::int64_t last, Array<const double> labels,
           std::optional<Array<const std::int64_t>> queries, Array<const Index> row_starts, Array<const Index> columns,
           Array<const Value> values, std::int64_t base) {
            const Rows<Value, Index> rows{first,           last,           labels.data(), queries ? queries->data() : nullptr,
                                          row_starts.data(), columns.data(), values.data()};
            char* const begin = reinterpret_cast<char*>(out.data());
            nb::gil_scoped_release release;
            return static_cast<std::int64_t>(write_rows(rows, base, begin, begin + out.size()) - begin);
        },
        nb::arg("out").noconvert(), nb::arg("first"), nb::arg("last"), nb::arg("labels").noconvert(),
        nb::arg("queries").noconvert().none(), nb::arg("row_starts").noconvert(), nb::arg("columns").noconvert(),
        nb::arg("values").noconvert(), nb::arg("base"));
}

}  // namespace

void bind_libsvm(nb::module_& module) {
    bind_parse<double, std::int32_t>(module);
    bind_parse<double, std::int64_t>(module);
    bind_parse<float, std::int32_t>(module);
    bind_parse<float, std::int64_t>(module);
    bind_write<double, std::int32_t>(module);
    bind_write<double, std::int64_t>(module);
    bind_write<float, std::int32_t>(module);
    bind_write<float, std::int64_t>(module);
    module.attr("libsvm_bytes_per_row") = bytes_per_row;
    module.attr("libsvm_bytes_per_entry") = bytes_per_entry;
}
